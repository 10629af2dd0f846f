package tui

import (
	"slices"
	"strings"

	"kitescope/table"
	"kitescope/tui/draw"
	"kitescope/words"
)

// column is a column of a list of T. Nobody sorts by one without a Name.
type column[T any] struct {
	table.ColumnOf[T] // with Shown
	// compare orders rows: the largest first, names from A on. nil: as the texts do.
	compare func(a, b T) int
	// unknown rows are last in either order; nil: there are none.
	unknown func(row T) bool
	// rising columns have the arrow of counting up where others have that of counting down.
	rising bool
	// A sign is only looked at: it is not copied.
	sign bool
}

// plainColumn is a column that is only read.
func plainColumn[T any](title string, kind table.Kind, priority int, text func(row T) string) column[T] {
	return column[T]{ColumnOf: table.ColumnOf[T]{Column: table.Column{Title: title, Kind: kind, Priority: priority}, Shown: text}}
}

// sortedColumn is a column that a list may be sorted by; without compare its texts are.
func sortedColumn[T any](name, title string, kind table.Kind, priority int, text func(row T) string, compare func(a, b T) int) column[T] {
	c := plainColumn(title, kind, priority, text)
	c.Name, c.compare = name, compare
	return c
}

func (c *column[T]) isUnknown(row T) bool { return c.unknown != nil && c.unknown(row) }

func (c *column[T]) order(a, b T, ascending bool) int {
	x, y := c.isUnknown(a), c.isUnknown(b)
	if x || y {
		return boolOrder(x, y)
	}
	if ascending {
		a, b = b, a
	}
	if c.compare != nil {
		return c.compare(a, b)
	}
	return strings.Compare(c.Shown(a), c.Shown(b))
}

// list is a table of T that is filtered, sorted and copied. What its rows are, the columns say; a page embeds it and adds
// what is its own. A list is laid out, sorted and filtered on the loop: it has thousands of rows, not millions.
type list[T comparable] struct {
	tableView
	noun string // of a row
	// columns are those of a table of w cells, by their Names.
	columns func(w int) []column[T]
	// words are what a filter looks in; nil: all cells.
	words func(row T) string
	// look is the state of a row; nil: plain.
	look func(row T) rowLook
	// key is what a row has in common with the one that stood for the same thing before; nil: itself.
	key func(row T) string
	// open goes into a row; save offers formats. nil where there is neither.
	open func(m *Model, row T) cmd
	save func() *menu
	// asItCame is said where the keys that sort come by the order of the rows themselves; "" if they do not.
	asItCame string
	least    int // cells that names are cut to before columns are dropped; 0: as usual

	all, shown []T
	filter     string // lower case
	sorted     string // the Name of a column; "": as it came
	ascending  bool
	stays      bool // another order leaves the cursor on its line, not on its row
	above, w   int  // where it was drawn: lines above it, and its cells
}

// wideTable is a width that all columns have room in, with all that they have to say.
const wideTable = 1 << 10

// setRows replaces the rows. The cursor stays on its own if that is there.
func (l *list[T]) setRows(all []T) {
	at, ok := l.current()
	l.all = all
	l.choose(at, ok)
}

// arrange lists the rows that the filter leaves, in order, with the cursor on its own if that is there.
func (l *list[T]) arrange() {
	at, ok := l.current()
	l.choose(at, ok)
}

func (l *list[T]) choose(at T, keep bool) {
	columns := l.columns(wideTable)
	l.shown = l.shown[:0:0]
	for _, row := range l.all {
		if l.filter == "" || strings.Contains(strings.ToLower(l.text(columns, row)), l.filter) {
			l.shown = append(l.shown, row)
		}
	}
	if i := columnNamed(columns, l.sorted); i >= 0 {
		slices.SortStableFunc(l.shown, func(a, b T) int { return columns[i].order(a, b, l.ascending) })
	}
	if keep {
		if i := l.indexOf(at); i >= 0 {
			l.cursor = i
		}
	}
	l.clamp(len(l.shown))
}

