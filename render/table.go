package render

import (
	"strings"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
)

var tableWriter = &writer{
	name: "table", doc: "aligned columns; on a terminal only those that fit", show: table.Always, sheet: WriteTable,
	appendable: true,
}

var wideWriter = &writer{
	name: "wide", doc: "more columns, never shortened", show: table.Wide, sheet: writeSheetWide, appendable: true,
}

// rows writes all rows.
func (t *textTable) rows(out *encode.Output) {
	writeRows(out, t.grid.Len(), func() *textTable {
		own := *t
		own.scratch = nil
		return &own
	})
}

// textTable is the text layout of a grid.
type textTable struct {
	grid *table.Grid
	// styled is the grid's table if it implements table.Styled.
	styled  table.Styled
	columns []textColumn
	painter Painter
	scratch []byte
	// indent is written before every line.
	indent   string
	ellipsis string
	noHeader bool
	// report indicates the layout of reports: names are cut instead of numbers, titles are styled one by one, and
	// lines have no trailing blanks.
	report bool
}

// textColumn is a column to show.
type textColumn struct {
	*table.Column
	title string // escaped
	cell  int    // position in Grid.Columns
	width int
	// cut indicates that texts can be wider than width. affixes then holds the common prefix and suffix of the
	// texts.
	cut     bool
	affixes *Affixes
	right   bool
}

// Gutter is the number of cells between columns.
const Gutter = 2

func newTable(g *table.Grid, o *Options, indent string) *textTable {
	keep := o.KeepColumns || o.Layout.initialized()
	t := measuredTable([]*table.Grid{g}, o, indent)
	if o.Width > 0 {
		t.fitTo(o.Width-len(indent), keep, o.Dropped)
	}
	o.Layout.setWidths(t)
	return t
}

// WriteTableInto writes an indented table between other lines.
func WriteTableInto(out *encode.Output, g *table.Grid, o *Options, indent string) {
	t := newTable(g, o, indent)
	t.header(out)
	t.rows(out)
}

// newReportTable lays out the grids of a report, which must have the same columns, as one table.
func newReportTable(list []*table.Grid, o *Options) *textTable {
	t := measuredTable(list, o, "")
	t.report = true
	if o.Width > 0 {
		t.fitNames(o.Width, o.KeepColumns)
	} else {
		t.boundPadding()
	}
	return t
}

// measuredTable returns a table whose columns have their full widths.
func measuredTable(list []*table.Grid, o *Options, indent string) *textTable {
	t := (&textTable{painter: NewPainter(o), indent: indent, ellipsis: "…", noHeader: o.NoHeader}).withGrid(list[0])
	if o.ASCII {
		t.ellipsis = "~"
	}
	for j := range t.grid.Columns {
		c := t.grid.Table.Schema().ShownWith(t.grid.Columns[j], t.grid.Columns)
		t.columns = append(t.columns, textColumn{
			Column: c, title: words.Sanitize(c.Title), cell: j, right: c.RightAligned(),
		})
	}
	o.Layout.apply(t)
	for j := range t.columns {
		if !t.noHeader {
			t.columns[j].width = max(t.columns[j].width, Cells(t.columns[j].title))
		}
	}
	for _, g := range list {
		t.withGrid(g).measure() // copies share the columns
	}
	return t
}

// withGrid returns the same layout for another grid.
func (t *textTable) withGrid(g *table.Grid) *textTable {
	other := *t
	other.grid, other.scratch = g, nil
	other.styled, _ = g.Table.(table.Styled)
	return &other
}

