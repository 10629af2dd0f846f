package segment

import (
	"cmp"
	"slices"
	"sort"

	"kitescope/engine"
)

// Lookup finds the rows of primary keys. It is immutable and may be shared.
type Lookup struct {
	segment *Segment
	order   []uint32 // rows sorted by key, then row; nil if the rows are already in that order
}

// NewLookup sorts the rows of a segment by key. It takes 4 bytes a row, or none if the rows are already in order.
func NewLookup(g *Segment) *Lookup {
	l := &Lookup{segment: g}
	if slices.IsSorted(g.Int64s) && slices.IsSorted(g.Strings) {
		return l
	}
	l.order = make([]uint32, g.Rows)
	for i := range l.order {
		l.order[i] = uint32(i)
	}
	if g.Strings != nil {
		sortRows(l.order, g.Strings)
	} else {
		sortRows(l.order, g.Int64s)
	}
	return l
}

func sortRows[K cmp.Ordered](order []uint32, keys []K) {
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Or(cmp.Compare(keys[a], keys[b]), cmp.Compare(a, b)) })
}

// Rows appends the rows that have a key to dst, including deleted rows. A key that was inserted again has several
// rows.
func (l *Lookup) Rows(k engine.Key, dst []int) []int {
	g := l.segment
	if k.IsText != (g.Strings != nil) {
		return dst
	}
	for at := sort.Search(g.Rows, func(i int) bool { return g.Key(l.row(i)).Compare(k) >= 0 }); at < g.Rows; at++ {
		row := l.row(at)
		if g.Key(row) != k {
			break
		}
		dst = append(dst, row)
	}
	return dst
}

func (l *Lookup) row(i int) int {
	if l.order != nil {
		return int(l.order[i])
	}
	return i
}

// Filter sets excluded to the rows that a search skips: all rows except the rows of keys or, if exclude is set, only
// the rows of keys. excluded must have as many bits as the segment has rows.
func (l *Lookup) Filter(keys []engine.Key, exclude bool, excluded *engine.Bitset) {
	excluded.Reset()
	var few [8]int
	rows := few[:0]
	for _, k := range keys {
		rows = l.Rows(k, rows[:0])
		for _, row := range rows {
			excluded.Set(row)
		}
	}
	if !exclude {
		excluded.Invert()
	}
}

// Bytes returns the size of the lookup in bytes.
func (l *Lookup) Bytes() int { return 4 * len(l.order) }
