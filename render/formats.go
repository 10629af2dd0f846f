package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"kitescope/inspect/view"
	"kitescope/internal/table"
)

// writer writes lists, reports and documents in a format. To add a format, add a file with a writer and a line in
// writers. Lists, reports, findings, balance and trials support it automatically.
type writer struct {
	name string
	doc  string
	// show selects the default columns of the format.
	show table.Show
	// sheet writes lists and reports. It is nil for formats that only some kinds support; their Sheets write
	// these themselves (Writers).
	sheet func(w io.Writer, s *Sheet) error
	// structured writes documents other than grids. It is nil for formats that people read. Objects deeper than
	// spread stay on one line, if the format allows it.
	structured func(w io.Writer, d Document, spread int, o *Options) error
	// appendable indicates that rows can be appended.
	appendable bool
	// argument indicates that the format has an argument after "=".
	argument bool
	// binary output must not be written to a terminal.
	binary bool
}

// Depths up to which JSON is spread over lines. Lists of many items keep each item on one line.
const (
	ItemsOnly  = 1
	Everything = 64
)

// writers lists the formats in the order of help.
var writers = []*writer{
	tableWriter, wideWriter, jsonWriter, jsonlWriter, yamlWriter, csvWriter, nameWriter, templateWriter, markdownWriter,
	htmlWriter, svgWriter, pngWriter, foldedWriter, speedscopeWriter,
}

// Format is a parsed value of -o. The zero value is the format "table".
type Format struct {
	writer   *writer
	template string
}

func (f Format) writerOrDefault() *writer {
	if f.writer == nil {
		return tableWriter
	}
	return f.writer
}

// Name returns the format's name without its argument.
func (f Format) Name() string { return f.writerOrDefault().name }

// Doc returns the description of the format.
func (f Format) Doc() string { return f.writerOrDefault().doc }

// Show returns the default columns of the format, for view.Query.
func (f Format) Show() table.Show { return f.writerOrDefault().show }

// Structured reports whether the format is for scripts. Such output has no color, and only errors and warnings go
// to standard error.
func (f Format) Structured() bool { return f.writerOrDefault().show == table.Hidden }

// Documents reports whether the format supports documents that are not lists.
func (f Format) Documents() bool { return f.writerOrDefault().structured != nil }

// Binary reports whether the format must not be written to a terminal.
func (f Format) Binary() bool { return f.writerOrDefault().binary }

// Appendable reports whether rows can be appended in the format. Documents cannot be extended.
func (f Format) Appendable() bool { return f.writerOrDefault().appendable }

// Form is a format of a kind of document, with its description.
type Form struct{ Name, Doc string }

// Formats lists the formats of a kind of document, in the order of help.
type Formats []Form

// FormatsOf returns the formats of a kind of document. docs overrides descriptions by format name. It also adds
// formats that only some kinds support, and an empty description removes a format.
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

// ListFormats returns the formats of lists of a cluster's objects.
func ListFormats() Formats { return FormatsOf(nil) }

// ReportFormats returns the formats of reports.
func ReportFormats() Formats {
	return FormatsOf(map[string]string{
		"table": "aligned columns; on a terminal names are shortened to fit (default)",
		"wide":  "the same with samples, class and file, never shortened",
		"json":  "one JSON object, one item per line (docs/reference/json.md)",
		"jsonl": "one JSON object per line and item",
		"name":  "",
	})
}

// Parse parses a value of -o, e.g. "table", "json" or "template={{...}}". "" and "text" select the first format.
func (list Formats) Parse(word string) (Format, error) {
	name, argument, has := strings.Cut(word, "=")
	if word == "" || word == "text" {
		name = list[0].Name
	}
	if instead := removedFormats[name]; instead != "" {
		return Format{}, fmt.Errorf("output format %q was removed: use %s", name, instead)
	}
	w := writerOf(name)
	switch known := slices.ContainsFunc(list, func(f Form) bool { return f.Name == name }); {
	case known && w.argument && argument == "":
		return Format{},
			fmt.Errorf("output format %q needs a template: template={{range .items}}{{.id}}{{\"\\n\"}}{{end}}", word)
	case !known || w.argument != has:
		return Format{}, &view.UnknownError{What: "output format", Word: word, Known: list.Names()}
	case has:
		if _, err := parseTemplate(argument); err != nil {
			return Format{}, err
		}
	}
	return Format{w, argument}, nil
}

// removedFormats maps removed formats to the formats to use instead.
var removedFormats = map[string]string{"junit": "json; the exit code fails a pipeline", "sarif": "json"}

// writerOf returns the writer with a name, or nil for an unknown name.
func writerOf(name string) *writer {
	if at := slices.IndexFunc(writers, func(w *writer) bool { return w.name == name }); at >= 0 {
		return writers[at]
	}
	return nil
}

// Names returns the words that Parse accepts.
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

// Doc returns the descriptions of the formats, one per line.
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
	if own := s.Writers[f.Name()]; own != nil && !s.Options.HasQuery() {
		return own(w)
	}
	s.Options.Format = f
	return f.writerOrDefault().sheet(w, s)
}
