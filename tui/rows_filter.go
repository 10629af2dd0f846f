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

// rowFilter decides which rows of a table stay. Its text is a list of terms, all of
// which must hold:
//
//	docs        a text that occurs in a cell, in any case
//	re:^docs_   a regular expression (RE2, any case) that matches a cell
//	state=x     a condition on a column, as on the command line: = != > >= < <= ~
//	            (served by=x is served_by=x; re: finds texts such as a=b)
//	!docs       a term that must not hold
//
// Quotes keep blanks together: "two words".
type rowFilter struct {
	Text  string
	terms []term
}

type term struct {
	negate bool
	text   []byte // lower case
	number []byte // the same without what keeps thousands apart
	re     *regexp.Regexp
	where  *view.Selection // of one word
	word   string          // of where, for the command line
}

// parseRowFilter reads a filter's text for a resource.
func parseRowFilter(r *view.Resource, text string) (rowFilter, error) {
	f := rowFilter{Text: strings.TrimSpace(text)}
	list, err := words.Split(f.Text)
	if err != nil { // the quote that is still being typed
		list, _ = words.Split(f.Text + f.Text[strings.LastIndexAny(f.Text, `'"`):][:1])
	}
	for _, w := range joined(r, list) {
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

// joined puts back together what stands in cells and headers with a blank: "served by=13", "size=1.2 MiB".
func joined(r *view.Resource, list []string) []string {
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

// condition is a word about a column, there or not.
var condition = regexp.MustCompile(`^[A-Za-z0-9_. -]+[=!<>~]`)

// unit and value are what a size is written of.
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
		if r.Column(strings.ToLower(column)) >= 0 && strings.Trim(w[at:], "=!<>~") == "" { // the value is still to be typed
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

// in is the text as a column of a kind has it: a count is shown as "50,200", and found by that and by "50200".
func (t *term) in(kind table.Kind) []byte {
	if kind == table.Int && len(t.number) > 0 {
		return t.number
	}
	return t.text
}

// Empty reports whether it keeps every row.
func (f *rowFilter) Empty() bool { return len(f.terms) == 0 }
