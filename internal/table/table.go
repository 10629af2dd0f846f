// Package table defines typed tables: resources of a cluster, reports about profiles, comparisons, and lists in
// the UI. Queries select a Grid, which is a part of a table. Package render and the UI format grids.
//
//  1. A Schema holds the columns with their names. ParseSelection, ParseColumns and ParseSort use it to parse
//     queries.
//  2. A Table is a Schema with rows. New returns a Table of a slice. Cells are computed on access.
//  3. Select runs a Query, which selects rows, their order, and columns.
package table

import (
	"strings"
	"time"
)

// Kind is the type of a column's cells. It determines how cells are aligned, formatted and compared.
type Kind uint8

// The kinds of cells. Each comment gives the field of Cell that holds the value.
const (
	Text       Kind = iota // Text
	ID                     // Int; a string in JSON
	NamedID                // Int, an id, and Text, its name; scripts get an ID
	Int                    // Int
	Bytes                  // Int
	Percent                // Float, 0 to 100
	Time                   // Int, Unix nanoseconds UTC
	Duration               // Int, nanoseconds; seconds in JSON
	Bool                   // Int, 0 or 1
	State                  // Text, a word shown in color
	List                   // List
	Pairs                  // List: key, value, key, value
	NamedIDs               // List: ids, followed by their names; scripts get a List of the ids, or of texts with ids
	NamedPairs             // List: pairs with ids, followed by the same pairs with names; scripts get Pairs
	NamedText              // List: a text with ids, followed by the same text with names; scripts get a Text
	Number                 // Float, written with up to four decimals
	Exact                  // Float, written with all its digits
	Findings               // a Tally: Int is the number of findings, Float their weight, List the check ids
)

// Absence is the reason why a cell has no value.
type Absence uint8

// A cell has a value (Present), has no value (None, "-"), or was not read (Unknown, "?").
const (
	Present Absence = iota
	None
	Unknown
)

// Cell is a typed value. The Kind of its column determines which field holds the value.
type Cell struct {
	Absent Absence
	Int    int64
	Float  float64
	Text   string
	List   []string
}

// Show determines which tables include a column.
type Show uint8

// Columns appear in every table (Always), in wide tables (Wide), in JSON, YAML and CSV or if named (Hidden), or
// only if named, because they are expensive to compute (OnDemand).
const (
	Always Show = iota
	Wide
	Hidden
	OnDemand
)

// Audience is the intended reader of a column.
type Audience uint8

// Most columns are for Everyone. Columns for People summarize or draw other columns, and are useless to scripts.
const (
	Everyone Audience = iota
	People
)

// Role is the meaning of a text. Each role has a style, which package render defines.
type Role uint8

// The roles.
const (
	Plain    Role = iota
	Dim           // less important: units, dropped objects, borders
	Title         // headings, table headers
	Accent        // names, keys, elements that the user can act on
	Good          // healthy
	Progress      // in progress
	Warn          // needs attention
	Bad           // broken
	Added         // changes
	Removed
	Changed
	Selected // the row under the cursor
	More     // a higher cost than before
	Less     // a lower cost than before
	// Roles is the number of roles.
	Roles
)

// ForScripts returns the cell and its kind for scripts: with ids instead of names.
func (c *Cell) ForScripts(k Kind) (Cell, Kind) {
	if k == NamedID {
		return *c, ID
	}
	return c.half(k, c.List[:len(c.List)/2])
}

// ForPeople returns the cell and its kind for people: with names instead of ids.
func (c *Cell) ForPeople(k Kind) (Cell, Kind) {
	if k == NamedID {
		return *c, Text
	}
	return c.half(k, c.List[len(c.List)/2:])
}

// Named reports whether people see names and scripts get ids.
func (k Kind) Named() bool { return k == NamedID || k == NamedIDs || k == NamedPairs || k == NamedText }

// half returns the cell and kind for one half of the list of a named kind. It returns other cells unchanged.
func (c *Cell) half(k Kind, list []string) (Cell, Kind) {
	x := Cell{Absent: c.Absent, List: list}
	switch k {
	case NamedIDs:
		return x, List
	case NamedPairs:
		return x, Pairs
	case NamedText:
		return Cell{Absent: c.Absent, Text: strings.Join(list, "")}, Text
	default:
		return *c, k
	}
}

