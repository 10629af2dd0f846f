package table

import (
	"math"
	"slices"
	"strings"

	"kitescope/internal/words"
)

// Sort returns rows (nil means all) sorted by keys, most significant first. It is stable and does not change
// rows. Absent values come last in both directions.
//
// Each key is computed once per row, as an array of integers (the rank of a text), so that a million rows are
// compared as numbers.
func Sort(t Table, rows []int32, order []SortKey) []int32 {
	if rows == nil {
		rows = allRows(t.Len())
	} else {
		rows = slices.Clone(rows)
	}
	for _, key := range slices.Backward(order) { // least significant key first, because each sort is stable
		sortByRank(rows, ranks(t, rows, key))
	}
	return rows
}

// absentRank is greater than the rank of any value, in both directions.
const absentRank = math.MaxUint64

// ranks returns an unsigned number per row that orders the rows by a key.
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
		case keys[i] == absentRank: // stays last in both directions
		case key.Descending:
			keys[i] = absentRank - 1 - min(keys[i], absentRank-1)
		}
	}
	return keys
}

func isFloat(k Kind) bool { return k == Percent || k == Number || k == Exact }

// Texts reports whether cells of the kind hold texts or lists of texts.
func (k Kind) Texts() bool {
	return k == Text || k == State || k == List || k == Pairs || k.Named() && k != NamedID
}

func textOf(k Kind, c Cell) string {
	if k == List || k == Pairs || k.Named() {
		return strings.Join(c.List, ",")
	}
	return c.Text
}

// floatRank maps floats to unsigned integers in the same order: it flips the sign bit, and all bits of negative
// numbers.
func floatRank(f float64) uint64 {
	bits := math.Float64bits(f)
	if bits>>63 == 1 {
		return ^bits
	}
	return bits | 1<<63
}

// rankTexts sets keys to the positions of the texts among the sorted distinct texts. It skips absent values.
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

// sortByRank sorts rows by keys with a stable least-significant-digit radix sort on 16 bits. It skips digits that
// are the same in all keys, which is true for most digits.
func sortByRank(rows []int32, keys []uint64) {
	if slices.IsSorted(keys) {
		return
	}
	rowsTo, keysTo := make([]int32, len(rows)), make([]uint64, len(keys))
	src, srcKeys, dst, dstKeys := rows, keys, rowsTo, keysTo
	var differ uint64
	for _, k := range keys {
		differ |= k ^ keys[0]
	}
	counts := make([]int, 1<<16)
	for shift := 0; shift < 64; shift += 16 {
		if differ>>shift&0xffff == 0 {
			continue
		}
		clear(counts)
		for _, k := range srcKeys {
			counts[k>>shift&0xffff]++
		}
		sum := 0
		for d, n := range counts {
			counts[d] = sum
			sum += n
		}
		for i, k := range srcKeys {
			at := counts[k>>shift&0xffff]
			counts[k>>shift&0xffff]++
			dst[at], dstKeys[at] = src[i], k
		}
		src, srcKeys, dst, dstKeys = dst, dstKeys, src, srcKeys
	}
	if len(src) > 0 && &src[0] != &rows[0] {
		copy(rows, src)
	}
}
