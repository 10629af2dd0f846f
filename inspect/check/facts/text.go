package facts

import (
	"strings"
	"time"
)

// NotAsked is the reason of checks that could not run because the processes were not asked. The UI replaces it,
// once, with a hint.
const NotAsked = "the nodes were not queried"

// TimeText formats a time for evidence, "unknown" if it is zero.
func TimeText(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// MostCommon returns the key with the greatest count, the smallest key on a tie, "" if counts is empty.
func MostCommon(counts map[string]int) string {
	best, n := "", 0
	for k, v := range counts {
		if v > n || v == n && k < best {
			best, n = k, v
		}
	}
	return best
}

// Ratio returns a/b, or 0 if b is not positive.
func Ratio(a, b int64) float64 {
	if b <= 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// Article returns the indefinite article of a word: "an" for "index node".
func Article(word string) string {
	if word != "" && strings.ContainsRune("aeiouAEIOU", rune(word[0])) {
		return "an"
	}
	return "a"
}