// Column describes a column of a table.
type Column struct {
	// Name is the key in JSON and the name in selectors, --sort and --columns. It is in snake case and stable.
	Name string
	// Title is the table header in upper case.
	Title string
	Kind  Kind
	Show  Show
	For   Audience
	// Priority determines which columns are dropped first on narrow terminals: those with the highest. A column
	// with priority 0 is dropped only if its value is the same in all rows.
	Priority int
	// Pinned columns are not dropped even if all values are the same: verdicts, and the main columns of a table.
	Pinned bool
	// Rare columns have a value for few objects. Descriptions for people omit a rare column without a value.
	Rare bool
	// Ranked cells are ordered by Float, regardless of the displayed text.
	Ranked bool
	// AlignRight aligns texts to the right like numbers, because numbers are often displayed as text.
	AlignRight bool
	// MinWidth is the minimum width of a text in terminal cells before columns with a Priority are dropped; 0 means
	// the default.
	MinWidth int
	// Shorten cuts the middle of a text that does not fit, for names with common prefixes.
	Shorten bool
	// Doc is one sentence for docs/reference/json.md and for help.
	Doc string
	// IDColumn is the name of an id column. This column holds the names of those ids, and selections by it compare
	// the ids instead. The table's Context resolves names to ids.
	IDColumn string
	// Vocabulary indicates that the texts are fixed words ("HNSW", "querynode"), which selections match
	// regardless of case, like states.
	Vocabulary bool
}

// Label returns the title in lower case, for use in sentences.
func (c *Column) Label() string { return strings.ToLower(c.Title) }

// Omits reports whether descriptions for people omit a cell: the column is Rare, and the cell is missing, false
// or an empty list.
func (c *Column) Omits(x Cell) bool {
	if !c.Rare || x.Absent != Present {
		return c.Rare && x.Absent == None
	}
	switch c.Kind {
	case Bool:
		return x.Int == 0
	case List, Pairs, NamedIDs, NamedPairs:
		return len(x.List) == 0
	default:
		return false
	}
}

// RightAligned reports whether the cells are right-aligned, so that the digits of numbers line up.
func (c *Column) RightAligned() bool {
	switch c.Kind {
	case Int, Bytes, Percent, Duration, Number, Exact:
		return true
	default:
		return c.AlignRight
	}
}

// Table is a table with typed cells. Cells are computed on access, so that a table of a million rows costs
// nothing until it is read. Implementations must be safe for concurrent use.
type Table interface {
	Schema() *Schema
	Len() int
	Cell(row, col int) Cell
}

// Context is implemented by tables that have data beyond their rows. In other tables everything is known, words
// do not refer to ids, and relative times have no reference time.
type Context interface {
	// DefaultColumns returns the default columns.
	DefaultColumns(show Show) []int
	// Known reports whether the metadata from which a column is computed was read, or for column -1, the metadata
	// from which the rows are listed.
	Known(column int) bool
	// Now returns the reference time for relative times, or zero if it is unknown.
	Now() time.Time
	// Resolve returns the ids that a word refers to, in a column with IDColumn.
	Resolve(column int, word string) []int64
	// Unresolved returns a message about a word that refers to no id.
	Unresolved(column int, word string) string
}

// Styled is implemented by tables that override the displayed text and the role of cells.
type Styled interface {
	// Shown returns the displayed text of a cell. ok is false if the kind determines the text.
	Shown(row, col int) (text string, ok bool)
	// Role returns the role of a cell. ok is false if the kind determines the role.
	Role(row, col int) (role Role, ok bool)
}

// Grid is the part of a table to show: rows and columns, in order.
type Grid struct {
	Table   Table
	Rows    []int32 // positions in Table; nil means all, in order
	Columns []int   // positions in Schema.Columns
	// Matched is the number of selected rows after Query.Skip and before Query.Limit.
	Matched int
	// Skipped is the number of selected rows that Query.Skip left out.
	Skipped int
}

// All returns a grid of all rows with the default columns.
func All(t Table, show Show) *Grid {
	return &Grid{Table: t, Columns: defaultColumns(t, show), Matched: t.Len()}
}

// Len returns the number of rows.
func (g *Grid) Len() int {
	if g.Rows == nil {
		return g.Table.Len()
	}
	return len(g.Rows)
}

// Row returns the position in Table of the i-th row.
func (g *Grid) Row(i int) int {
	if g.Rows == nil {
		return i
	}
	return int(g.Rows[i])
}

// Cell returns the cell in the i-th row and j-th column.
func (g *Grid) Cell(i, j int) Cell { return g.Table.Cell(g.Row(i), g.Columns[j]) }

// Column returns the j-th column.
func (g *Grid) Column(j int) *Column { return &g.Table.Schema().Columns[g.Columns[j]] }

// Known reports whether the metadata of a column was read, or for column -1, the metadata of the rows.
func Known(t Table, column int) bool {
	c, ok := t.(Context)
	return !ok || c.Known(column)
}

func defaultColumns(t Table, show Show) []int {
	if c, ok := t.(Context); ok {
		return c.DefaultColumns(show)
	}
	return t.Schema().DefaultColumns(show, nil)
}
