// Package render turns what package view computed into bytes: tables for people,
// JSON, YAML and CSV for scripts. What enters is a Grid, a Description, a tree, an
// Overview or a Diff, and Options; what leaves is written to an io.Writer.
//
//  1. Formats.Parse reads the -o word.
//  2. Grid, Description, Tree, Overview and Diff choose the writer of that format.
//  3. Structured formats (json, jsonl, yaml, template) share one description of each
//     thing, told to an encoder; tables are laid out from the width of their texts.
//
// Reports are Sheets, written in any of the formats: those about clusters are made here, those about other subjects in the
// packages below, which this one does not know.
//
// Names in a cluster are bytes from outside: nothing that is written for a terminal
// lets a control character through.
package render

import (
	"io"

	"kitescope/inspect/view"
)

// Options say how to write.
type Options struct {
	Format Format
	// Width is the terminal's width in cells: tables drop columns until they fit. 0
	// means unlimited, as in a pipe: nothing is dropped or shortened.
	Width int
	// Color allows escape sequences for colour, in Theme.
	Color bool
	// Theme is nil for the default.
	Theme *Theme
	// KeepColumns forbids dropping columns, because a person named them; texts may
	// still be shortened.
	KeepColumns bool
	// Layout, if it is not nil, is what tables that follow each other without a header have in common: the first one
	// decides which columns are shown and how wide they are at least.
	Layout *Layout
	// Unshown, if it is not nil, is told which columns of a table had no room: those that are the same in all rows go first then.
	Unshown *Unshown
	// NoHeader leaves out the header of tables and CSV.
	NoHeader bool
	// ASCII draws with ASCII instead of box and block characters.
	ASCII bool
}

// Grid writes a list of objects.
func Grid(w io.Writer, g *view.Grid, o Options) error {
	return listSheet(g, &o).Write(w, o.Format)
}

// Description writes one object with its sections and the records it was decoded from.
func Description(w io.Writer, d *view.Description, env *view.Env, found *Found, o Options) error {
	if s := o.Format.to().structured; s != nil {
		return s(w, descriptionDocument(d, env, found), Everything, &o)
	}
	return writeDescription(w, d, env, found, &o)
}

// Tree writes a collection's tree.
func Tree(w io.Writer, n *view.Node, env *view.Env, o Options) error {
	if s := o.Format.to().structured; s != nil {
		return s(w, treeDocument(n, env), Everything, &o)
	}
	return writeTree(w, n, &o)
}

// Overview writes a cluster at a glance.
func Overview(w io.Writer, v *view.Overview, found *Found, o Options) error {
	if s := o.Format.to().structured; s != nil {
		return s(w, overviewDocument(v, found), Everything, &o)
	}
	return writeOverview(w, v, found, &o)
}
