package render

import (
	"io"
	"math"
	"strconv"
	"strings"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/profile"
	"kitescope/render/webpage"
)

// Sheet is a report, ready for every format: lines and columns for people,
// fields for scripts.
type Sheet struct {
	Kind    string
	Options *ReportOptions
	// wide says that columns for wide tables are shown.
	wide bool
	Head []Line
	// Parts are the tables, one below the other.
	Parts []Part
	Foot  []Line
	// Figures are pictures for a page.
	Figures []webpage.Block

	// About tells scripts what stands before the items; items are what JSON, YAML and CSV have; nested are keys of
	// items that CSV has no place for.
	About  func(e *encode.Encoder)
	Items  *table.Grid
	Nested func(e *encode.Encoder, item int)
	// After, if it is not nil, tells what stands behind the items.
	After func(e *encode.Encoder)
	// Whole, if it is not nil, tells the document instead, as its subject defines it, unless anything is asked of the items.
	Whole func(e *encode.Encoder)
	// Open is the depth to which JSON is spread over lines, 0 for ItemsOnly.
	Open int
	// Own are formats, by name, that the subject writes itself, unless anything is asked of the items.
	Own map[string]func(w io.Writer) error
	// AsIs says that the table is a list that was asked for: laid out as such, and nothing but the table.
	AsIs bool
	// Alone says that there is one item and never a list.
	Alone bool
	// Flat replaces items in CSV, where an item is several lines.
	Flat *table.Grid
}

// ReportOptions say how reports are written.
type ReportOptions struct {
	Options
	// Limit is how many entries are shown, 0 for all.
	Limit int
	// By is what entries are.
	By profile.By
	// Ask is which entries are shown, in which order, with which columns, where a report says which there are. Limit is theirs, too;
	// that of Ask says that it is of nothing else.
	Ask table.Query
	// err is what was wrong with the question.
	err error
}

// Asks reports whether anything is asked of the list: some rows, an order, columns, or a limit that is of nothing else.
func (o *ReportOptions) Asks() bool {
	return !o.Ask.Where.Empty() || len(o.Ask.Sort)+len(o.Ask.Columns)+o.Ask.Limit > 0
}

// Unasked are the same options with no question, for other lists of a report.
func (o *ReportOptions) Unasked() *ReportOptions {
	plain := *o
	plain.Ask, plain.KeepColumns = table.Query{}, false
	return &plain
}

// Line is a line of prose. Its pieces are made harmless where they are written.
type Line struct {
	Role Role
	Text string
	// After are further pieces in their own roles.
	After []Piece
	// Whole lines are never broken or cut.
	Whole bool
	// Code is what the reader copies, the text of After where there is one: whole, and a block of code in Markdown.
	Code bool
}

// Piece is a part of a line in one role.
type Piece struct {
	Role Role
	Text string
}

// Part is a table with lines above it.
type Part struct {
	Head []Line
	// List are the rows, with the columns of tables of one width; nil: only lines.
	List func(show table.Show) *table.Grid
	// Joined parts go on with the table above, and have the same columns: their head stands between its rows.
	Joined bool
}

// Key is a column that scripts read, and people who name it.
func Key[T any](name string, kind table.Kind, of func(T) table.Cell) table.ColumnOf[T] {
	title := strings.ToUpper(strings.ReplaceAll(name, "_", " "))
	return table.ColumnOf[T]{Column: table.Column{Name: name, Title: title, Kind: kind, Show: table.Hidden}, Cell: of}
}

// TextKey is a Key of texts.
func TextKey[T any](name string, of func(T) string) table.ColumnOf[T] {
	return Key(name, table.Text, func(x T) table.Cell { return table.Of(of(x)) })
}

