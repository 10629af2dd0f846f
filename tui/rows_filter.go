package tui

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"kitescope/inspect/view"
	"kitescope/internal/table"
	"kitescope/internal/words"
)

// rowFilter selects rows of a table. Its text is a list of terms, which must all match:
//
//	docs        a text that occurs in a cell, case-insensitively
//	re:^docs_   a regular expression (RE2, case-insensitive) that matches a cell
//	state=x     a condition on a column, as on the command line: = != > >= < <= ~
//	            (served by=x is served_by=x; re: finds texts such as a=b)
//	!docs       a negated term
//
// Quotes keep blanks together: "two words".
type rowFilter struct {
	Text  string
	terms []term
}

type term struct {
	negate bool
	text   []byte // lower case
	number []byte // text without thousands separators
	re     *regexp.Regexp
	where  *view.Selection // the selection that the term parses to
	word   string          // source of where, for the command line
}

// parseRowFilter parses the text of a filter for a resource.
func parseRowFilter(r *view.Resource, text string) (rowFilter, error) {
	f := rowFilter{Text: strings.TrimSpace(text)}
	list, err := words.Split(f.Text)
	if err != nil { // the closing quote is not typed yet
		list, _ = words.Split(f.Text + f.Text[strings.LastIndexAny(f.Text, `'"`):][:1])
	}
	for _, w := range joinWords(r, list) {
		t, err := parseTerm(r, w)
		if err != nil {
			return rowFilter{}, err
		}
		if t.re != nil || t.where != nil || len(t.text) > 0 {
			f.terms = append(f.terms, t)
		}
	}
	return f, nil
}

// joinWords joins words that headers and cells write with a blank, e.g. "served by=13" and "size=1.2 MiB".
func joinWords(r *view.Resource, list []string) []string {
	var out []string
	for _, w := range list {
		last := len(out) - 1
		if last >= 0 && unit.MatchString(w) && value.MatchString(out[last]) {
			out[last] += " " + w
			continue
		}
		if at := strings.IndexAny(w, "=!<>~"); at > 0 {
			for from := last; from >= 0; from-- {
				name := strings.Join(append(slices.Clone(out[from:]), w[:at]), "_")
				if r.Column(strings.ToLower(name)) >= 0 {
					out, w = out[:from], name+w[at:]
					break
				}
			}
		}
		out = append(out, w)
	}
	return out
}

// condition matches a condition on any column, whether or not the column exists.
var condition = regexp.MustCompile(`^[A-Za-z0-9_. -]+[=!<>~]`)

// unit and value match the two parts of a size.
var (
	unit  = regexp.MustCompile(`^(?i)([kmgtpe]i)?b$`)
	value = regexp.MustCompile(`[=<>][0-9.]+$`)
)

func parseTerm(r *view.Resource, w string) (term, error) {
	var t term
	w, t.negate = strings.CutPrefix(w, "!")
	if expr, ok := strings.CutPrefix(w, "re:"); ok {
		if expr == "" {
			return t, nil
		}
		re, err := regexp.Compile("(?i)" + expr)
		if err != nil {
			return t, fmt.Errorf("re:%s is not a regular expression yet", expr)
		}
		t.re = re
		return t, nil
	}
	if condition.MatchString(w) {
		at := strings.IndexAny(w, "=!<>~")
		column, _, _ := strings.Cut(w[:at], ".")
		if r.Column(strings.ToLower(column)) >= 0 && strings.Trim(w[at:], "=!<>~") == "" { // the value is not typed yet
			return t, nil
		}
		where, err := view.ParseSelection(r, []string{w})
		t.where, t.word = &where, w
		return t, err
	}
	t.text = bytes.ToLower([]byte(w))
	t.number = bytes.ReplaceAll(t.text, []byte(","), nil)
	return t, nil
}

// textFor returns the text to search for in a column of the given kind. Counts are shown with thousands separators
// ("50,200") and are found with and without them.
func (t *term) textFor(kind table.Kind) []byte {
	if kind == table.Int && len(t.number) > 0 {
		return t.number
	}
	return t.text
}

// Empty reports whether the filter keeps every row.
func (f *rowFilter) Empty() bool { return len(f.terms) == 0 }
