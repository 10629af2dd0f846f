package render

import (
	"io"

	"kitescope/profile"
)

// ReportFormat is a parsed -o word of reports. The zero value is table.
type ReportFormat struct{ form *form[sheetWriter] }

type sheetWriter func(w io.Writer, s *sheet) error

// ReportOptions say how reports are written.
type ReportOptions struct {
	Options
	// Limit is how many entries are shown, 0 for all.
	Limit int
	// By says what entries are, Label the key where they are values of a label.
	By    profile.By
	Label string
}

// sheetWriters are the formats of reports, in the order of help.
func sheetWriters() forms[sheetWriter] {
	return forms[sheetWriter]{
		{"table", "aligned columns; on a terminal names are shortened to fit (default)", false, writeSheet},
		{"wide", "the same with samples, class and file, never shortened", false, writeSheetWide},
		{"json", "one JSON object, one item per line (docs/JSON.md)", true, writeSheetJSON},
		{"jsonl", "one JSON object per line and item", true, writeSheetLines},
		{"yaml", "the same as json, as YAML", true, writeSheetYAML},
		{"csv", "comma-separated values as in RFC 4180, columns named as in json", true, writeSheetCSV},
		{"markdown", "a table for pull requests and tickets", false, writeSheetMarkdown},
	}
}

// ParseReportFormat reads "table", "markdown" and so on; "" is table, "text" too.
func ParseReportFormat(word string) (ReportFormat, error) {
	f, err := sheetWriters().parse(word)
	return ReportFormat{f}, err
}

// ReportFormatNames are the words that ParseReportFormat knows.
func ReportFormatNames() []string { return sheetWriters().names() }

// ReportFormatDoc explains the formats, one a line.
func ReportFormatDoc() string { return sheetWriters().help() }

func (f ReportFormat) to() *form[sheetWriter] { return sheetWriters().or(f.form) }

// Name is the format's word.
func (f ReportFormat) Name() string { return f.to().name }

// Structured reports whether scripts read the format: no colour, no hints.
func (f ReportFormat) Structured() bool { return f.to().scripts }
