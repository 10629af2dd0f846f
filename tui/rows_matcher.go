package tui

import (
	"bytes"
	"unicode/utf8"

	"kitescope/inspect/view"
	"kitescope/internal/table"
	"kitescope/tui/draw"
)

// matcher applies a filter to rows of one table; it has buffers, so each goroutine needs its own. Of a million rows a key decides, the less
// is written the better: no cell whose kind cannot hold the text, none after one that holds it, and none twice in a row.
type matcher struct {
	filter *rowFilter
	table  view.Table
	bound  []*table.Matcher // of terms with a condition, nil for the others
	cells  []cellText       // of each column that is shown
	could  [][]int          // of terms with a text: which of cells may hold it
}

// cellText is the text of a column in one row.
type cellText struct {
	column int
	def    *table.Column
	row    int // that it is of, -1 at first
	cell   table.Cell
	text   []byte   // lower-cased
	holds  []answer // of each term with a text
}

type answer uint8

const (
	notAsked answer = iota
	holding
	notHolding
)

func newMatcher(f *rowFilter, t view.Table, columns []int) *matcher {
	x := &matcher{filter: f, table: t, bound: make([]*table.Matcher, len(f.terms)), could: make([][]int, len(f.terms))}
	for _, c := range columns {
		x.cells = append(x.cells, cellText{column: c, def: &t.Resource().Columns[c], row: -1, holds: make([]answer, len(f.terms))})
	}
	for i := range f.terms {
		switch t := &f.terms[i]; {
		case t.where != nil:
			x.bound[i] = t.where.On(x.table)
		case t.re == nil:
			for k := range x.cells {
				if kind := x.cells[k].def.Kind; draw.CanHold(kind, t.in(kind)) {
					x.could[i] = append(x.could[i], k)
				}
			}
		}
	}
	return x
}

// match reports whether a row stays.
func (x *matcher) match(row int) bool {
	for i := range x.filter.terms {
		if x.holds(i, row) == x.filter.terms[i].negate {
			return false
		}
	}
	return true
}

func (x *matcher) holds(i, row int) bool {
	t := &x.filter.terms[i]
	switch {
	case x.bound[i] != nil:
		return x.bound[i].Match(row)
	case t.re != nil:
		for k := range x.cells {
			if t.re.Match(x.at(k, row).text) {
				return true
			}
		}
		return false
	}
	for _, k := range x.could[i] {
		c := x.at(k, row)
		if c.holds[i] == notAsked {
			c.holds[i] = notHolding
			if bytes.Contains(c.text, t.in(c.def.Kind)) {
				c.holds[i] = holding
			}
		}
		if c.holds[i] == holding {
			return true
		}
	}
	return false
}

// at is the text of a column in a row.
func (x *matcher) at(k, row int) *cellText {
	c := &x.cells[k]
	if c.row == row {
		return c
	}
	cell := x.table.Cell(row, c.column)
	if c.row >= 0 && same(&cell, &c.cell) {
		c.row = row
		return c
	}
	c.row, c.cell = row, cell
	c.text = lower(draw.AppendCell(c.text[:0], c.def, cell))
	clear(c.holds)
	return c
}

// same reports whether two cells have the same text, as far as that is soon found out.
func same(a, b *table.Cell) bool {
	return a.Absent == b.Absent && a.Int == b.Int && a.Float == b.Float && len(a.List)+len(b.List) == 0 && a.Text == b.Text
}

// lower lower-cases a text, in place where it is ASCII.
func lower(text []byte) []byte {
	for i, c := range text {
		if c >= utf8.RuneSelf {
			return bytes.ToLower(text)
		}
		if 'A' <= c && c <= 'Z' {
			text[i] = c + 'a' - 'A'
		}
	}
	return text
}
