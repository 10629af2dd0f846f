// Package table is what has rows, anywhere: resources of a cluster, reports about profiles, comparisons, lists in the UI.
// What enters are rows of any type and typed columns; what leaves is a Grid, the part of them that somebody asked for. No
// text is laid out here: package render writes grids, and the UI draws them.
//
//  1. A Schema is the columns with their names, which words are read with: ParseSelection, ParseColumns, ParseSort.
//  2. A Table is a Schema with rows. New makes one of a slice; cells are computed when they are asked for.
//  3. Select answers a Query: which rows, in which order, which columns.
package table

import (
	"strings"
	"time"
)

// Kind says what a column's cells hold, hence how they are aligned, written and compared.
type Kind uint8

// The kinds of cells, with the field of Cell that holds the value.
const (
	Text       Kind = iota // Text
	ID                     // Int; a string in JSON
	NamedID                // Int, an id, and Text, the name that people know it by; scripts get an ID
	Int                    // Int
	Bytes                  // Int
	Percent                // Float, 0 to 100
	Time                   // Int, Unix nanoseconds UTC
	Duration               // Int, nanoseconds; seconds in JSON
	Bool                   // Int, 0 or 1
	State                  // Text, a word that deserves colour
	List                   // List
	Pairs                  // List: key, value, key, value
	NamedIDs               // List: ids, then their names; scripts get a List of the ids, or of texts with them
	NamedPairs             // List: pairs with ids, then the same with names; scripts get Pairs
	NamedText              // List: a text with ids, then the same with names; scripts get a Text
	Number                 // Float, written with up to four decimals
	Exact                  // Float, written with all its digits
	Findings               // a Tally: Int is how many there are, Float how bad they are together; List, the checks
)

// Absence says why a cell has no value.
type Absence uint8

// A cell has a value, or none exists ("-"), or it was not looked at ("?").
const (
	Present Absence = iota
	None
	Unknown
)

// Cell is one typed value.
type Cell struct {
	Absent Absence
	Int    int64
	Float  float64
	Text   string
	List   []string
}

// Show says where a column appears.
type Show uint8

// A column is in every table, in wide ones, only in JSON, YAML, CSV and where a person names it, or (because it is
// expensive) only where a person names it.
const (
	Always Show = iota
	Wide
	Hidden
	OnDemand
)

// Audience says who reads a column.
type Audience uint8

// Everyone reads most columns. What is for People is words or a picture of other columns, which scripts have no use for.
const (
	Everyone Audience = iota
	People
)

// Role is what a text means. Colours belong to roles, never to places: package render gives them their styles.
type Role uint8

// The roles.
const (
	Plain    Role = iota
	Dim           // what is less important: units, what is dropped, frames
	Title         // headings, table headers
	Accent        // names, keys, what can be acted on
	Good          // as it should be
	Progress      // on its way
	Warn          // wants a look
	Bad           // is broken
	Added         // changes
	Removed
	Changed
	Selected // the row under the cursor
	More     // takes more than before
	Less     // takes less than before
	// Roles is how many there are.
	Roles
)

// ForScripts returns a cell of a kind as scripts get it, and its kind: with ids in place of names.
func (c *Cell) ForScripts(k Kind) (Cell, Kind) {
	if k == NamedID {
		return *c, ID
	}
	return c.half(k, c.List[:len(c.List)/2])
}

// ForPeople returns a cell of a kind as people see it, and its kind: with names in place of ids.
func (c *Cell) ForPeople(k Kind) (Cell, Kind) {
	if k == NamedID {
		return *c, Text
	}
	return c.half(k, c.List[len(c.List)/2:])
}

// Named reports whether people see names where scripts get ids.
func (k Kind) Named() bool { return k == NamedID || k == NamedIDs || k == NamedPairs || k == NamedText }

// half returns the cell of a named kind that has one half of the list, and its kind; any other cell as it is.
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

