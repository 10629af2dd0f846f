package tui

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"kitescope/inspect/view"
	"kitescope/table"
	"kitescope/tui/draw"
	"kitescope/words"
)

// filter decides which rows of a table stay. Its text is a list of terms, all of
// which must hold:
//
//	docs        a text that occurs in a cell, in any case
//	re:^docs_   a regular expression (RE2, any case) that matches a cell
//	state=x     a condition on a column, as on the command line: = != > >= < <= ~
//	!docs       a term that must not hold
//
// Quotes keep blanks together: "two words".
type filter struct {
	text  string
	terms []term
}

type term struct {
	negate bool
	text   []byte // lower case
	re     *regexp.Regexp
	where  *view.Selection // of one word
	word   string          // of where, for the command line
}

// parseFilter reads a filter's text for a resource.
func parseFilter(r *view.Resource, text string) (filter, error) {
	f := filter{text: strings.TrimSpace(text)}
	list, err := words.Split(f.text)
	if err != nil { // the quote that is still being typed
		list, _ = words.Split(f.text + f.text[strings.LastIndexAny(f.text, `'"`):][:1])
	}
	for _, w := range list {
		t, err := parseTerm(r, w)
		if err != nil {
			return filter{}, err
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

func (f *filter) empty() bool { return len(f.terms) == 0 }

// narrows reports whether every row that f keeps was kept by old: typing on.
func (f *filter) narrows(old *filter) bool {
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
	filter  *filter
	table   view.Table
	columns []int
	bound   []*table.Matcher // of terms with a condition, nil for the others
	buf     []byte
	ends    []int // where the text of each column ends in buf
}

func newMatcher(f *filter, t view.Table, columns []int) *matcher {
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

// matching is a filter on its way through the rows of a table, in pieces that are
// short enough for the loop to stay free and the first screenful to come at once.
type matching struct {
	page *gridPage
	// serial is the number of the page's request; newest is the number of its newest, an
	// outdated one stops.
	serial  int64
	newest  *atomic.Int64
	filter  filter
	table   view.Table
	columns []int
	// Candidates are head, then order from position from on; a nil order is every row in turn.
	head   []int32
	order  []int32
	from   int
	total  int     // candidates in all
	next   int     // candidates before it are decided
	found  []int32 // rows that stay, so far
	screen int     // rows that fill the screen
	now    func() time.Time
}

// How long one piece of a matching may take: the first is for the eye.
const (
	firstPiece = 5 * time.Millisecond
	laterPiece = 40 * time.Millisecond
	// matchStride is how many rows are decided between two looks at the clock.
	matchStride = 256
)

// step decides candidates until the time is up, or, in the first piece, until the screen is full.
func (j matching) step() matching {
	x := newMatcher(&j.filter, j.table, j.columns)
	budget, first := laterPiece, j.next == 0
	if first {
		budget = firstPiece
	}
	start := j.now()
	for j.next < j.total && j.serial == j.newest.Load() {
		end := min(j.next+matchStride, j.total)
		for ; j.next < end; j.next++ {
			if row := j.candidate(j.next); x.match(int(row)) {
				if len(j.found) == cap(j.found) {
					j.found = slices.Grow(j.found, max(matchStride, len(j.found)))
				}
				j.found = append(j.found, row)
			}
		}
		if j.now().Sub(start) >= budget || first && len(j.found) >= j.screen {
			break
		}
	}
	return j
}

// candidate is the row of the i-th candidate.
func (j *matching) candidate(i int) int32 {
	if i < len(j.head) {
		return j.head[i]
	}
	i += j.from - len(j.head)
	if j.order != nil {
		return j.order[i]
	}
	return int32(i)
}

// within makes the candidates of a filter that only narrows wider's: what that one has
// found, then what it had not looked at. Nothing is copied for the latter, as that may
// be a million rows for each key.
func (j matching) within(wider *matching) matching {
	j.head, j.order, j.from = wider.found, wider.order, wider.from
	if wider.next < len(wider.head) {
		j.head = slices.Concat(wider.found, wider.head[wider.next:])
	} else {
		j.from += wider.next - len(wider.head)
	}
	rest := wider.from + wider.total - len(wider.head) - j.from
	j.total = len(j.head) + rest
	return j
}

func (j *matching) done() bool { return j.next == j.total }

// progress is how much is decided, in percent.
func (j *matching) progress() int {
	if j.total == 0 {
		return 100
	}
	return 100 * j.next / j.total
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
