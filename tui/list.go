package tui

import (
	"cmp"
	"slices"
	"strings"

	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/tui/draw"
)

// Column is a column of a list of T. A list cannot be sorted by a column without a Name.
type Column[T any] struct {
	table.ColumnOf[T] // with Shown
	// Compare orders rows: the largest first, names from A on. If nil, the texts are compared.
	Compare func(a, b T) int
	// Unknown rows are last in either order. If nil, all rows are known.
	Unknown func(row T) bool
	// ReverseArrow reverses the sort arrow: up for the default order.
	ReverseArrow bool
	// Sign columns are displayed but not copied.
	Sign bool
}

// PlainColumn returns a column that a list cannot be sorted by.
func PlainColumn[T any](title string, kind table.Kind, priority int, text func(row T) string) Column[T] {
	return Column[T]{
		ColumnOf: table.ColumnOf[T]{Column: table.Column{Title: title, Kind: kind, Priority: priority}, Shown: text},
	}
}

// SortedColumn returns a column that a list can be sorted by. If compare is nil, it is sorted by its texts.
func SortedColumn[T any](
	name, title string, kind table.Kind, priority int, text func(row T) string, compare func(a, b T) int,
) Column[T] {
	c := PlainColumn(title, kind, priority, text)
	c.Name, c.Compare = name, compare
	return c
}

// ReportColumn returns the column of a report as a column of a list. It is sorted by its values, with rows without
// a value last.
func ReportColumn[T any](c table.ColumnOf[T]) Column[T] {
	shown := c.Shown
	c.Shown = func(row T) string { return words.Sanitize(shown(row)) }
	return Column[T]{
		ColumnOf: c,
		Compare: func(a, b T) int {
			x, y := c.Cell(a), c.Cell(b)
			return cmp.Or(words.CompareNatural(x.Text, y.Text), cmp.Compare(y.Float, x.Float),
				cmp.Compare(y.Int, x.Int))
		},
		Unknown: func(row T) bool { return c.Cell(row).Absent != table.Present },
	}
}

func (c *Column[T]) isUnknown(row T) bool { return c.Unknown != nil && c.Unknown(row) }

func (c *Column[T]) order(a, b T, ascending bool) int {
	x, y := c.isUnknown(a), c.isUnknown(b)
	if x || y {
		return BoolOrder(x, y)
	}
	if ascending {
		a, b = b, a
	}
	if c.Compare != nil {
		return c.Compare(a, b)
	}
	return words.CompareNatural(c.Shown(a), c.Shown(b))
}

// List is a table of T with a filter, a sort order and copying. Its columns define the cells of a row. A page
// embeds it and adds its own parts. A list is laid out, sorted and filtered on the event loop, so it should have
// thousands of rows, not millions.
type List[T comparable] struct {
	tableView
	Noun string // the name of a row
	// Columns returns the columns of a table of w cells, identified by their Names.
	Columns func(w int) []Column[T]
	// Words returns the text that the filter searches; nil means all cells.
	Words func(row T) string
	// Look returns the style of a row; nil means plain.
	Look func(row T) RowLook
	// Key identifies a row across SetRows; nil means the row itself.
	Key func(row T) string
	// Open opens a row, and Save returns a menu of formats. nil if the list has no such action.
	Open func(m *Model, row T) Cmd
	Save func() *Menu
	// OriginalOrder describes the original order of the rows, and adds it to the orders that the keys cycle through; ""
	// leaves it out.
	OriginalOrder string
	MinNameWidth  int // width in cells that names are cut to before columns are dropped; 0 is the default

	All, Shown []T
	Filter     string // lower case
	Sorted     string // the Name of a column; "" for the original order
	Ascending  bool
	KeepLine   bool // a new order keeps the cursor on its line, not on its row
	Above, w   int  // of the last frame: lines above it, and its width in cells
}

// WideTable is a width in cells that fits all columns at full length.
const WideTable = 1 << 10

// SetRows replaces the rows. The cursor stays on its row if that still exists.
func (l *List[T]) SetRows(all []T) {
	at, ok := l.Current()
	l.All = all
	l.refresh(at, ok)
}

// arrange filters and sorts the rows. The cursor stays on its row if that is still visible.
func (l *List[T]) arrange() {
	at, ok := l.Current()
	l.refresh(at, ok)
}

