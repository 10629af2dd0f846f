package render

import (
	"io"

	"kitescope/profile"
)

// ProfileFormat is a parsed -o word of the reports about profiles. The zero value is table.
type ProfileFormat struct{ form *form[profileWriter] }

type profileWriter func(w io.Writer, s *profileSheet) error

// ProfileOptions say how reports about profiles are written.
type ProfileOptions struct {
	Options
	// Limit is how many entries are shown, 0 for all.
	Limit int
	// By says what entries are, Label the key where they are values of a label.
	By    profile.By
	Label string
}

// profileWriters are the formats of reports about profiles, in the order of help.
func profileWriters() forms[profileWriter] {
	return forms[profileWriter]{
		{"table", "aligned columns; on a terminal names are shortened to fit (default)", false, writeSheet},
		{"wide", "the same with samples, class and file, never shortened", false, writeSheetWide},
		{"json", "one JSON object, one item per line (docs/JSON.md)", true, writeSheetJSON},
		{"jsonl", "one JSON object per line and item", true, writeSheetLines},
		{"yaml", "the same as json, as YAML", true, writeSheetYAML},
		{"csv", "comma-separated values as in RFC 4180, columns named as in json", true, writeSheetCSV},
		{"markdown", "a table for pull requests and tickets", false, writeSheetMarkdown},
	}
}

// ParseProfileFormat reads "table", "markdown" and so on; "" is table, "text" too.
func ParseProfileFormat(word string) (ProfileFormat, error) {
	f, err := profileWriters().parse(word)
	return ProfileFormat{f}, err
}

// ProfileFormatNames are the words that ParseProfileFormat knows.
func ProfileFormatNames() []string { return profileWriters().names() }

// ProfileFormatDoc explains the formats, one a line.
func ProfileFormatDoc() string { return profileWriters().help() }

func (f ProfileFormat) to() *form[profileWriter] { return profileWriters().or(f.form) }

// Name is the format's word.
func (f ProfileFormat) Name() string { return f.to().name }

// Structured reports whether scripts read the format: no colour, no hints.
func (f ProfileFormat) Structured() bool { return f.to().scripts }
