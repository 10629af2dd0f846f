package tui

import (
	"bytes"
	"unicode/utf8"

	"kitescope/inspect/view"
	"kitescope/internal/table"
	"kitescope/tui/draw"
)

// matcher applies a filter to the rows of a table. It is not safe for concurrent use because it has buffers.
type matcher struct {
	filter     *rowFilter
	table      view.Table
	bound      []*table.Matcher // of terms with a condition, nil for others
	cells      []cellText       // one for each visible column
	candidates [][]int          // for each text term: indexes of cells that can contain it by their kind
}

// cellText is the text of a column in one row.
type cellText struct {
	column int
	def    *table.Column
	row    int    // the row of text; -1 at first
	text   []byte // lower case
}

func newMatcher(f *rowFilter, t view.Table, columns []int) *matcher {
	x := &matcher{
		filter: f, table: t, bound: make([]*table.Matcher, len(f.terms)), candidates: make([][]int, len(f.terms)),
	}
	for _, c := range columns {
		x.cells = append(x.cells, cellText{column: c, def: &t.Resource().Columns[c], row: -1})
	}
	for i := range f.terms {
		switch t := &f.terms[i]; {
		case t.where != nil:
			x.bound[i] = t.where.On(x.table)
		case t.re == nil:
			for k := range x.cells {
				if kind := x.cells[k].def.Kind; draw.CanHold(kind, t.textFor(kind)) {
					x.candidates[i] = append(x.candidates[i], k)
				}
			}
		}
	}
	return x
}

// match reports whether a row matches the filter.
func (x *matcher) match(row int) bool {
	for i := range x.filter.terms {
		if x.matchTerm(i, row) == x.filter.terms[i].negate {
			return false
		}
	}
	return true
}

func (x *matcher) matchTerm(i, row int) bool {
	t := &x.filter.terms[i]
	switch {
	case x.bound[i] != nil:
		return x.bound[i].Match(row)
	case t.re != nil:
		for k := range x.cells {
			if t.re.Match(x.at(k, row)) {
				return true
			}
		}
		return false
	}
	for _, k := range x.candidates[i] {
		if bytes.Contains(x.at(k, row), t.textFor(x.cells[k].def.Kind)) {
			return true
		}
	}
	return false
}

// at returns the text of a column in a row, in lower case.
func (x *matcher) at(k, row int) []byte {
	c := &x.cells[k]
	if c.row != row {
		c.row, c.text = row, lower(draw.AppendCell(c.text[:0], c.def, x.table.Cell(row, c.column)))
	}
	return c.text
}

// lower converts a text to lower case, in place if it is ASCII.
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
