// Package render turns what package view computed into bytes: tables for people,
// JSON, YAML and CSV for scripts. What enters is a Grid, a Description, a tree, an
// Overview or a Diff, and Options; what leaves is written to an io.Writer.
//
//  1. ParseFormat reads the -o word.
//  2. Grid, Description, Tree, Overview and Diff choose the writer of that format.
//  3. Structured formats (json, jsonl, yaml, template) share one description of each
//     thing, told to an encoder; tables are laid out from the width of their texts.
//
// Reports are Sheets, written in one of ReportFormats: those about clusters are made here, those about other subjects in the
// packages below, which this one does not know.
//
// Names in a cluster are bytes from outside: nothing that is written for a terminal
// lets a control character through.
package render

import (
	"fmt"
	"io"
	"strings"

	"kitescope/inspect/diff"
	"kitescope/inspect/view"
	"kitescope/table"
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
	// NoHeader leaves out the header of tables and CSV.
	NoHeader bool
	// ASCII draws with ASCII instead of box and block characters.
	ASCII bool
}

// Format is a parsed -o word. The zero Format is table.
type Format struct {
	writer   *writer
	template string
}

// writer writes lists, reports and documents in one format. Adding a format is one file with a writer and one line in
// writers.
type writer struct {
	name string
	doc  string
	// report explains the format where reports are written; "" is no format of reports.
	report string
	// show are the columns that the format has unless others are asked for.
	show table.Show
	// sheet writes lists and reports.
	sheet func(w io.Writer, s *Sheet) error
	// structured writes things that are no grid; nil where people read. Objects deeper
	// than spread stay on one line, where the format has a choice.
	structured func(w io.Writer, d document, spread int, o *Options) error
	// argument says that the word goes on after "=".
	argument bool
}

// Depths to which JSON is spread over lines: lists of many things keep each on one.
const (
	ItemsOnly  = 1
	Everything = 64
)

// writers are the formats, in the order of help.
var writers = []*writer{tableWriter, wideWriter, jsonWriter, jsonlWriter, yamlWriter, csvWriter, nameWriter, templateWriter, markdownWriter, htmlWriter}

// ParseFormat reads "table", "json", "template={{...}}" and so on; "" is table.
func ParseFormat(word string) (Format, error) {
	name, argument, has := strings.Cut(word, "=")
	if word == "" {
		name = tableWriter.name
	}
	for _, w := range writers {
		if w.name != name || w.argument != has {
			continue
		}
		f := Format{writer: w, template: argument}
		if w.argument {
			if argument == "" {
				return Format{}, noTemplate(word)
			}
			if _, err := parseTemplate(argument); err != nil {
				return Format{}, err
			}
		}
		return f, nil
	}
	if name == templateWriter.name {
		return Format{}, noTemplate(word)
	}
	return Format{}, &view.UnknownError{What: "output format", Word: word, Known: strings.Split(FormatNames(), ", ")}
}

func noTemplate(word string) error {
	return fmt.Errorf("output format %q needs a template: template={{range .items}}{{.id}}{{\"\\n\"}}{{end}}", word)
}

// FormatNames lists the words that ParseFormat knows, in the order of help.
func FormatNames() string {
	names := make([]string, len(writers))
	for i, w := range writers {
		names[i] = w.name
		if w.argument {
			names[i] += "="
		}
	}
	return strings.Join(names, ", ")
}

// FormatDoc explains a word of FormatNames in one line.
func FormatDoc(name string) string {
	for _, w := range writers {
		if w.name == strings.TrimSuffix(name, "=") {
			return w.doc
		}
	}
	return ""
}

func (f Format) to() *writer {
	if f.writer == nil {
		return tableWriter
	}
	return f.writer
}

// Name is the format's word without its argument.
func (f Format) Name() string { return f.to().name }

// Show is which columns the format has unless others are asked for; for view.Query.
func (f Format) Show() table.Show { return f.to().show }

// Structured reports whether scripts read the format: no hints, no colour.
func (f Format) Structured() bool { return f.to().structured != nil }

// Grid writes a list of objects.
func Grid(w io.Writer, g *view.Grid, o Options) error {
	return o.Format.to().sheet(w, listSheet(g, &o))
}

// Description writes one object with its sections and the records it was decoded from.
func Description(w io.Writer, d *view.Description, env *view.Env, o Options) error {
	if s := o.Format.to().structured; s != nil {
		return s(w, descriptionDocument(d, env), Everything, &o)
	}
	return writeDescription(w, d, env, &o)
}

// Tree writes a collection's tree.
func Tree(w io.Writer, n *view.Node, env *view.Env, o Options) error {
	if s := o.Format.to().structured; s != nil {
		return s(w, treeDocument(n, env), Everything, &o)
	}
	return writeTree(w, n, &o)
}

// Overview writes a cluster at a glance.
func Overview(w io.Writer, v *view.Overview, o Options) error {
	if s := o.Format.to().structured; s != nil {
		return s(w, overviewDocument(v), Everything, &o)
	}
	return writeOverview(w, v, &o)
}

// Diff writes what differs between two clusters; as JSON lines and CSV, only the changes.
func Diff(w io.Writer, d *diff.Diff, o Options) error {
	if f := o.Format.to(); f.show == table.Hidden {
		return f.sheet(w, diffSheet(d, &o))
	}
	return writeDiff(w, d, &o)
}
