package words

import (
	"strings"
	"unicode"
)

// Fuzzy reports whether the letters of pattern occur in text, in order and regardless of case. It returns a
// score, where higher is better, and the positions of the matched runes. A substring usually scores more than
// separate letters, adjacent letters more than scattered ones, and the start of a word more than its middle.
func Fuzzy(pattern, text string) (score int, hits []int, ok bool) {
	want := []rune(strings.ToLower(pattern))
	have := []rune(strings.ToLower(text))
	if len(want) == 0 {
		return 0, nil, true
	}
	if at := strings.Index(string(have), string(want)); at >= 0 {
		start := len([]rune(string(have)[:at]))
		for i := range want {
			hits = append(hits, start+i)
		}
		score = 100 - start
		if start == 0 {
			score += 100
		}
		return score + 50*len(want)/len(have), hits, true
	}
	next, last := 0, -2
	for i, r := range have {
		if next == len(want) {
			break
		}
		if r != want[next] {
			continue
		}
		switch {
		case i == last+1:
			score += 5
		case i == 0 || !unicode.IsLetter(have[i-1]) && !unicode.IsDigit(have[i-1]):
			score += 4
		default:
			score -= i - last - 1
		}
		hits = append(hits, i)
		next, last = next+1, i
	}
	return score, hits, next == len(want)
}
