package render

import (
	"io"
	"slices"
	"strings"

	"kitescope/inspect/view"
	"kitescope/table"
)

// FormatOf is a parsed -o word for documents of one kind. The zero value is what people read, as the word "table".
type FormatOf[D any] struct{ form *form[D] }

// Name is the format's word.
func (f FormatOf[D]) Name() string {
	if f.form == nil {
		return tableWriter.name
	}
	return f.form.name
}

// Structured reports whether scripts read the format: no colour, nothing beside it on standard error but trouble.
func (f FormatOf[D]) Structured() bool { return f.form != nil && f.form.scripts }

// form is one format of a kind of document.
type form[D any] struct {
	name, doc string
	scripts   bool
	write     func(w io.Writer, d D, o *Options) error
}

// Formats are the formats of a kind of document, in the order of help. The first is that of the word "table".
type Formats[D any] []form[D]

// Parse finds the format of a -o word; "" is table, "text" too.
func (list Formats[D]) Parse(word string) (FormatOf[D], error) {
	if word == "" || word == "text" {
		word = list[0].name
	}
	for i := range list {
		if list[i].name == word {
			return FormatOf[D]{&list[i]}, nil
		}
	}
	return FormatOf[D]{}, &view.UnknownError{What: "output format", Word: word, Known: list.Names()}
}

// Names are the words that Parse knows.
func (list Formats[D]) Names() []string {
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].name
	}
	return names
}

// Doc explains the formats, one a line.
func (list Formats[D]) Doc() string {
	var b strings.Builder
	for i := range list {
		b.WriteString("  " + list[i].name + strings.Repeat(" ", 10-len(list[i].name)) + list[i].doc + "\n")
	}
	return b.String()
}

// write writes a document in a format that was parsed, or in the first.
func (list Formats[D]) write(w io.Writer, d D, f FormatOf[D], o *Options) error {
	if f.form == nil {
		return list[0].write(w, d, o)
	}
	return f.form.write(w, d, o)
}

// ReportFormat is a parsed -o word of reports.
type ReportFormat = FormatOf[*sheet]

// ReportFormats are the formats of reports.
func ReportFormats() Formats[*sheet] {
	return Formats[*sheet]{
		tableWriter.as("aligned columns; on a terminal names are shortened to fit (default)"),
		wideWriter.as("the same with samples, class and file, never shortened"),
		jsonWriter.as("one JSON object, one item per line (docs/JSON.md)"),
		jsonlWriter.as("one JSON object per line and item"),
		yamlWriter.as(yamlWriter.doc),
		csvWriter.as(csvWriter.doc),
		markdownWriter.as(markdownWriter.doc),
	}
}

// saying are the same formats with other words about some of them.
func saying(list Formats[*sheet], docs map[string]string) Formats[*sheet] {
	list = slices.Clone(list)
	for i := range list {
		if doc, ok := docs[list[i].name]; ok {
			list[i].doc = doc
		}
	}
	return list
}

// as is a writer as one of the formats of reports.
func (x *writer) as(doc string) form[*sheet] {
	return form[*sheet]{x.name, doc, x.show == table.Hidden, func(w io.Writer, s *sheet, _ *Options) error { return x.sheet(w, s) }}
}

// write writes a report.
func (s *sheet) write(w io.Writer, f ReportFormat) error {
	return ReportFormats().write(w, s, f, &s.o.Options)
}
