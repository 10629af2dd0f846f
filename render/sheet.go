package render

import (
	"iter"
	"math"
	"strconv"

	"kitescope/doc"
	"kitescope/profile"
	"kitescope/table"
	"kitescope/words"
)

// sheet is a report, ready for every format: lines and columns for people,
// fields for scripts.
type sheet struct {
	kind string
	o    *ReportOptions
	// wide says that columns for wide tables are shown.
	wide bool
	head []sheetLine
	// parts are the tables, one below the other.
	parts []sheetPart
	foot  []sheetLine

	// about tells scripts what stands before the items; items are what JSON, YAML and CSV have; nested are keys of
	// items that CSV has no place for.
	about  func(e *doc.Encoder)
	items  *table.Grid
	nested func(e *doc.Encoder, item int)
	// after, if it is not nil, tells what stands behind the items.
	after func(e *doc.Encoder)
	// asIs says that the table is a list that was asked for: laid out as such, and nothing but the table.
	asIs bool
	// alone says that there is one item and never a list.
	alone bool
	// flat replaces items in CSV, where an item is several lines.
	flat *table.Grid
}

// ReportOptions say how reports are written.
type ReportOptions struct {
	Options
	// Limit is how many entries are shown, 0 for all.
	Limit int
	// By says what entries are, Label the key where they are values of a label.
	By    profile.By
	Label string
	// Ask is which entries are shown, in which order, with which columns, where a report says which there are. Its limit
	// is Limit.
	Ask table.Query
}

// sheetLine is a line of prose. Its pieces have been made harmless.
type sheetLine struct {
	role Role
	text string
	// after are further pieces in their own roles.
	after []Piece
	// whole lines are never broken or cut: commands are to be copied.
	whole bool
}

// Piece is a part of a line in one role. Its text is harmless.
type Piece struct {
	Role Role
	Text string
}

// sheetPart is a table with lines above it.
type sheetPart struct {
	head []sheetLine
	// list are the rows, with the columns of tables of one width; nil: only lines.
	list func(show table.Show) *table.Grid
	// joined parts go on with the table above, and have the same columns: their head stands between its rows.
	joined bool
}

// key is a column that scripts read.
func key[T any](name string, kind table.Kind, of func(T) table.Cell) table.ColumnOf[T] {
	return table.ColumnOf[T]{Column: table.Column{Name: name, Kind: kind, Show: table.Hidden}, Cell: of}
}

// positions are n rows that are nothing but their place in a list.
func positions(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// placed makes columns of a list's rows columns of the places in it.
func placed[T any](columns []table.ColumnOf[T], at func(i int) T) []table.ColumnOf[int] {
	list := make([]table.ColumnOf[int], len(columns))
	for i, c := range columns {
		list[i] = table.ColumnOf[int]{Column: c.Column, Cell: func(row int) table.Cell { return c.Cell(at(row)) }}
	}
	return list
}

// places is a table of n rows.
func places(n int, columns []table.ColumnOf[int]) func(show table.Show) *table.Grid {
	list := table.New(table.Schema{Sparse: true}, positions(n), columns)
	return func(show table.Show) *table.Grid { return table.All(list, show) }
}

// grids are the tables of parts with the columns that a person sees.
func grids(parts []sheetPart, show table.Show) []*table.Grid {
	list := make([]*table.Grid, len(parts))
	for i := range parts {
		list[i] = parts[i].list(show)
	}
	return list
}

// chosen is what somebody asks of a list: as scripts read it, and as people do.
func (o *ReportOptions) chosen(list table.Table) (*table.Grid, func(show table.Show) *table.Grid, error) {
	q := o.Ask
	q.Show, q.Limit = table.Hidden, o.Limit
	g, err := table.Select(list, q)
	if err != nil {
		return nil, nil, err
	}
	return g, func(show table.Show) *table.Grid {
		seen := *table.All(list, show)
		if columns, err := list.Schema().ParseColumns(q.Columns, seen.Columns); err == nil { // Select has read them
			seen.Columns = columns
		}
		seen.Rows, seen.Matched = g.Rows, g.Matched
		return &seen
	}, nil
}

// forScripts are n rows with their keys, of all that there are.
func forScripts(n, all int, columns []table.ColumnOf[int]) *table.Grid {
	g := places(n, columns)(table.Hidden)
	g.Matched = all
	return g
}

// shown is how many of n entries are within the limit.
func (o *ReportOptions) shown(n int) int {
	if o.Limit > 0 {
		return min(n, o.Limit)
	}
	return n
}

// more says how many entries are not shown.
func (o *ReportOptions) more(n int) []sheetLine { return o.rest(n - o.shown(n)) }

func (o *ReportOptions) rest(rest int) []sheetLine {
	if rest == 0 {
		return nil
	}
	dots := "… "
	if o.ASCII {
		dots = "... "
	}
	return []sheetLine{{role: RoleDim, text: dots + strconv.Itoa(rest) + " more (--limit 0 shows all)"}}
}

// countText is a number of events, "?" where it is unknown.
func countText(n int64) string {
	if n < 0 {
		return words.UnknownMark
	}
	return strconv.FormatInt(n, 10)
}

// magnitudes are the values that choose a table's unit: flat, or cum where that is nothing.
func magnitudes[T any](list []T, flat, cum func(*T) int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for i := range list {
			v := flat(&list[i])
			if v == 0 {
				v = cum(&list[i])
			}
			if !yield(v) {
				return
			}
		}
	}
}

func positiveCell(n int) table.Cell {
	if n <= 0 {
		return table.OfNone()
	}
	return table.OfInt(int64(n))
}

// finiteCell is a number with all digits, unknown where it is none that JSON could write.
func finiteCell(f float64) table.Cell {
	if math.IsInf(f, 0) {
		return table.OfUnknown()
	}
	return table.OfFloat(f)
}
