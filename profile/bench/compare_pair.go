package bench

import (
	"fmt"
	"slices"

	"kitescope/internal/words"
)

// pair says which run of the one side belongs to which of the other, by their places; nil where nothing is paired.
func pair(c *Comparison, left, right *side, how Pairing) ([][2]int, error) {
	var rows [][2]int
	switch how {
	case ByName:
		if rows = pairByName(left, right); len(rows) == 0 {
			if hasPairs(left) && hasPairs(right) {
				c.note("no run of the one side has a partner on the other: they are compared as if none belonged together")
			}
			return nil, nil
		}
	case ByOrder:
		if len(left.runs) != len(right.runs) {
			return nil, &Mismatch{
				fmt.Sprintf("pair runs in their order: there are %d before and %d after", len(left.runs), len(right.runs)),
				"leave out what has no partner, or compare them unpaired",
			}
		}
		for i := range left.runs {
			rows = append(rows, [2]int{i, i})
		}
	default:
		return nil, nil
	}
	c.Paired = true
	if how == ByName {
		c.notePairs(left, right)
	}
	kept := make([][2]int, 0, len(rows))
	for _, r := range rows {
		if left.runs[r[0]].ok && right.runs[r[1]].ok {
			kept = append(kept, r)
		}
	}
	for i, d := range []*side{left, right} {
		c.Unmatched[i] = len(d.runs) - d.failed - len(kept)
	}
	if n := c.Unmatched[0] + c.Unmatched[1]; n > 0 {
		c.note("%s without a partner on the other side: left out", words.Count(n, "run", "runs"))
	}
	return kept, nil
}

func hasPairs(d *side) bool {
	return slices.ContainsFunc(d.runs, func(r measured) bool { return r.pair != "" })
}

// notePairs tells that a name stands for more than a pair, as it does where files of several sessions are put together.
func (c *Comparison) notePairs(left, right *side) {
	for _, d := range []*side{left, right} {
		seen := map[string]bool{}
		for _, r := range d.runs {
			if r.pair != "" && seen[r.pair] {
				c.note("pair %q is there more than once: the first of one side was taken with the first of the other, and so on", r.pair)
				return
			}
			seen[r.pair] = true
		}
	}
}

// pairByName joins runs of the same pair, in the order of the first side. A name that stands several times joins the
// first with the first.
func pairByName(left, right *side) [][2]int {
	waiting := map[string][]int{}
	for i, r := range right.runs {
		if r.pair != "" {
			waiting[r.pair] = append(waiting[r.pair], i)
		}
	}
	var rows [][2]int
	for i, r := range left.runs {
		if r.pair == "" {
			continue
		}
		if list := waiting[r.pair]; len(list) > 0 {
			rows = append(rows, [2]int{i, list[0]})
			waiting[r.pair] = list[1:]
		}
	}
	return rows
}
