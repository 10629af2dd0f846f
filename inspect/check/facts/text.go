package facts

import (
	"strings"
	"time"
)

// NotAsked is what checks say that could not run as nobody asked the processes. The UI says in their place, once, what helps.
const NotAsked = "the nodes were not asked"

// TimeText is a moment as evidence, "unknown" for none.
func TimeText(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// MostCommon is the key with the greatest count, the first in order among equals; "" if there is none.
func MostCommon(counts map[string]int) string {
	best, n := "", 0
	for k, v := range counts {
		if v > n || v == n && k < best {
			best, n = k, v
		}
	}
	return best
}

// Part is a of b, 0 if there is nothing of b.
func Part(a, b int64) float64 {
	if b <= 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// Article is what stands before a word: "an index node".
func Article(word string) string {
	if word != "" && strings.ContainsRune("aeiouAEIOU", rune(word[0])) {
		return "an"
	}
	return "a"
}
