// Package render turns tables and reports into bytes: tables for people, JSON, YAML and CSV for scripts. What enters is a Sheet or a Document, and
// Options; what leaves is written to an io.Writer.
//
//  1. Formats.Parse reads the -o word.
//  2. Sheet.Write chooses the writer of that format.
//  3. Structured formats (json, jsonl, yaml, template) share one description of each
//     thing, told to an encoder; tables are laid out from the width of their texts.
//
// It knows no subject: what is said of clusters and findings is in clusters, of others in the packages beside it.
//
// Names in a cluster are bytes from outside: nothing that is written for a terminal
// lets a control character through.
package render

import (
	"io"

	"kitescope/internal/encode"
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
	// Unshown, if it is not nil, is told which columns of a table had no room.
	Unshown *Unshown
	// NoHeader leaves out the header of tables and CSV.
	NoHeader bool
	// ASCII draws with ASCII instead of box and block characters.
	ASCII bool
}

// Document tells an encoder what there is to say, from outside in.
type Document func(e *encode.Encoder)

// Write writes a document that is no list, in a format that has a place for it.
func (d Document) Write(w io.Writer, o *Options) error {
	return o.Format.to().structured(w, d, Everything, o)
}
