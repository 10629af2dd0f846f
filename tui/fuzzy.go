package tui

import (
	"slices"
	"strings"
	"unicode"
)

// fuzzy scores how well the letters of pattern, in order, occur in text: higher is
// better, ok is false if they do not. hits are the positions of the runes that matched.
// A run of letters counts more than scattered ones, the start of a word more than its middle.
func fuzzy(pattern, text string) (score int, hits []int, ok bool) {
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

// rank keeps the suggestions whose text or one of the given other names matches, best first.
func rank(pattern string, all []Suggestion, others func(i int) []string) []Suggestion {
	type scored struct {
		Suggestion
		score int
	}
	var list []scored
	for i, s := range all {
		score, hits, ok := fuzzy(pattern, s.Text)
		for _, name := range others(i) {
			if strings.EqualFold(name, pattern) {
				score, ok = 1000, true // an alias in full is what was meant
			} else if sc, _, found := fuzzy(pattern, name); found && (!ok || sc > score) {
				score, ok = sc, true
			}
		}
		if ok {
			s.hits = hits
			list = append(list, scored{s, score})
		}
	}
	slices.SortStableFunc(list, func(a, b scored) int { return b.score - a.score })
	kept := make([]Suggestion, len(list))
	for i, s := range list {
		kept[i] = s.Suggestion
	}
	return kept
}
