package tui

import (
	"slices"
	"strings"

	"kitescope/internal/words"
)

// rank keeps the suggestions whose text or one of the given other names matches, best first.
func rank(pattern string, all []Suggestion, others func(i int) []string) []Suggestion {
	type scored struct {
		Suggestion
		score int
	}
	var list []scored
	for i, s := range all {
		score, hits, ok := words.Fuzzy(pattern, s.Text)
		for _, name := range others(i) {
			if strings.EqualFold(name, pattern) {
				score, ok = 1000, true // an alias in full is what was meant
			} else if sc, _, found := words.Fuzzy(pattern, name); found && (!ok || sc > score) {
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
