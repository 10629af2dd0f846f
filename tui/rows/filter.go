package rows

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"kitescope/inspect/view"
	"kitescope/table"
	"kitescope/tui/draw"
	"kitescope/words"
)

// Filter decides which rows of a table stay. Its text is a list of terms, all of
// which must hold:
//
//	docs        a text that occurs in a cell, in any case
//	re:^docs_   a regular expression (RE2, any case) that matches a cell
//	state=x     a condition on a column, as on the command line: = != > >= < <= ~
//	!docs       a term that must not hold
//
// Quotes keep blanks together: "two words".
type Filter struct {
	Text  string
	terms []term
}

type term struct {
	negate bool
	text   []byte // lower case
	re     *regexp.Regexp
	where  *view.Selection // of one word
	word   string          // of where, for the command line
}

// ParseFilter reads a filter's text for a resource.
func ParseFilter(r *view.Resource, text string) (Filter, error) {
	f := Filter{Text: strings.TrimSpace(text)}
	list, err := words.Split(f.Text)
	if err != nil { // the quote that is still being typed
		list, _ = words.Split(f.Text + f.Text[strings.LastIndexAny(f.Text, `'"`):][:1])
	}
	for _, w := range list {
		t, err := parseTerm(r, w)
		if err != nil {
			return Filter{}, err
		}
		if t.re != nil || t.where != nil || len(t.text) > 0 {
			f.terms = append(f.terms, t)
		}
	}
	return f, nil
}

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
	if at := strings.IndexAny(w, "=!<>~"); at > 0 {
		column, _, _ := strings.Cut(w[:at], ".")
		if r.Column(strings.ToLower(column)) >= 0 {
			if strings.Trim(w[at:], "=!<>~") == "" { // the value is still to be typed
				return t, nil
			}
			where, err := view.ParseSelection(r, []string{w})
			t.where, t.word = &where, w
			return t, err
		}
	}
	t.text = bytes.ToLower([]byte(w))
	return t, nil
}

// Empty reports whether it keeps every row.
func (f *Filter) Empty() bool { return len(f.terms) == 0 }

// Narrows reports whether every row that f keeps was kept by old: typing on.
func (f *Filter) Narrows(old *Filter) bool {
	if len(old.terms) == 0 || len(f.terms) < len(old.terms) {
		return false
	}
	for i, o := range old.terms {
		if o.negate || o.text == nil || f.terms[i].negate || !bytes.Contains(f.terms[i].text, o.text) {
			return false
		}
	}
	return true
}

// matcher applies a filter to rows of one table; it has buffers, so each goroutine needs its own.
type matcher struct {
	filter  *Filter
	table   view.Table
	columns []int
	bound   []*table.Matcher // of terms with a condition, nil for the others
	buf     []byte
	ends    []int // where the text of each column ends in buf
}

func newMatcher(f *Filter, t view.Table, columns []int) *matcher {
	x := &matcher{filter: f, table: t, columns: columns, bound: make([]*table.Matcher, len(f.terms))}
	for i := range f.terms {
		if f.terms[i].where != nil {
			x.bound[i] = f.terms[i].where.On(t)
		}
	}
	return x
}

// match reports whether a row stays.
func (x *matcher) match(row int) bool {
	written := false
	for i := range x.filter.terms {
		if x.bound[i] == nil && !written {
			x.write(row)
			written = true
		}
		if x.holds(i, row) == x.filter.terms[i].negate {
			return false
		}
	}
	return true
}

func (x *matcher) holds(i, row int) bool {
	t := &x.filter.terms[i]
	switch {
	case x.bound[i] != nil:
		return x.bound[i].Match(row)
	case t.re != nil:
		from := 0
		for _, to := range x.ends {
			if t.re.Match(x.buf[from : to-1]) {
				return true
			}
			from = to
		}
		return false
	}
	return bytes.Contains(x.buf, t.text)
}

// write puts the lower-cased texts of a row's cells into buf, with a zero byte after each.
func (x *matcher) write(row int) {
	x.buf, x.ends = x.buf[:0], x.ends[:0]
	cols := x.table.Resource().Columns
	for _, c := range x.columns {
		from := len(x.buf)
		x.buf = draw.AppendCell(x.buf, &cols[c], x.table.Cell(row, c))
		x.buf = append(lower(x.buf, from), 0)
		x.ends = append(x.ends, len(x.buf))
	}
}

// lower lower-cases buf from an offset on, in place where it is ASCII.
func lower(buf []byte, from int) []byte {
	for i := from; i < len(buf); i++ {
		c := buf[i]
		if c >= utf8.RuneSelf {
			return append(buf[:from], bytes.ToLower(buf[from:])...)
		}
		if 'A' <= c && c <= 'Z' {
			buf[i] = c + 'a' - 'A'
		}
	}
	return buf
}