// Column describes one column.
type Column struct {
	// Name is the JSON key and the name in selectors, --sort and --columns: lower_snake, stable.
	Name string
	// Title is the table header, upper case.
	Title string
	Kind  Kind
	Show  Show
	For   Audience
	// Priority decides which column a narrow terminal drops first: the highest; 0 is only dropped where all rows have the same.
	Priority int
	// Kept columns stay even then: verdicts, and what a table is looked at for.
	Kept bool
	// Rare columns have something to say of few objects: descriptions for people leave them out of the others.
	Rare bool
	// Ranked cells are ordered by their Float, whatever they show.
	Ranked bool
	// Right aligns texts as numbers are: what people see of a number is often a text.
	Right bool
	// Least is how many cells of a text stay before columns with a Priority are dropped; 0 is the usual number.
	Least int
	// Shorten says that where there is no room the middle goes first: names that begin alike.
	Shorten bool
	// Doc is one sentence for docs/reference/json.md and help.
	Doc string
	// By names the column of ids that decides instead where somebody selects by this one, the name of something: the
	// table's Context knows which ids a word means.
	By string
	// Vocabulary says that the texts are fixed words ("HNSW", "querynode"), which selections find in any case, as they
	// do states.
	Vocabulary bool
}

// Label is the header in lower case: what people call the column.
func (c *Column) Label() string { return strings.ToLower(c.Title) }

// Omits reports whether a description for people leaves a cell out: of a Rare column that has none, or no.
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

// RightAligned reports whether the cells end at the same place, so that the digits of numbers stand below each other.
func (c *Column) RightAligned() bool {
	switch c.Kind {
	case Int, Bytes, Percent, Duration, Number, Exact:
		return true
	default:
		return c.Right
	}
}

// Table is rows with typed cells. Cells are computed when asked for, so a table of a million rows costs nothing until it
// is looked at. Safe for concurrent use.
type Table interface {
	Schema() *Schema
	Len() int
	Cell(row, col int) Cell
}

// Context is what some tables know beside their rows. In a Table that is none, all is known, no word stands for an id,
// and there is no time to count from.
type Context interface {
	// Usual are the columns that are shown where nobody names others.
	Usual(show Show) []int
	// Known reports whether what a column is made of was looked at, or, for column -1, what the rows are made of.
	Known(column int) bool
	// Now is what relative times count from; zero if it is unknown.
	Now() time.Time
	// Resolve returns the ids that a word in a column with By means.
	Resolve(column int, word string) []int64
	// Unresolved says in a sentence that a word means nothing.
	Unresolved(column int, word string) string
}

// Styled is a Table that decides what people see of cells: a text other than the one their kind gives, a colour.
type Styled interface {
	// Shown is the text of a cell; ok is false where it is that of its kind.
	Shown(row, col int) (text string, ok bool)
	// Role is how the text looks; ok is false where its kind decides.
	Role(row, col int) (role Role, ok bool)
}

// Grid is the part of a table that is shown: rows in order, columns in order.
type Grid struct {
	Table   Table
	Rows    []int32 // positions in Table; nil means all, in order
	Columns []int   // positions in Schema.Columns
	// Matched is how many rows the selection left before Limit cut them.
	Matched int
	// Skipped is how many more it would have left, had Query.Skip not been there.
	Skipped int
}

// All is the grid of all rows, with the columns that are usual.
func All(t Table, show Show) *Grid { return &Grid{Table: t, Columns: usual(t, show), Matched: t.Len()} }

// Len is the number of rows shown.
func (g *Grid) Len() int {
	if g.Rows == nil {
		return g.Table.Len()
	}
	return len(g.Rows)
}

// Row is the position in Table of the i-th row shown.
func (g *Grid) Row(i int) int {
	if g.Rows == nil {
		return i
	}
	return int(g.Rows[i])
}

// Cell is the cell in the i-th row and j-th column shown.
func (g *Grid) Cell(i, j int) Cell { return g.Table.Cell(g.Row(i), g.Columns[j]) }

// Column is the j-th column shown.
func (g *Grid) Column(j int) *Column { return &g.Table.Schema().Columns[g.Columns[j]] }

// Known reports whether a column of a table, or with -1 its rows, was looked at.
func Known(t Table, column int) bool {
	c, ok := t.(Context)
	return !ok || c.Known(column)
}

func usual(t Table, show Show) []int {
	if c, ok := t.(Context); ok {
		return c.Usual(show)
	}
	return t.Schema().Usual(show, nil)
}
