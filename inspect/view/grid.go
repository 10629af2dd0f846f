// Package view turns a model.Cluster into tables, descriptions and trees that a
// terminal, a script or the UI can show alike. What enters is a Cluster and a
// question ("segments of docs that are growing, most rows first"), what leaves are
// typed cells: no text is laid out here, package render does that.
//
//  1. Resources lists what can be shown; Find looks one up by name or alias.
//  2. Resource.Table binds it to an Env: rows and typed cells, computed on demand.
//  3. ParseSelection, Sort and Limit make a Grid: which rows, in which order, which columns.
//  4. Resource.Describe and Tree show one object and what hangs on it.
//
// Adding a resource is one file here and one line in Resources: it then appears in
// get, describe, completion, the palette of the UI and its grids.
package view

import (
	"time"

	"kitescope/inspect/model"
)

// Kind says what a column's cells hold, hence how they are aligned, written and compared.
type Kind uint8

// The kinds of cells, with the field of Cell that holds the value.
const (
	Text     Kind = iota // Text
	ID                   // Int; a string in JSON
	Int                  // Int
	Bytes                // Int
	Percent              // Float, 0 to 100
	Time                 // Int, Unix nanoseconds UTC
	Duration             // Int, nanoseconds; seconds in JSON
	Bool                 // Int, 0 or 1
	State                // Text, a word of Milvus's that deserves colour
	List                 // List
	Pairs                // List: key, value, key, value
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

// A column is in every table, in wide ones, only in JSON, YAML, CSV and where --columns
// names it, or (because it is expensive) only where --columns names it.
const (
	Always Show = iota
	Wide
	Hidden
	OnDemand
)

// Column describes one column of a resource.
type Column struct {
	// Name is the JSON key and the name in selectors, --sort and --columns: lower_snake, stable.
	Name string
	// Title is the table header, upper case.
	Title string
	Kind  Kind
	Show  Show
	// Priority decides which column a narrow terminal drops first: the highest; 0 is never dropped.
	Priority int
	// Needs are the parts of the metadata without which the cells are unknown.
	Needs model.Part
	// Live columns say what processes serve. Though Wide or Hidden, they are in every table
	// as soon as the processes were asked.
	Live bool
	// Doc is one sentence for docs/JSON.md and help.
	Doc string

	// collectionIDs names the column with the ids of the collections that this column
	// names; a selection by name, "db.name", alias or id is then decided by that id.
	collectionIDs string
	// vocabulary says that the texts are words of Milvus ("HNSW", "querynode"), which
	// selections find in any case, as they do states.
	vocabulary bool
}

// Ref names an object: a resource and an identity that stays the same over refreshes.
type Ref = model.Ref

// Env is what rows are computed from. Now decides ages; zero: they are unknown.
type Env struct {
	Cluster *model.Cluster
	Now     time.Time
}

// NewEnv is the Env of a cluster. Ages in a file are counted to when it was taken,
// not to now: a checkpoint was not a week late because the mail took a week. Those in a file of an unknown time are unknown.
func NewEnv(c *model.Cluster, now time.Time) *Env {
	if c.Origin.Kind != "etcd" {
		now = c.Origin.Taken
	}
	return &Env{Cluster: c, Now: now}
}

// Table is a resource bound to an Env. Cells are computed when asked for, so a
// table of a million rows costs nothing until it is looked at. Safe for concurrent use.
type Table interface {
	Resource() *Resource
	Env() *Env
	Len() int
	Cell(row, col int) Cell
	Ref(row int) Ref
	// Owner is what the object belongs to; ok is false if nothing.
	Owner(row int) (ref Ref, ok bool)
	// Links are the ways on from an object; the first is where enter leads.
	Links(row int) []Link
	// Describe explains the object; nil row objects cannot occur.
	Describe(row int) *Description
}

// Link leads from one object to rows of a resource.
type Link struct {
	Title    string // "segments"
	Resource string
	// Where are selector words as on the command line: "collection_id=4705".
	Where []string
}

// Resource is a kind of thing that can be listed.
type Resource struct {
	Name     string   // plural, as in "get segments"
	Singular string   // "segment"
	Aliases  []string // "seg"
	Kind     string   // of one item in JSON: "Segment"; a list is "SegmentList"
	Doc      string   // one sentence
	// Needs are the parts of the metadata to read for the rows themselves; columns add theirs.
	Needs   model.Part
	Columns []Column
	// Names are the columns that a bare word in a selection or describe is compared with.
	Names []string
	// Shorthands are other names of columns in selectors: "coll" for "collection".
	Shorthands map[string]string
	// DefaultSort is a column name, with "-" in front for descending; "" keeps the order of the model.
	DefaultSort string
	// Describes are the parts of the metadata that a description is made of, where it is of one collection and of nothing
	// else: 0 if it may be of anything.
	Describes model.Part
	// Handle is the column that -o name prints and that describe accepts.
	Handle string
	// Keyspace says that the rows are Cluster.Keyspace's, which must have been kept.
	Keyspace bool

	bind  func(*Resource, *Env) Table
	def   any         // *definition[T]
	peers []*Resource // all resources, for sections
}

// Table binds the resource to a cluster.
func (r *Resource) Table(env *Env) Table { return r.bind(r, env) }

// Column returns the position of a column by its name or a shorthand, -1 if there is none.
func (r *Resource) Column(name string) int {
	if long, ok := r.Shorthands[name]; ok {
		name = long
	}
	for i := range r.Columns {
		if r.Columns[i].Name == name {
			return i
		}
	}
	return -1
}

// Grid is the part of a table that is shown: rows in order, columns in order.
type Grid struct {
	Table   Table
	Rows    []int32 // positions in Table; nil means all, in order
	Columns []int   // positions in Resource.Columns
	// Matched is how many rows the selection left before Limit cut them.
	Matched int
}

// NotRead reports whether there are no rows because what they are made of was not
// read: that there are none is not known then. Lists of the keys themselves hold what
// was read, whatever that is.
func (g *Grid) NotRead() bool {
	needs := g.Table.Resource().Needs
	return g.Len() == 0 && needs != model.PartAll && !g.Table.Env().Cluster.Loaded.Has(needs)
}

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

// Description explains one object in sections.
type Description struct {
	Ref      Ref
	Resource *Resource
	// Fields are all columns of the object's row.
	Fields []Field
	// Sections are what hangs on it: its partitions, its logs, its indexes.
	Sections []Section
	// Records are the keys that the object was decoded from, for Cluster.Keyspace.
	Records []string
}

// Field is one named value. Column is the resource's own and not to be changed.
type Field struct {
	Column *Column
	Cell   Cell
}

// Section is a titled grid inside a description.
type Section struct {
	// Title is lower case and always the same: "segments by state".
	Title string
	Grid  *Grid
	// Note is what the rows do not say, "" as a rule.
	Note string
	// Unknown says that the metadata behind the rows was not read.
	Unknown bool
}
