// Package render writes tables and reports: tables for people, and JSON, YAML and CSV for scripts. It writes a
// Sheet or a Document to an io.Writer, according to Options.
//
//  1. Formats.Parse turns the value of -o into a Format.
//  2. Sheet.Write writes a list or report in that Format: lines and tables for people, items for scripts.
//     Document.Write writes a single object for scripts.
//  3. json, jsonl, yaml and template are written by the same functions, through an encode.Encoder. The columns of a
//     table are as wide as their texts.
//
// Reports about clusters and findings are in package clusters, others in other packages below this one.
//
// Names in a cluster are untrusted bytes. Output for a terminal never contains their control characters.
package render

import (
	"io"

	"kitescope/internal/encode"
)

// Options control how to write.
type Options struct {
	Format Format
	// Width is the terminal's width in cells; tables drop columns until they fit. 0 means unlimited, as in a
	// pipe: nothing is dropped or shortened.
	Width int
	// Color allows escape sequences for the colors of Theme.
	Color bool
	// Theme defaults to the first of Themes if nil.
	Theme *Theme
	// KeepColumns forbids dropping columns because the user named them. Texts can still be shortened.
	KeepColumns bool
	// Layout, if not nil, is shared by tables that follow each other without a header. The first table determines
	// which columns are shown and their minimum widths.
	Layout *Layout
	// Dropped, if not nil, receives the columns that did not fit.
	Dropped *DroppedColumns
	// NoHeader omits the header of tables and CSV.
	NoHeader bool
	// ASCII draws with ASCII instead of box and block characters.
	ASCII bool
}

// Document writes a document to an encoder.
type Document func(e *encode.Encoder)

// Write writes a document that is not a list, in a format that supports documents.
func (d Document) Write(w io.Writer, o *Options) error {
	return o.Format.writerOrDefault().structured(w, d, Everything, o)
}