// measure widens columns to fit the cells of the grid.
func (t *textTable) measure() {
	parts := parallelRanges(t.grid.Len(), func(from, to int) []int {
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
		if text, ok := t.displayText(row, c); ok {
			widths[j] = max(widths[j], Cells(text))
			continue
		}
		cell := t.grid.Table.Cell(row, t.grid.Columns[c.cell])
		widths[j] = max(widths[j], t.cellWidth(cell, c.Kind))
	}
}

// displayText returns the escaped text that the table displays instead of the value.
func (t *textTable) displayText(row int, c *textColumn) (text string, ok bool) {
	if t.styled == nil {
		return "", false
	}
	text, ok = t.styled.Shown(row, t.grid.Columns[c.cell])
	return words.Sanitize(text), ok
}

// DisplayCell returns the displayed text and the role of a cell.
func DisplayCell(g *table.Grid, i, j int) (string, Role) {
	row, c := g.Row(i), g.Columns[j]
	kind := g.Column(j).Kind
	styled, ok := g.Table.(table.Styled)
	if !ok {
		cell := g.Table.Cell(row, c)
		return string(AppendShown(nil, cell, kind)), CellRole(cell, kind)
	}
	text, shown := styled.Shown(row, c)
	role, decided := styled.Role(row, c)
	if shown && decided {
		return words.Sanitize(text), role
	}
	cell := g.Table.Cell(row, c)
	text = words.Sanitize(text)
	if !shown {
		text = string(AppendShown(nil, cell, kind))
	}
	if !decided {
		role = CellRole(cell, kind)
	}
	return text, role
}

// cellWidth returns the width of a cell's text. It does not format the text of ids and ASCII texts.
func (t *textTable) cellWidth(c table.Cell, k table.Kind) int {
	if c.Absent != table.Present {
		return 1
	}
	switch k {
	case table.ID:
		return digits(c.Int)
	case table.Text, table.State:
		if words.Plain(c.Text) {
			return len(c.Text)
		}
	default:
	}
	t.scratch = AppendShown(t.scratch[:0], c, k)
	return Width(t.scratch)
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

func (t *textTable) header(out *encode.Output) {
	if t.noHeader || len(t.columns) == 0 {
		return
	}
	role := RolePlain
	out.Buf = append(out.Buf, t.indent...)
	if t.report {
		role = RoleTitle
	} else {
		out.Buf = t.painter.begin(out.Buf, RoleTitle)
	}
	for j := range t.columns {
		c := &t.columns[j]
		title := c.title
		if c.cut {
			title = t.shortenTitle(c, title)
		}
		out.Buf = t.pad(out.Buf, j, []byte(title), role)
	}
	if t.report {
		out.Buf = trimBlanks(out.Buf)
	} else {
		out.Buf = t.painter.end(out.Buf, RoleTitle)
	}
	out.Buf = append(out.Buf, '\n')
}

func (t *textTable) appendRow(dst []byte, i int) []byte {
	row := t.grid.Row(i)
	dst = append(dst, t.indent...)
	for j := range t.columns {
		c := &t.columns[j]
		role := t.appendCell(row, c)
		text := t.scratch
		if c.cut && Width(text) > c.width {
			text = []byte(t.shorten(c, string(text)))
		}
		dst = t.pad(dst, j, text, role)
	}
	if t.report {
		dst = trimBlanks(dst)
	}
	return append(dst, '\n')
}

// appendCell writes the text of a cell to scratch and returns its role.
func (t *textTable) appendCell(row int, c *textColumn) Role {
	if text, ok := t.displayText(row, c); ok {
		t.scratch = append(t.scratch[:0], text...)
		role, _ := t.styled.Role(row, t.grid.Columns[c.cell])
		return role
	}
	cell := t.grid.Table.Cell(row, t.grid.Columns[c.cell])
	t.scratch = AppendShown(t.scratch[:0], cell, c.Kind)
	return CellRole(cell, c.Kind)
}

// shorten cuts a text that is too long for its column.
func (t *textTable) shorten(c *textColumn, text string) string {
	switch {
	case c.Shorten:
		return ShortenMiddle(text, c.width, t.ellipsis)
	case c.affixes == nil || strings.Contains(text, " "): // the start of a sentence matters most
		return Fit(text, c.width, t.ellipsis)
	}
	return c.affixes.Cut(text, c.width, t.ellipsis, func(name string, cells int) string {
		return ShortenMiddle(name, cells, t.ellipsis)
	})
}

func (t *textTable) shortenTitle(c *textColumn, title string) string {
	if c.Shorten {
		return ShortenMiddle(title, c.width, t.ellipsis)
	}
	return Fit(title, c.width, t.ellipsis)
}

// trimBlanks removes trailing blanks from a line whose last cells are empty.
func trimBlanks(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return b
}

// CellRole returns the role of a cell of a kind.
func CellRole(c table.Cell, k table.Kind) Role {
	switch {
	case c.Absent != table.Present:
		return RoleDim
	case k == table.State:
		return StateRole(c.Text)
	case k == table.Findings:
		return table.TallyOf(c).Role()
	}
	return RolePlain
}

// pad appends a text, padded to the width of its column. The last column has no trailing blanks.
func (t *textTable) pad(dst []byte, j int, text []byte, role Role) []byte {
	c := &t.columns[j]
	space := c.width - Width(text)
	if c.right {
		dst = AppendSpaces(dst, space)
	}
	if t.painter.on && role != RolePlain && len(text) > 0 {
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
		dst = AppendSpaces(dst, space)
	}
	return append(dst, "  "...)
}

const spaces = "                                                                "

// AppendSpaces appends n blanks.
func AppendSpaces(dst []byte, n int) []byte {
	for n > 0 {
		k := min(n, len(spaces))
		dst = append(dst, spaces[:k]...)
		n -= k
	}
	return dst
}