func (l *List[T]) refresh(at T, keep bool) {
	columns := l.Columns(WideTable)
	l.Shown = l.Shown[:0:0]
	for _, row := range l.All {
		if l.Filter == "" || strings.Contains(strings.ToLower(l.text(columns, row)), l.Filter) {
			l.Shown = append(l.Shown, row)
		}
	}
	if i := ColumnNamed(columns, l.Sorted); i >= 0 {
		slices.SortStableFunc(l.Shown, func(a, b T) int { return columns[i].order(a, b, l.Ascending) })
	}
	if keep {
		if i := l.indexOf(at); i >= 0 {
			l.Cursor = i
		}
	}
	l.clamp(len(l.Shown))
}

// text returns the text that the filter searches.
func (l *List[T]) text(columns []Column[T], row T) string {
	if l.Words != nil {
		return l.Words(row)
	}
	return strings.Join(CellsOf(columns, row), " ")
}

func (l *List[T]) indexOf(row T) int {
	if l.Key == nil {
		return slices.Index(l.Shown, row)
	}
	key := l.Key(row)
	return slices.IndexFunc(l.Shown, func(x T) bool { return l.Key(x) == key })
}

// Current returns the row under the cursor; ok is false if there is none.
func (l *List[T]) Current() (row T, ok bool) {
	if l.Cursor >= len(l.Shown) {
		return row, false
	}
	return l.Shown[l.Cursor], true
}

// GoTo puts the cursor on a row. It clears the filter if that hides the row.
func (l *List[T]) GoTo(row T) {
	if !slices.Contains(l.Shown, row) {
		l.Find("")
	}
	l.Cursor = max(0, slices.Index(l.Shown, row))
	l.clamp(len(l.Shown))
}

// Find sets the filter.
func (l *List[T]) Find(text string) {
	l.Filter = strings.ToLower(strings.TrimSpace(text))
	l.arrange()
}

// Body draws the list in h lines of w cells.
func (l *List[T]) Body(st *draw.Styles, w, h int) []string {
	l.w = w
	if len(l.Shown) == 0 && l.Filter != "" {
		text := "no " + l.Noun + " matches " + words.Sanitize(l.Filter) + "; esc clears the filter"
		return append([]string{""}, draw.Sentence(st, text, w)...)
	}
	columns := l.Columns(w)
	return l.draw(st, listGrid[T]{l, columns}, l.Mark(columns), w, h)
}

// Mark returns the position of the sort column and the direction of its arrow.
func (l *List[T]) Mark(columns []Column[T]) SortMark {
	i := ColumnNamed(columns, l.Sorted)
	return SortMark{i, i >= 0 && l.Ascending == columns[i].ReverseArrow}
}

// listGrid adapts a list to the table that draws it.
type listGrid[T comparable] struct {
	*List[T]
	cols []Column[T]
}

func (g listGrid[T]) rows() int               { return len(g.Shown) }
func (g listGrid[T]) columns() []table.Column { return headsOf(g.cols) }
func (g listGrid[T]) text(i, j int) string    { return g.cols[j].Shown(g.Shown[i]) }
func (g listGrid[T]) minNameWidth() int       { return g.MinNameWidth }

func (g listGrid[T]) look(i int) RowLook {
	if g.List.Look == nil {
		return RowLook{}
	}
	return g.List.Look(g.Shown[i])
}

func headsOf[T any](columns []Column[T]) []table.Column {
	heads := make([]table.Column, len(columns))
	for i := range columns {
		heads[i] = columns[i].Column
	}
	return heads
}

// ColumnNamed returns the position of the column with a name, -1 if there is none.
func ColumnNamed[T any](columns []Column[T], name string) int {
	if name == "" {
		return -1
	}
	return slices.IndexFunc(columns, func(c Column[T]) bool { return c.Name == name })
}

// CellsOf returns the texts of a row, without signs.
func CellsOf[T any](columns []Column[T], row T) []string {
	var cells []string
	for i := range columns {
		if !columns[i].Sign {
			cells = append(cells, columns[i].Shown(row))
		}
	}
	return cells
}

// records returns the titles and the visible rows.
func (l *List[T]) records() [][]string {
	columns := l.Columns(WideTable)
	var titles []string
	for i := range columns {
		if !columns[i].Sign {
			titles = append(titles, columns[i].Title)
		}
	}
	records := [][]string{titles}
	for _, row := range l.Shown {
		records = append(records, CellsOf(columns, row))
	}
	return records
}

// TSV returns the titles and the visible rows, with tabs between cells, and the number of rows.
func (l *List[T]) TSV() (tsv string, rows int) {
	var b strings.Builder
	for _, cells := range l.records() {
		b.WriteString(strings.Join(cells, "\t") + "\n")
	}
	return b.String(), len(l.Shown)
}

// BoolOrder compares booleans: false before true.
func BoolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