// text is what a filter looks in.
func (l *list[T]) text(columns []column[T], row T) string {
	if l.words != nil {
		return l.words(row)
	}
	return strings.Join(cellsOf(columns, row), " ")
}

func (l *list[T]) indexOf(row T) int {
	if l.key == nil {
		return slices.Index(l.shown, row)
	}
	key := l.key(row)
	return slices.IndexFunc(l.shown, func(x T) bool { return l.key(x) == key })
}

// current is the row under the cursor; ok is false if there is none.
func (l *list[T]) current() (row T, ok bool) {
	if l.cursor >= len(l.shown) {
		return row, false
	}
	return l.shown[l.cursor], true
}

// goTo puts the cursor on a row; a filter that hides it is taken away.
func (l *list[T]) goTo(row T) {
	if !slices.Contains(l.shown, row) {
		l.find("")
	}
	l.cursor = max(0, slices.Index(l.shown, row))
	l.clamp(len(l.shown))
}

// find filters.
func (l *list[T]) find(text string) {
	l.filter = strings.ToLower(strings.TrimSpace(text))
	l.arrange()
}

// body draws the list in h lines of w cells.
func (l *list[T]) body(st *draw.Styles, w, h int) []string {
	l.w = w
	if len(l.shown) == 0 && l.filter != "" {
		return append([]string{""}, draw.Sentence(st, "no "+l.noun+" has "+words.Harmless(l.filter)+"; esc clears the filter", w)...)
	}
	columns := l.columns(w)
	return l.draw(st, listGrid[T]{l, columns}, l.mark(columns), w, h)
}

// mark is the column that the list is sorted by.
func (l *list[T]) mark(columns []column[T]) sortMark {
	i := columnNamed(columns, l.sorted)
	return sortMark{i, i >= 0 && l.ascending == columns[i].rising}
}

// listGrid is a list as the table draws it.
type listGrid[T comparable] struct {
	*list[T]
	cols []column[T]
}

func (g listGrid[T]) rows() int               { return len(g.shown) }
func (g listGrid[T]) columns() []table.Column { return headsOf(g.cols) }
func (g listGrid[T]) text(i, j int) string    { return g.cols[j].Shown(g.shown[i]) }
func (g listGrid[T]) leastName() int          { return g.least }

func (g listGrid[T]) look(i int) rowLook {
	if g.list.look == nil {
		return rowLook{}
	}
	return g.list.look(g.shown[i])
}

func headsOf[T any](columns []column[T]) []table.Column {
	heads := make([]table.Column, len(columns))
	for i := range columns {
		heads[i] = columns[i].Column
	}
	return heads
}

func columnNamed[T any](columns []column[T], name string) int {
	if name == "" {
		return -1
	}
	return slices.IndexFunc(columns, func(c column[T]) bool { return c.Name == name })
}

// cellsOf are the texts of a row, without signs.
func cellsOf[T any](columns []column[T], row T) []string {
	var cells []string
	for i := range columns {
		if !columns[i].sign {
			cells = append(cells, columns[i].Shown(row))
		}
	}
	return cells
}

// records are the titles and what is shown.
func (l *list[T]) records() [][]string {
	columns := l.columns(wideTable)
	var titles []string
	for i := range columns {
		if !columns[i].sign {
			titles = append(titles, columns[i].Title)
		}
	}
	records := [][]string{titles}
	for _, row := range l.shown {
		records = append(records, cellsOf(columns, row))
	}
	return records
}

// tsv are the titles and what is shown, with tabs between cells.
func (l *list[T]) tsv() (tsv string, rows int) {
	var b strings.Builder
	for _, cells := range l.records() {
		b.WriteString(strings.Join(cells, "\t") + "\n")
	}
	return b.String(), len(l.shown)
}

// boolOrder puts what is so behind what is not.
func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
