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

// Sheet is a report that can be written in every format. It has lines and columns for people, and fields for
// scripts.
type Sheet struct {
	Kind    string
	Options *ReportOptions
	// wide indicates that the columns of wide tables are shown.
	wide bool
	Head []Line
	// Parts are the tables from top to bottom.
	Parts []Part
	Foot  []Line
	// Figures are pictures for a page.
	Figures []webpage.Block

	// About writes the fields before the items, for scripts. Items are the items in JSON, YAML and CSV. Nested
	// writes keys of items that CSV cannot represent.
	About  func(e *encode.Encoder)
	Items  *table.Grid
	Nested func(e *encode.Encoder, item int)
	// After, if not nil, writes the fields after the items.
	After func(e *encode.Encoder)
	// WriteAll, if not nil, writes the document in its own format, unless the user queries the items.
	WriteAll func(e *encode.Encoder)
	// Open is the depth up to which JSON is spread over lines; 0 means ItemsOnly.
	Open int
	// Writers maps names of formats to functions that write the report itself, unless the user queries the items.
	Writers map[string]func(w io.Writer) error
	// TableOnly indicates a list that the user requested. Only the table is written, in the layout of lists.
	TableOnly bool
	// SingleItem indicates that there is always a single item instead of a list.
	SingleItem bool
	// Flat replaces Items in CSV if an item takes several lines.
	Flat *table.Grid
}

// ReportOptions control how reports are written.
type ReportOptions struct {
	Options
	// Limit is the maximum number of entries to show; 0 means all.
	Limit int
	// By is the kind of entries.
	By profile.Granularity
	// Query selects and orders entries, and selects columns, in reports that support it. Limit bounds these
	// entries too. Query.Limit is set if Limit is meant for these entries only.
	Query table.Query
	// err is the error of an invalid query.
	err error
}

// HasQuery reports whether the user queries the list: its rows, order or columns, or a limit for this list only.
func (o *ReportOptions) HasQuery() bool {
	return !o.Query.Where.Empty() || len(o.Query.Sort)+len(o.Query.Columns)+o.Query.Limit > 0
}

// WithoutQuery returns a copy of the options without a query, for other lists of a report.
func (o *ReportOptions) WithoutQuery() *ReportOptions {
	plain := *o
	plain.Query, plain.KeepColumns = table.Query{}, false
	return &plain
}

// Line is a line of text. Its pieces are escaped when they are written.
type Line struct {
	Role Role
	Text string
	// After holds further pieces with their own roles.
	After []Piece
	// NoWrap lines are never wrapped or cut.
	NoWrap bool
	// Code lines are for copying: the text of After if it is not empty, otherwise Text. They are never cut, and
	// form code blocks in Markdown.
	Code bool
}

// Piece is a part of a line with a role.
type Piece struct {
	Role Role
	Text string
}

// Part is a table with lines above it.
type Part struct {
	Head []Line
	// List returns the rows, with the columns of tables for show. If it is nil, the part consists of lines only.
	List func(show table.Show) *table.Grid
	// Joined parts continue the table above with the same columns. Their head is written between its rows.
	Joined bool
}

// Key returns a column for scripts. It is shown to people only if they name it.
func Key[T any](name string, kind table.Kind, get func(T) table.Cell) table.ColumnOf[T] {
	title := strings.ToUpper(strings.ReplaceAll(name, "_", " "))
	return table.ColumnOf[T]{Column: table.Column{Name: name, Title: title, Kind: kind, Show: table.Hidden}, Cell: get}
}

// TextKey returns a Key of texts.
func TextKey[T any](name string, get func(T) string) table.ColumnOf[T] {
	return Key(name, table.Text, func(x T) table.Cell { return table.Of(get(x)) })
}

