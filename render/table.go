package render

import (
	"io"
	"slices"

	"kitescope/inspect/view"
	"kitescope/table"
	"kitescope/words"
)

var tableWriter = &writer{
	name: "table", doc: "aligned columns; on a terminal those that fit", show: table.Always, grid: func(w io.Writer, g *view.Grid, o *Options) error { return writeTable(w, &g.Grid, o) },
}

var wideWriter = &writer{
	name: "wide", doc: "more columns, never shortened", show: table.Wide,
	grid: func(w io.Writer, g *view.Grid, o *Options) error {
		wide := *o
		wide.Width = 0
		return writeTable(w, &g.Grid, &wide)
	},
}

// writeTable goes over the rows twice: once to find widths, once to write. Cells are
// cheap to compute again; keeping the texts of a million rows would not be.
func writeTable(w io.Writer, g *table.Grid, o *Options) error {
	out := newOutput(w)
	t := newTable(g, o, "")
	t.header(&out)
	t.rows(&out)
	return out.flush()
}

// rows writes all rows.
func (t *textTable) rows(out *output) {
	writeRows(out, t.grid.Len(), func() *textTable {
		own := *t
		own.scratch = nil
		return &own
	})
}

// textTable is the layout of a grid.
type textTable struct {
	grid    *table.Grid
	columns []textColumn
	painter painter
	scratch []byte
	// indent stands in front of every line.
	indent   string
	ellipsis string
	noHeader bool
}

// textColumn is one column that is shown.
type textColumn struct {
	*table.Column
	cell  int // position in Grid.Columns
	width int
	// cut says that texts may be wider than width.
	cut   bool
	right bool
}

const gutter = 2

func newTable(g *table.Grid, o *Options, indent string) *textTable {
	t := &textTable{grid: g, painter: newPainter(o), indent: indent, ellipsis: "…", noHeader: o.NoHeader}
	if o.ASCII {
		t.ellipsis = "~"
	}
	for j := range g.Columns {
		c := g.Column(j)
		t.columns = append(t.columns, textColumn{Column: c, cell: j, right: c.RightAligned()})
	}
	keep := o.KeepColumns || o.Layout.settled()
	o.Layout.apply(t)
	t.measure()
	if o.Width > 0 {
		t.fitTo(o.Width-len(indent), keep)
	}
	o.Layout.settle(t)
	return t
}

// Layout is the columns of a table to which rows are added later. The zero value takes those of the first table.
type Layout struct{ widths map[*table.Column]int }

func (l *Layout) settled() bool { return l != nil && l.widths != nil }

// apply leaves the columns of the first table, as wide as there.
func (l *Layout) apply(t *textTable) {
	if !l.settled() {
		return
	}
	t.columns = slices.DeleteFunc(t.columns, func(c textColumn) bool {
		_, shown := l.widths[c.Column]
		return !shown
	})
	for j := range t.columns {
		t.columns[j].width = l.widths[t.columns[j].Column]
	}
}

func (l *Layout) settle(t *textTable) {
	if l == nil || l.settled() {
		return
	}
	l.widths = make(map[*table.Column]int, len(t.columns))
	for j := range t.columns {
		l.widths[t.columns[j].Column] = t.columns[j].width
	}
}

// measure finds the width of each column.
func (t *textTable) measure() {
	for j := range t.columns {
		if !t.noHeader {
			t.columns[j].width = max(t.columns[j].width, len(t.columns[j].Title))
		}
	}
	parts := inParts(t.grid.Len(), func(from, to int) []int {
		own := *t
		own.scratch = nil
		widths := make([]int, len(t.columns))
		for i := from; i < to; i++ {
			own.measureRow(t.grid.Row(i), widths)
		}
		return widths
	})
	for _, widths := range parts {
		for j := range t.columns {
			t.columns[j].width = max(t.columns[j].width, widths[j])
		}
	}
}

func (t *textTable) measureRow(row int, widths []int) {
	for j := range t.columns {
		c := &t.columns[j]
		cell := t.grid.Table.Cell(row, t.grid.Columns[c.cell])
		widths[j] = max(widths[j], t.cellWidth(cell, c.Kind))
	}
}

