// Package view turns a model.Cluster into tables, descriptions and trees for terminals, scripts and the UI.
// It takes a Cluster and a query, e.g. "growing segments of docs, most rows first", and returns typed cells.
// Package render lays out the text.
//
//  1. Resources lists all resources; Find looks one up by name or alias.
//  2. Resource.Table binds a resource to an Env: a Table of rows and typed cells, computed on demand.
//  3. ParseSelection parses the words that select rows in a Query, Query.Needs returns the metadata that it depends on,
//     and Select makes a Grid: the rows, their order, and the columns.
//  4. Table.Describe and NewTree show one object with its related objects.
//
// To add a resource, add one file to this package and one line to Resources. It then appears in get,
// describe, completion, and the palette and grids of the UI.
package view

import (
	"slices"
	"time"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// Ref identifies an object by its resource and an id that stays the same across refreshes.
type Ref = model.Ref

// Env holds the data that rows are computed from. Ages are relative to Now; if it is zero, they are unknown.
type Env struct {
	Cluster   *model.Cluster
	Now       time.Time
	Judgement *Judgement // nil if no checks ran
}

// NewEnv returns the Env of a cluster. In a file, ages are relative to the time at which the file was taken,
// not to now: a checkpoint is not a week late because the mail took a week. They are unknown if that time is
// unknown.
func NewEnv(c *model.Cluster, now time.Time) *Env {
	if c.Origin.Kind != "etcd" {
		now = c.Origin.Taken
	}
	return &Env{Cluster: c, Now: now}
}

// Table is a resource bound to an Env.
type Table interface {
	table.Table
	Resource() *Resource
	Env() *Env
	Ref(row int) Ref
	// Omitted reports whether lists leave out a row by default: see Resource.Omits.
	Omitted(row int) bool
	// Owner returns the object that a row belongs to. ok is false if there is none.
	Owner(row int) (ref Ref, ok bool)
	// Links returns the links from an object to rows of other resources. The enter key follows the first.
	Links(row int) []Link
	// Describe returns the description of the object in a row. It is never nil.
	Describe(row int) *Description
}

// Link is a link from one object to rows of a resource.
type Link struct {
	Title    string // "segments"
	Resource string
	// Where holds the selector words, as on the command line: "collection_id=4705".
	Where []string
}

// Resource is a kind of object that can be listed. The Name of its Schema is the one in "get segments".
// describe also compares with its Names, and accepts its Handle.
type Resource struct {
	table.Schema
	Aliases []string // "seg"
	Kind    string   // kind of one item in JSON: "Segment"; a list is "SegmentList"
	Doc     string   // one sentence
	// Needs lists the parts of the metadata to read for the rows themselves. Columns add their own needs.
	Needs model.Part
	// Describes lists the parts of the metadata for a description, if it depends only on one collection. It
	// is 0 if a description may need any part.
	Describes model.Part
	// Keyspace is true if the rows come from Cluster.Keyspace, which must have been kept.
	Keyspace bool
	// Omits is the adjective of rows that lists leave out by default, e.g. "dropped", or "". A selection on
	// one of the columns in OmitOverrides includes them.
	Omits         string
	OmitOverrides []string
	// Missing returns the sources of rows that are missing or incomplete, with the reasons. It is nil if the
	// rows come from the metadata.
	Missing func(*model.Cluster) []string
	// Rates is true if the rows are rates, which need two scrapes of the processes' metrics.
	Rates bool
	// Equal reports whether a watch treats a row as unchanged. If it is nil, a row is unchanged if it looks
	// the same.
	Equal EqualFunc

	bind  func(*Resource, *Env) Table
	def   any         // *definition[T]
	peers []*Resource // all resources, for sections
	more  []facts     // of each column
}

// facts holds the properties of a column that table.Column does not have.
type facts struct {
	needs model.Part
	live  bool
	from  table.Show
}

// Table binds the resource to a cluster.
func (r *Resource) Table(env *Env) Table { return r.bind(r, env) }

// Grid is the visible part of a resource's table.
type Grid struct {
	table.Grid
	Table Table
}

// NewGrid returns a Grid with rows of a table in columns. nil rows means all.
func NewGrid(t Table, rows []int32, columns []int) *Grid {
	g := &Grid{table.Grid{Table: t, Rows: rows, Columns: columns}, t}
	g.Matched = g.Len()
	return g
}

// NotRead reports whether the grid is empty because its metadata was not read. Then it is unknown whether
// there are rows. Lists of the keys themselves hold whatever was read.
func (g *Grid) NotRead() bool { return g.Len() == 0 && !table.Known(g.Table, -1) }

// MissingReasons returns the reasons why rows may be missing, e.g. processes that did not answer. It returns nil if
// none are missing.
func MissingReasons(r *Resource, env *Env) []string {
	c := env.Cluster
	switch {
	case r.Missing != nil:
		return r.Missing(c)
	case r.Needs.Has(model.PartRuntime) && c.Runtime != nil &&
		!slices.ContainsFunc(c.Runtime.Nodes, func(n *model.LiveNode) bool { return n.Outcome == model.Answered }):
		return []string{"no process responded"}
	}
	return nil
}

// Description describes one object in sections.
type Description struct {
	Ref      Ref
	Resource *Resource
	// Fields holds all columns of the object's row.
	Fields []Field
	// Sections holds the related objects: its partitions, its logs, its indexes.
	Sections []Section
	// Records holds the keys that the object was decoded from, for Cluster.Keyspace.
	Records []string
}

// Field is one named value. Column belongs to the resource and must not be changed.
type Field struct {
	Column *table.Column
	Cell   table.Cell
}

// Section is a titled grid inside a description.
type Section struct {
	// Title is lower case and always the same: "segments by state".
	Title string
	Grid  *Grid
	// Note is additional information about the rows, usually "".
	Note string
	// Unknown is true if the metadata for the rows was not read.
	Unknown bool
}
