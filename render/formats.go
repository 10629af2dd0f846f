package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"kitescope/inspect/view"
	"kitescope/internal/table"
)

// writer writes lists, reports and documents in one format. Adding a format is one file with a writer and one line in
// writers: lists, reports, findings, balance and trials have it then.
type writer struct {
	name string
	doc  string
	// show are the columns that the format has unless others are asked for.
	show table.Show
	// sheet writes lists and reports; nil in formats that are for one kind, whose sheets write it themselves.
	sheet func(w io.Writer, s *Sheet) error
	// structured writes things that are no grid; nil where people read. Objects deeper
	// than spread stay on one line, where the format has a choice.
	structured func(w io.Writer, d Document, spread int, o *Options) error
	// goesOn says that more rows can follow.
	goesOn bool
	// argument says that the word goes on after "=".
	argument bool
	// binary must not go to a terminal.
	binary bool
}

// Depths to which JSON is spread over lines: lists of many things keep each on one.
const (
	ItemsOnly  = 1
	Everything = 64
)

// writers are the formats, in the order of help.
var writers = []*writer{
	tableWriter, wideWriter, jsonWriter, jsonlWriter, yamlWriter, csvWriter, nameWriter, templateWriter, markdownWriter, htmlWriter,
	svgWriter, pngWriter, foldedWriter, speedscopeWriter,
}

// Format is a parsed -o word. The zero value is what people read, as the word "table".
type Format struct {
	writer   *writer
	template string
}

func (f Format) to() *writer {
	if f.writer == nil {
		return tableWriter
	}
	return f.writer
}

// Name is the format's word without its argument.
func (f Format) Name() string { return f.to().name }

// Doc explains the format.
func (f Format) Doc() string { return f.to().doc }

// Show is which columns the format has unless others are asked for; for view.Query.
func (f Format) Show() table.Show { return f.to().show }

// Structured reports whether scripts read the format: no colour, nothing beside it on standard error but trouble.
func (f Format) Structured() bool { return f.to().show == table.Hidden }

// Documents reports whether the format has a place for what is no list.
func (f Format) Documents() bool { return f.to().structured != nil }

// Binary reports whether the format is nothing for a terminal.
func (f Format) Binary() bool { return f.to().binary }

// GoesOn reports whether more rows can follow in the format: a document has an end.
func (f Format) GoesOn() bool { return f.to().goesOn }

// Form is a format of a kind of document, and what it is there.
type Form struct{ Name, Doc string }

// Formats are the formats of a kind of document, in the order of help.
type Formats []Form

// FormatsOf are all formats, and what help says of them where that is not the same everywhere. Those that only some kinds have are
// among them if something is said of them, those of which "" is said are not.
func FormatsOf(docs map[string]string) Formats {
	var list Formats
	for _, w := range writers {
		doc, said := docs[w.name]
		if !said && w.sheet != nil {
			doc = w.doc
		}
		if doc != "" {
			list = append(list, Form{w.name, doc})
		}
	}
	return list
}

// ListFormats are the formats of lists of a cluster's things.
func ListFormats() Formats { return FormatsOf(nil) }

// ReportFormats are the formats of reports.
func ReportFormats() Formats {
	return FormatsOf(map[string]string{
		"table": "aligned columns; on a terminal names are shortened to fit (default)",
		"wide":  "the same with samples, class and file, never shortened",
		"json":  "one JSON object, one item per line (docs/reference/json.md)",
		"jsonl": "one JSON object per line and item",
		"name":  "",
	})
}

// Parse reads "table", "json", "template={{...}}" and so on; "" and "text" are the first.
func (list Formats) Parse(word string) (Format, error) {
	name, argument, has := strings.Cut(word, "=")
	if word == "" || word == "text" {
		name = list[0].Name
	}
	if instead := gone[name]; instead != "" {
		return Format{}, fmt.Errorf("output format %q is gone: use %s", name, instead)
	}
	w := writerOf(name)
	switch known := slices.ContainsFunc(list, func(f Form) bool { return f.Name == name }); {
	case known && w.argument && argument == "":
		return Format{}, fmt.Errorf("output format %q needs a template: template={{range .items}}{{.id}}{{\"\\n\"}}{{end}}", word)
	case !known || w.argument != has:
		return Format{}, &view.UnknownError{What: "output format", Word: word, Known: list.Names()}
	case has:
		if _, err := parseTemplate(argument); err != nil {
			return Format{}, err
		}
	}
	return Format{w, argument}, nil
}

// gone are formats that are no more, and what to use instead.
var gone = map[string]string{"junit": "json; the exit code fails a pipeline", "sarif": "json"}

// writerOf is the writer of a name, nil if there is none.
func writerOf(name string) *writer {
	if at := slices.IndexFunc(writers, func(w *writer) bool { return w.name == name }); at >= 0 {
		return writers[at]
	}
	return nil
}

// Names are the words that Parse knows.
func (list Formats) Names() []string {
	names := make([]string, len(list))
	for i, f := range list {
		names[i] = f.Name
		if writerOf(f.Name).argument {
			names[i] += "="
		}
	}
	return names
}

// Doc explains the formats, one a line.
func (list Formats) Doc() string {
	var b strings.Builder
	for _, f := range list {
		b.WriteString("  " + f.Name + strings.Repeat(" ", 10-len(f.Name)) + f.Doc + "\n")
	}
	return b.String()
}

// Write writes a report.
func (s *Sheet) Write(w io.Writer, f Format) error {
	if s.Options.err != nil {
		return s.Options.err
	}
	if own := s.Own[f.Name()]; own != nil && !s.Options.Asks() {
		return own(w)
	}
	s.Options.Format = f
	return f.to().sheet(w, s)
}
