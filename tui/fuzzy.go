package tui

import (
	"slices"
	"strings"

	"kitescope/internal/words"
)

// prefixScore is the minimum score of a name that begins with the pattern.
const prefixScore = 200

// rank returns the suggestions that match by their text or one of their other names, the best first.
func rank(pattern string, all []Suggestion, names func(i int) []string) []Suggestion {
	var list []Suggestion
	for i, s := range all {
		score, hits, ok := words.Fuzzy(pattern, s.Text)
		for _, name := range names(i) {
			if strings.EqualFold(name, pattern) {
				score, ok = 1000, true // a complete alias is an exact match
			} else if sc, _, found := words.Fuzzy(pattern, name); found && (!ok || sc-100 > score) {
				score, ok = sc-100, true // after names that match as well
			}
		}
		if ok {
			s.hits, s.score = hits, score
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b Suggestion) int { return b.score - a.score })
	return list
}
