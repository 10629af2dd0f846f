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
	"slices"
	"time"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// Ref names an object: a resource and an identity that stays the same over refreshes.
type Ref = model.Ref

// Env is what rows are computed from. Now decides ages; zero: they are unknown.
type Env struct {
	Cluster *model.Cluster
	Now     time.Time
	Judged  *Judgement // nil: nobody judged
}

// NewEnv is the Env of a cluster. Ages in a file are counted to when it was taken,
// not to now: a checkpoint was not a week late because the mail took a week. Those in a file of an unknown time are unknown.
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
	// Left reports whether a row is left out unless somebody asks for it: see Resource.Leaves.
	Left(row int) bool
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

// Resource is a kind of thing that can be listed. Its Schema's Name is that of "get segments"; its Names are what
// describe compares with, too, and its Handle is what describe accepts.
type Resource struct {
	table.Schema
	Aliases []string // "seg"
	Kind    string   // of one item in JSON: "Segment"; a list is "SegmentList"
	Doc     string   // one sentence
	// Needs are the parts of the metadata to read for the rows themselves; columns add theirs.
	Needs model.Part
	// Describes are the parts of the metadata that a description is made of, where it is of one collection and of nothing
	// else: 0 if it may be of anything.
	Describes model.Part
	// Keyspace says that the rows are Cluster.Keyspace's, which must have been kept.
	Keyspace bool
	// Leaves is what rows are that are left out unless somebody asks for them, "dropped"; "" if none are. Tells are the columns that a
	// selection speaks of them by.
	Leaves string
	Tells  []string
	// Lacks says of which processes that tell the rows they are missing, or there in part, and why; nil where the metadata have them.
	Lacks func(*model.Cluster) []string
	// Rates is set where rows are rates: they need two scrapes of the processes' metrics.
	Rates bool
	// Same reports whether people who watch see no change of a row; nil: if it looks the same.
	Same Same

	bind  func(*Resource, *Env) Table
	def   any         // *definition[T]
	peers []*Resource // all resources, for sections
	more  []facts     // of each column
}

// facts are what a column of a resource has besides.
type facts struct {
	needs model.Part
	live  bool
	from  table.Show
}

// Table binds the resource to a cluster.
func (r *Resource) Table(env *Env) Table { return r.bind(r, env) }

// Grid is the part of a resource's table that is shown.
type Grid struct {
	table.Grid
	Table Table
}

// NewGrid shows rows of a table, nil for all, in columns.
func NewGrid(t Table, rows []int32, columns []int) *Grid {
	g := &Grid{table.Grid{Table: t, Rows: rows, Columns: columns}, t}
	g.Matched = g.Len()
	return g
}

// NotRead reports whether there are no rows because what they are made of was not
// read: that there are none is not known then. Lists of the keys themselves hold what
// was read, whatever that is.
func (g *Grid) NotRead() bool { return g.Len() == 0 && !table.Known(g.Table, -1) }

// Lacking says why there may be more than the rows that there are: processes that tell them did not answer. nil if nothing is missing.
func Lacking(r *Resource, env *Env) []string {
	c := env.Cluster
	switch {
	case r.Lacks != nil:
		return r.Lacks(c)
	case r.Needs.Has(model.PartRuntime) && c.Runtime != nil && !slices.ContainsFunc(c.Runtime.Nodes, func(n *model.LiveNode) bool { return n.Outcome == model.Answered }):
		return []string{"no process answered"}
	}
	return nil
}

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
	Column *table.Column
	Cell   table.Cell
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
