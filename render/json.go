package render

import (
	"io"
	"strconv"
	"strings"

	"kitescope/inspect/view"
	"kitescope/table"
	"kitescope/words"
)

var jsonWriter = &writer{
	name: "json", doc: "one JSON object with source and items, one item per line (docs/JSON.md)", show: view.Hidden,
	grid: func(w io.Writer, g *view.Grid, _ *Options) error {
		e := newJSON(w, itemsOnly)
		listDocument(g)(e)
		return e.flush()
	},
	structured: func(w io.Writer, d document, spread int, _ *Options) error {
		e := newJSON(w, spread)
		d(e)
		return e.flush()
	},
}

var jsonlWriter = &writer{
	name: "jsonl", doc: "one JSON object per line and item, without an envelope", show: view.Hidden,
	grid: func(w io.Writer, g *view.Grid, _ *Options) error {
		out := newOutput(w)
		writeRows(&out, g.Len(), func() *jsonLine { return &jsonLine{newItems(&g.Grid)} })
		return out.flush()
	},
	structured: func(w io.Writer, d document, _ int, _ *Options) error {
		e := newJSON(w, 0)
		d(e)
		return e.flush()
	},
}

// jsonLine is an item on a line of its own.
type jsonLine struct{ *items }

func (l *jsonLine) appendRow(dst []byte, i int) []byte {
	return append(l.items.appendRow(dst, i), '\n')
}

// jsonItem is an item in a list that is spread over lines.
type jsonItem struct {
	*items
	indent string
}

func (l *jsonItem) appendRow(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return l.items.appendRow(append(dst, l.indent...), i)
}

// rows writes all items of a grid into the list that has just begun.
func (e *jsonEncoder) rows(g *table.Grid) []*items {
	indent := "\n" + strings.Repeat("  ", e.depth)
	writers := writeRows(&e.output, g.Len(), func() *jsonItem { return &jsonItem{newItems(g), indent} })
	e.started = g.Len() > 0
	used := make([]*items, len(writers))
	for i, w := range writers {
		used[i] = w.items
	}
	return used
}

// jsonEncoder appends JSON. Objects down to depth open and lists one deeper are spread
// over lines; what is inside them stays on one.
type jsonEncoder struct {
	output
	open    int
	depth   int
	started bool // the innermost container has an element
	afterKey,
	inList bool
	lists []bool // kinds of the outer containers
}

func newJSON(w io.Writer, open int) *jsonEncoder {
	return &jsonEncoder{output: newOutput(w), open: open}
}

// before separates a value from what stands in front of it.
func (e *jsonEncoder) before() {
	if e.afterKey {
		e.afterKey = false
		return
	}
	if e.depth == 0 {
		return
	}
	if e.started {
		e.buf = append(e.buf, ',')
	}
	e.started = true
	e.breakLine(e.depth)
}

// breakLine starts a line for an element at a depth, if its container is spread.
func (e *jsonEncoder) breakLine(depth int) {
	if !e.spread() {
		return
	}
	e.buf = append(e.buf, '\n')
	for range depth {
		e.buf = append(e.buf, ' ', ' ')
	}
}

func (e *jsonEncoder) spread() bool {
	if e.inList {
		return e.depth <= e.open+1
	}
	return e.depth <= e.open
}

func (e *jsonEncoder) begin(bracket byte, list bool) {
	e.before()
	e.buf = append(e.buf, bracket)
	e.lists = append(e.lists, e.inList)
	e.inList, e.started = list, false
	e.depth++
}

func (e *jsonEncoder) end(bracket byte) {
	if e.started {
		e.breakLine(e.depth - 1)
	}
	e.buf = append(e.buf, bracket)
	e.depth--
	e.inList = e.lists[len(e.lists)-1]
	e.lists = e.lists[:len(e.lists)-1]
	e.started = true
	e.drain()
}

func (e *jsonEncoder) beginObject() { e.begin('{', false) }
func (e *jsonEncoder) endObject()   { e.end('}') }
func (e *jsonEncoder) beginList()   { e.begin('[', true) }
func (e *jsonEncoder) endList()     { e.end(']') }

func (e *jsonEncoder) key(name string) {
	e.before()
	e.buf = words.AppendJSON(e.buf, name)
	e.buf = append(e.buf, ':')
	if e.spread() {
		e.buf = append(e.buf, ' ')
	}
	e.afterKey = true
}

// spreadsItems reports whether an object that began here would be spread over lines.
func (e *jsonEncoder) spreadsItems() bool { return e.depth+1 <= e.open }

func (e *jsonEncoder) text(s string) {
	e.before()
	e.buf = words.AppendJSON(e.buf, s)
}

func (e *jsonEncoder) texts(list []string) {
	e.before()
	e.buf = append(e.buf, '[')
	for i, s := range list {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		e.buf = words.AppendJSON(e.buf, s)
	}
	e.buf = append(e.buf, ']')
}

func (e *jsonEncoder) integer(n int64) {
	e.before()
	e.buf = strconv.AppendInt(e.buf, n, 10)
}

func (e *jsonEncoder) id(n int64) {
	e.before()
	e.buf = append(e.buf, '"')
	e.buf = strconv.AppendInt(e.buf, n, 10)
	e.buf = append(e.buf, '"')
}

func (e *jsonEncoder) number(f float64) {
	e.before()
	e.buf = appendNumber(e.buf, f)
}

func (e *jsonEncoder) exact(f float64) {
	e.before()
	e.buf = appendExact(e.buf, f)
}

func (e *jsonEncoder) seconds(ns int64) {
	e.before()
	e.buf = appendSeconds(e.buf, ns)
}

func (e *jsonEncoder) boolean(b bool) {
	e.before()
	e.buf = strconv.AppendBool(e.buf, b)
}

func (e *jsonEncoder) time(ns int64) {
	e.before()
	e.buf = append(e.buf, '"')
	e.buf = appendTime(e.buf, ns)
	e.buf = append(e.buf, '"')
}

// line ends a value that stands for itself.
func (e *jsonEncoder) line() {
	e.buf = append(e.buf, '\n')
	e.started = false
	e.drain()
}

func (e *jsonEncoder) flush() error {
	e.buf = append(e.buf, '\n')
	return e.output.flush()
}