// Positions returns n rows that hold their positions.
func Positions(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// PositionGrid returns a table of n rows that hold their positions.
func PositionGrid(n int, columns []table.ColumnOf[int]) func(show table.Show) *table.Grid {
	list := table.New(table.Schema{Sparse: true}, Positions(n), columns)
	return func(show table.Show) *table.Grid { return table.All(list, show) }
}

// grids returns the tables of parts with the columns that people see.
func grids(parts []Part, show table.Show) []*table.Grid {
	list := make([]*table.Grid, len(parts))
	for i := range parts {
		list[i] = parts[i].List(show)
	}
	return list
}

// Selection holds the rows of a list that match a query.
type Selection[T any] struct {
	// Items are the selected rows for scripts, and Rows the same rows as values.
	Items *table.Grid
	Rows  []T
	// Omitted is the number of rows beyond the limit in each group.
	Omitted map[any]int
	names   []string
}

// Select runs the query in o on a list. The limit, unless 0, applies to each group of rows, or to all rows if
// group is nil. If the query is invalid, Select sets o.err, which is returned when the Sheet is written.
func Select[T any](o *ReportOptions, list *table.Rows[T], group func(T) any) *Selection[T] {
	q := o.Query
	q.Show = table.Hidden
	if q.Limit = o.Limit; group != nil {
		q.Limit = 0
	}
	g, err := table.Select(list, q)
	if err != nil {
		o.err, g = err, &table.Grid{Table: list, Rows: []int32{}}
	}
	a := &Selection[T]{Items: g, Omitted: map[any]int{}, names: q.Columns}
	of := map[any]int{}
	rows := []int32{} // nil would select all
	for i := range g.Len() {
		row := list.At(g.Row(i))
		if group != nil && o.Limit > 0 {
			if of[group(row)]++; of[group(row)] > o.Limit {
				a.Omitted[group(row)]++
				continue
			}
		}
		a.Rows, rows = append(a.Rows, row), append(rows, int32(g.Row(i)))
	}
	g.Rows = rows
	return a
}

// Unbounded returns the group for lists in reports whose limit applies to other lists. Such lists have no limit
// unless the user queries them.
func Unbounded[T any](o *ReportOptions) func(row T) any {
	if o.HasQuery() {
		return nil
	}
	return func(row T) any { return row }
}

// List returns a part with the rows, or with a message if there are none: that the query selects no rows, or,
// if the table itself has no rows, the given text. If that text is "", the part is a table without rows.
func (a *Selection[T]) List(empty string) Part {
	if a.Items.Table.Len() > 0 {
		empty = "no " + a.Items.Table.Schema().Singular + " matches"
	}
	if len(a.Rows) == 0 && empty != "" {
		return Part{Head: []Line{{Text: empty}}}
	}
	return Part{List: a.DisplayGrid}
}

// More returns a line with the number of rows left out.
func (a *Selection[T]) More(o *ReportOptions) []Line { return o.Rest(a.Items.Matched - len(a.Rows)) }

// DisplayGrid returns the rows with the columns for people.
func (a *Selection[T]) DisplayGrid(show table.Show) *table.Grid {
	seen := *table.All(a.Items.Table, show)
	// Ask has validated the names
	if columns, err := seen.Table.Schema().ParseColumns(a.names, seen.Columns); err == nil {
		seen.Columns = columns
	}
	seen.Rows, seen.Matched = a.Items.Rows, a.Items.Matched
	return &seen
}

// Part returns the rows for which keep returns true.
func (a *Selection[T]) Part(keep func(T) bool) func(show table.Show) *table.Grid {
	rows := []int32{}
	for i, row := range a.Rows {
		if keep(row) {
			rows = append(rows, int32(a.Items.Row(i)))
		}
	}
	return func(show table.Show) *table.Grid {
		g := a.DisplayGrid(show)
		g.Rows = rows
		return g
	}
}

// Pointers returns pointers to the elements of a list.
func Pointers[T any](list []T) []*T {
	all := make([]*T, len(list))
	for i := range list {
		all[i] = &list[i]
	}
	return all
}

// ScriptGrid returns a grid of n rows out of all, with keys as columns.
func ScriptGrid(n, all int, columns []table.ColumnOf[int]) *table.Grid {
	g := PositionGrid(n, columns)(table.Hidden)
	g.Matched = all
	return g
}

// Shown returns how many of n entries are within the limit.
func (o *ReportOptions) Shown(n int) int {
	if o.Limit > 0 {
		return min(n, o.Limit)
	}
	return n
}

// More returns a line with how many of n entries are not shown.
func (o *ReportOptions) More(n int) []Line { return o.Rest(n - o.Shown(n)) }

// Rest returns a line about entries that are not shown, or nil if rest is 0.
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

// LimitHint explains how to show the rest, on a terminal only because pages have no options.
const LimitHint = " (--limit 0 shows all)"

// EventCount formats a number of events, or returns "?" if it is negative, which means unknown.
func EventCount(n int64) string {
	if n < 0 {
		return words.UnknownMark
	}
	return strconv.FormatInt(n, 10)
}

// PositiveCell returns a cell with a positive number, or without a value if n is at most 0.
func PositiveCell(n int) table.Cell {
	if n <= 0 {
		return table.OfNone()
	}
	return table.OfInt(int64(n))
}

// FiniteCell returns a cell with a number, or an unknown cell for infinities and NaN, which JSON cannot
// represent.
func FiniteCell(f float64) table.Cell {
	if math.IsInf(f, 0) {
		return table.OfUnknown()
	}
	return table.OfFloat(f)
}