// cellWidth is the width of a cell's text, without writing it where that is easy.
func (t *textTable) cellWidth(c table.Cell, k table.Kind) int {
	if c.Absent != table.Present {
		return 1
	}
	switch k {
	case table.ID, table.Int:
		return digits(c.Int)
	case table.Text, table.State:
		if words.Plain(c.Text) {
			return len(c.Text)
		}
	default:
	}
	t.scratch = AppendText(t.scratch[:0], c, k)
	return width(t.scratch)
}

func digits(n int64) int {
	count := 1
	if n < 0 {
		count = 2
	}
	for n /= 10; n != 0; n /= 10 {
		count++
	}
	return count
}

// fitTo drops columns of the highest priority until the table fits, then shortens the
// widest texts, so that no line ever wraps.
func (t *textTable) fitTo(cells int, keep bool) {
	for !keep && t.total() > cells {
		drop := -1
		for j := range t.columns {
			if p := t.columns[j].Priority; p > 0 && (drop < 0 || p >= t.columns[drop].Priority) {
				drop = j
			}
		}
		if drop < 0 {
			break
		}
		t.columns = append(t.columns[:drop:drop], t.columns[drop+1:]...)
	}
	for t.total() > cells {
		widest := 0
		for j := range t.columns {
			if t.columns[j].width > t.columns[widest].width {
				widest = j
			}
		}
		if t.columns[widest].width <= 1 {
			return
		}
		t.columns[widest].width--
		t.columns[widest].cut = true
	}
}

func (t *textTable) total() int {
	sum := gutter * (len(t.columns) - 1)
	for j := range t.columns {
		sum += t.columns[j].width
	}
	return sum
}

func (t *textTable) header(out *output) {
	if t.noHeader || len(t.columns) == 0 {
		return
	}
	out.buf = append(out.buf, t.indent...)
	out.buf = t.painter.begin(out.buf, RoleTitle)
	for j := range t.columns {
		c := &t.columns[j]
		title := c.Title
		if c.cut {
			title = fit(title, c.width, t.ellipsis)
		}
		out.buf = t.pad(out.buf, j, []byte(title), RolePlain)
	}
	out.buf = t.painter.end(out.buf, RoleTitle)
	out.buf = append(out.buf, '\n')
}

func (t *textTable) appendRow(dst []byte, i int) []byte {
	row := t.grid.Row(i)
	dst = append(dst, t.indent...)
	for j := range t.columns {
		c := &t.columns[j]
		cell := t.grid.Table.Cell(row, t.grid.Columns[c.cell])
		t.scratch = AppendText(t.scratch[:0], cell, c.Kind)
		text := t.scratch
		if c.cut && width(text) > c.width {
			text = []byte(fit(string(text), c.width, t.ellipsis))
		}
		dst = t.pad(dst, j, text, cellRole(cell, c.Kind))
	}
	return append(dst, '\n')
}

func cellRole(c table.Cell, k table.Kind) Role {
	switch {
	case c.Absent != table.Present:
		return RoleDim
	case k == table.State:
		return StateRole(c.Text)
	}
	return RolePlain
}

// pad appends a text in its column. Nothing follows the last one.
func (t *textTable) pad(dst []byte, j int, text []byte, role Role) []byte {
	c := &t.columns[j]
	space := c.width - width(text)
	if c.right {
		dst = appendSpaces(dst, space)
	}
	if t.painter.on && role != RolePlain {
		dst = t.painter.begin(dst, role)
		dst = append(dst, text...)
		dst = t.painter.end(dst, role)
	} else {
		dst = append(dst, text...)
	}
	if j == len(t.columns)-1 {
		return dst
	}
	if !c.right {
		dst = appendSpaces(dst, space)
	}
	return append(dst, "  "...)
}

const spaces = "                                                                "

func appendSpaces(dst []byte, n int) []byte {
	for n > 0 {
		k := min(n, len(spaces))
		dst = append(dst, spaces[:k]...)
		n -= k
	}
	return dst
}
