package render

import (
	"bytes"
	"io"
	"slices"
	"strconv"

	"kitescope/inspect/view"
	"kitescope/words"
)

var yamlWriter = &writer{
	name: "yaml", doc: "the same as json, as YAML", show: view.Hidden,
	grid: func(w io.Writer, g *view.Grid, _ *Options) error {
		e := newYAML(w)
		listDocument(g)(e)
		return e.flush()
	},
	structured: func(w io.Writer, d document, _ int, _ *Options) error {
		e := newYAML(w)
		d(e)
		return e.flush()
	},
}

// yamlEncoder appends block style YAML of the same structure as the JSON.
type yamlEncoder struct {
	output
	stack []yamlLevel
	// place is where the next value stands.
	place yamlPlace
}

// yamlLevel is an open container. Its first element decides whether it was empty.
type yamlLevel struct {
	list    bool
	started bool
	indent  int
	place   yamlPlace // where the container itself stands
}

type yamlPlace uint8

const (
	atStart yamlPlace = iota // of the document
	afterKey
	afterDash
)

func newYAML(w io.Writer) *yamlEncoder { return &yamlEncoder{output: newOutput(w)} }

// element starts an element of the innermost container: a line with a dash in a list.
func (e *yamlEncoder) element() {
	if len(e.stack) == 0 {
		return
	}
	top := &e.stack[len(e.stack)-1]
	if !top.list {
		return
	}
	e.start(top)
	e.buf = append(e.buf, '-')
	e.place = afterDash
}

// start begins a line in a container. The first element of a container inside a list
// stands on the line of the dash.
func (e *yamlEncoder) start(top *yamlLevel) {
	first := !top.started
	top.started = true
	switch {
	case first && top.place == atStart:
	case first && top.place == afterDash:
		e.buf = append(e.buf, ' ')
		return
	default:
		e.buf = append(e.buf, '\n')
	}
	for range top.indent {
		e.buf = append(e.buf, ' ', ' ')
	}
}

func (e *yamlEncoder) begin(list bool) {
	e.element()
	indent := 0
	if n := len(e.stack); n > 0 {
		indent = e.stack[n-1].indent + 1
	}
	e.stack = append(e.stack, yamlLevel{list: list, indent: indent, place: e.place})
}

func (e *yamlEncoder) end(empty string) {
	top := e.stack[len(e.stack)-1]
	e.stack = e.stack[:len(e.stack)-1]
	if !top.started {
		e.place = top.place
		e.scalar()
		e.buf = append(e.buf, empty...)
	}
	e.drain()
}

func (e *yamlEncoder) beginObject() { e.begin(false) }
func (e *yamlEncoder) endObject()   { e.end("{}") }
func (e *yamlEncoder) beginList()   { e.begin(true) }
func (e *yamlEncoder) endList()     { e.end("[]") }

func (e *yamlEncoder) key(name string) {
	e.start(&e.stack[len(e.stack)-1])
	e.buf = appendPlain(e.buf, name)
	e.buf = append(e.buf, ':')
	e.place = afterKey
}

// scalar separates a value from the key or dash in front of it.
func (e *yamlEncoder) scalar() {
	if e.place != atStart {
		e.buf = append(e.buf, ' ')
	}
}

func (e *yamlEncoder) text(s string) {
	e.element()
	e.scalar()
	e.buf = appendPlain(e.buf, s)
}

func (e *yamlEncoder) texts(list []string) {
	e.beginList()
	for _, s := range list {
		e.text(s)
	}
	e.endList()
}

func (e *yamlEncoder) integer(n int64) {
	e.element()
	e.scalar()
	e.buf = strconv.AppendInt(e.buf, n, 10)
}

func (e *yamlEncoder) id(n int64) {
	e.element()
	e.scalar()
	e.buf = append(e.buf, '"')
	e.buf = strconv.AppendInt(e.buf, n, 10)
	e.buf = append(e.buf, '"')
}

func (e *yamlEncoder) number(f float64) {
	e.element()
	e.scalar()
	e.buf = appendNumber(e.buf, f)
}

// exact writes a number with a dot or without an exponent: to YAML 1.1, 1e-12 is a text.
func (e *yamlEncoder) exact(f float64) {
	e.element()
	e.scalar()
	start := len(e.buf)
	e.buf = appendExact(e.buf, f)
	if at := bytes.IndexByte(e.buf[start:], 'e'); at >= 0 && !bytes.ContainsRune(e.buf[start:], '.') {
		e.buf = slices.Insert(e.buf, start+at, '.', '0')
	}
}

func (e *yamlEncoder) seconds(ns int64) {
	e.element()
	e.scalar()
	e.buf = appendSeconds(e.buf, ns)
}

func (e *yamlEncoder) boolean(b bool) {
	e.element()
	e.scalar()
	e.buf = strconv.AppendBool(e.buf, b)
}

// time is quoted: YAML 1.1 readers make timestamps of their own of plain ones.
func (e *yamlEncoder) time(ns int64) {
	e.element()
	e.scalar()
	e.buf = append(e.buf, '"')
	e.buf = appendTime(e.buf, ns)
	e.buf = append(e.buf, '"')
}

func (e *yamlEncoder) flush() error {
	e.buf = append(e.buf, '\n')
	return e.output.flush()
}

// appendPlain appends a string without quotes where no reader of YAML 1.1 or 1.2 can
// take it for anything else: letters first, then letters, digits and - _ . /, and no
// word that means a truth value or nothing.
func appendPlain(dst []byte, s string) []byte {
	if !isPlain(s) {
		return words.AppendYAML(dst, s)
	}
	return append(dst, s...)
}

func isPlain(s string) bool {
	if s == "" || !isLetter(s[0]) && s[0] != '_' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !isLetter(c) && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' && c != '/' {
			return false
		}
	}
	switch s {
	case "y", "Y", "n", "N", "yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF",
		"true", "True", "TRUE", "false", "False", "FALSE", "null", "Null", "NULL":
		return false
	}
	return true
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
