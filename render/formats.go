package render

import (
	"io"
	"slices"
	"strings"

	"kitescope/inspect/view"
	"kitescope/table"
)

// FormatOf is a parsed -o word for documents of one kind. The zero value is what people read, as the word "table".
type FormatOf[D any] struct{ form *Form[D] }

// Name is the format's word.
func (f FormatOf[D]) Name() string {
	if f.form == nil {
		return tableWriter.name
	}
	return f.form.Name
}

// Structured reports whether scripts read the format: no colour, nothing beside it on standard error but trouble.
func (f FormatOf[D]) Structured() bool { return f.form != nil && f.form.Scripts }

// Form is one format of a kind of document.
type Form[D any] struct {
	Name, Doc string
	Scripts   bool
	Write     func(w io.Writer, d D, o *Options) error
}

// Formats are the formats of a kind of document, in the order of help. The first is that of the word "table".
type Formats[D any] []Form[D]

// Parse finds the format of a -o word; "" is table, "text" too.
func (list Formats[D]) Parse(word string) (FormatOf[D], error) {
	if word == "" || word == "text" {
		word = list[0].Name
	}
	for i := range list {
		if list[i].Name == word {
			return FormatOf[D]{&list[i]}, nil
		}
	}
	return FormatOf[D]{}, &view.UnknownError{What: "output format", Word: word, Known: list.Names()}
}

// Names are the words that Parse knows.
func (list Formats[D]) Names() []string {
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	return names
}

// Doc explains the formats, one a line.
func (list Formats[D]) Doc() string {
	var b strings.Builder
	for i := range list {
		b.WriteString("  " + list[i].Name + strings.Repeat(" ", 10-len(list[i].Name)) + list[i].Doc + "\n")
	}
	return b.String()
}

// Write writes a document in a format that was parsed, or in the first.
func (list Formats[D]) Write(w io.Writer, d D, f FormatOf[D], o *Options) error {
	if f.form == nil {
		return list[0].Write(w, d, o)
	}
	return f.form.Write(w, d, o)
}

// ReportFormat is a parsed -o word of reports.
type ReportFormat = FormatOf[*Sheet]

// ReportFormats are the formats of reports.
func ReportFormats() Formats[*Sheet] {
	var list Formats[*Sheet]
	for _, x := range writers {
		if x.report != "" {
			list = append(list, Form[*Sheet]{x.name, x.report, x.show == table.Hidden, func(w io.Writer, s *Sheet, _ *Options) error { return x.sheet(w, s) }})
		}
	}
	return list
}

// Saying are the same formats with other words about some of them.
func Saying(list Formats[*Sheet], docs map[string]string) Formats[*Sheet] {
	list = slices.Clone(list)
	for i := range list {
		if doc, ok := docs[list[i].Name]; ok {
			list[i].Doc = doc
		}
	}
	return list
}

// Write writes a report.
func (s *Sheet) Write(w io.Writer, f ReportFormat) error {
	return ReportFormats().Write(w, s, f, &s.Options.Options)
}