// Positions are n rows that are nothing but their place in a list.
func Positions(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// Places is a table of n rows.
func Places(n int, columns []table.ColumnOf[int]) func(show table.Show) *table.Grid {
	list := table.New(table.Schema{Sparse: true}, Positions(n), columns)
	return func(show table.Show) *table.Grid { return table.All(list, show) }
}

// grids are the tables of parts with the columns that a person sees.
func grids(parts []Part, show table.Show) []*table.Grid {
	list := make([]*table.Grid, len(parts))
	for i := range parts {
		list[i] = parts[i].List(show)
	}
	return list
}

// Asked are the rows of a list that somebody asks for.
type Asked[T any] struct {
	// Items are they as scripts read them, Rows the same.
	Items *table.Grid
	Rows  []T
	// Left is how many more there are of each group than the limit.
	Left  map[any]int
	names []string
}

// Ask selects what is asked of a list. The limit, if not 0, is that of each group of rows; group nil: of all together. What is
// wrong with the question the Sheet says that is written.
func Ask[T any](o *ReportOptions, list *table.Rows[T], group func(T) any) *Asked[T] {
	q := o.Ask
	q.Show = table.Hidden
	if q.Limit = o.Limit; group != nil {
		q.Limit = 0
	}
	g, err := table.Select(list, q)
	if err != nil {
		o.err, g = err, &table.Grid{Table: list, Rows: []int32{}}
	}
	a := &Asked[T]{Items: g, Left: map[any]int{}, names: q.Columns}
	of := map[any]int{}
	rows := []int32{} // nil would be all
	for i := range g.Len() {
		row := list.At(g.Row(i))
		if group != nil && o.Limit > 0 {
			if of[group(row)]++; of[group(row)] > o.Limit {
				a.Left[group(row)]++
				continue
			}
		}
		a.Rows, rows = append(a.Rows, row), append(rows, int32(g.Row(i)))
	}
	g.Rows = rows
	return a
}

// Unbounded is the group of lists whose report has a limit for others: it bounds no row unless somebody asks for some.
func Unbounded[T any](o *ReportOptions) func(row T) any {
	if o.Asks() {
		return nil
	}
	return func(row T) any { return row }
}

// List is a part with the rows, or a line that says that none is as asked for. Of a table without any the line is empty, if that
// is not "".
func (a *Asked[T]) List(empty string) Part {
	if a.Items.Table.Len() > 0 {
		empty = "no " + a.Items.Table.Schema().Singular + " is as asked for"
	}
	if len(a.Rows) == 0 && empty != "" {
		return Part{Head: []Line{{Text: empty}}}
	}
	return Part{List: a.People}
}

// More says how many rows there are besides.
func (a *Asked[T]) More(o *ReportOptions) []Line { return o.Rest(a.Items.Matched - len(a.Rows)) }

// People are the rows as people see them.
func (a *Asked[T]) People(show table.Show) *table.Grid {
	seen := *table.All(a.Items.Table, show)
	if columns, err := seen.Table.Schema().ParseColumns(a.names, seen.Columns); err == nil { // Ask has read them
		seen.Columns = columns
	}
	seen.Rows, seen.Matched = a.Items.Rows, a.Items.Matched
	return &seen
}

// Part are those of the rows that keep reports true for.
func (a *Asked[T]) Part(keep func(T) bool) func(show table.Show) *table.Grid {
	rows := []int32{}
	for i, row := range a.Rows {
		if keep(row) {
			rows = append(rows, int32(a.Items.Row(i)))
		}
	}
	return func(show table.Show) *table.Grid {
		g := a.People(show)
		g.Rows = rows
		return g
	}
}

// Pointers are those to the elements of a list.
func Pointers[T any](list []T) []*T {
	all := make([]*T, len(list))
	for i := range list {
		all[i] = &list[i]
	}
	return all
}

// ForScripts are n rows with their keys, of all that there are.
func ForScripts(n, all int, columns []table.ColumnOf[int]) *table.Grid {
	g := Places(n, columns)(table.Hidden)
	g.Matched = all
	return g
}

// Shown is how many of n entries are within the limit.
func (o *ReportOptions) Shown(n int) int {
	if o.Limit > 0 {
		return min(n, o.Limit)
	}
	return n
}

// More says how many entries are not shown.
func (o *ReportOptions) More(n int) []Line { return o.Rest(n - o.Shown(n)) }

// Rest says that so many entries are not shown.
func (o *ReportOptions) Rest(rest int) []Line {
	if rest == 0 {
		return nil
	}
	dots := "… "
	if o.ASCII {
		dots = "... "
	}
	return []Line{{Role: RoleDim, Text: dots + strconv.Itoa(rest) + " more" + LimitHint}}
}

// LimitHint says how one sees the rest, in a terminal: a page has no options.
const LimitHint = " (--limit 0 shows all)"

// EventCount is a number of events, "?" where it is unknown.
func EventCount(n int64) string {
	if n < 0 {
		return words.UnknownMark
	}
	return strconv.FormatInt(n, 10)
}

// PositiveCell is a number that does not exist where it is not above 0.
func PositiveCell(n int) table.Cell {
	if n <= 0 {
		return table.OfNone()
	}
	return table.OfInt(int64(n))
}

// FiniteCell is a number with all digits, unknown where it is none that JSON could write.
func FiniteCell(f float64) table.Cell {
	if math.IsInf(f, 0) {
		return table.OfUnknown()
	}
	return table.OfFloat(f)
}
