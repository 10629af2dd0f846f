package table

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"kitescope/internal/words"
)

// Sort orders rows (nil means all) by keys, the first deciding first; rows that are
// equal keep their order. Absent values come last in both directions. rows is not changed.
//
// Each key becomes one array of integers (texts their rank), so that cells are computed once.
func Sort(t Table, rows []int32, order []SortKey) []int32 {
	if rows == nil {
		rows = allRows(t.Len())
	}
	keys := make([][]uint64, len(order))
	for i, key := range order {
		keys[i] = ranks(t, rows, key)
	}
	places := allRows(len(rows))
	slices.SortFunc(places, func(a, b int32) int {
		for _, k := range keys {
			if k[a] != k[b] {
				return cmp.Compare(k[a], k[b])
			}
		}
		return cmp.Compare(a, b)
	})
	for i, place := range places {
		places[i] = rows[place]
	}
	return places
}

// absentRank stands behind every value in both directions.
const absentRank = math.MaxUint64

// ranks gives each row an unsigned number that orders it.
func ranks(t Table, rows []int32, key SortKey) []uint64 {
	kind, ranked := t.Schema().Columns[key.Column].Kind, t.Schema().Columns[key.Column].Ranked
	keys := make([]uint64, len(rows))
	var texts []string
	if kind.Texts() && !ranked {
		texts = make([]string, len(rows))
	}
	for i, row := range rows {
		c := t.Cell(int(row), key.Column)
		switch {
		case c.Absent != Present:
			keys[i] = absentRank
		case texts != nil:
			texts[i] = textOf(kind, c)
		case ranked, isFloat(kind):
			keys[i] = floatRank(c.Float)
		default:
			keys[i] = uint64(c.Int) ^ 1<<63 // negative numbers first
		}
	}
	if texts != nil {
		rankTexts(keys, texts)
	}
	for i := range keys {
		switch {
		case keys[i] == absentRank: // stays last
		case key.Descending:
			keys[i] = absentRank - 1 - min(keys[i], absentRank-1)
		}
	}
	return keys
}

func isFloat(k Kind) bool { return k == Percent || k == Number || k == Exact }

// Texts reports whether cells of the kind are texts, or lists of them.
func (k Kind) Texts() bool { return k == Text || k == State || k == List || k == Pairs }

func textOf(k Kind, c Cell) string {
	if k == List || k == Pairs {
		return strings.Join(c.List, ",")
	}
	return c.Text
}

// floatRank orders floats as unsigned integers: the sign bit turned, negatives reversed.
func floatRank(f float64) uint64 {
	bits := math.Float64bits(f)
	if bits>>63 == 1 {
		return ^bits
	}
	return bits | 1<<63
}

// rankTexts replaces texts by their position among the distinct ones.
func rankTexts(keys []uint64, texts []string) {
	rank := make(map[string]uint64)
	var last string
	for i, s := range texts {
		if keys[i] != absentRank && (i == 0 || s != last || len(rank) == 0) {
			rank[s] = 0
			last = s
		}
	}
	distinct := make([]string, 0, len(rank))
	for s := range rank {
		distinct = append(distinct, s)
	}
	slices.SortFunc(distinct, words.CompareNatural)
	for i, s := range distinct {
		rank[s] = uint64(i)
	}
	for i, s := range texts {
		if keys[i] != absentRank {
			keys[i] = rank[s]
		}
	}
}
