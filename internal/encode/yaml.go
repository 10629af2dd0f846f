package encode

import (
	"bytes"
	"slices"

	"kitescope/internal/words"
)

// yamlSink encodes block-style YAML.
type yamlSink struct {
	Output
	stack []yamlLevel
	// place is the position of the next value.
	place yamlPlace
}

// yamlLevel is an open container. The container is empty unless started is set.
type yamlLevel struct {
	list    bool
	started bool
	indent  int
	place   yamlPlace // position of the container itself
}

type yamlPlace uint8

const (
	atStart yamlPlace = iota // of the document
	afterKey
	afterDash
)

// element starts an element of the innermost container, which is a line with a dash in a list.
func (e *yamlSink) element() {
	if len(e.stack) == 0 {
		return
	}
	top := &e.stack[len(e.stack)-1]
	if !top.list {
		return
	}
	e.start(top)
	e.Buf = append(e.Buf, '-')
	e.place = afterDash
}

// start begins a line in a container. The first element of a container in a list continues the line of the dash.
func (e *yamlSink) start(top *yamlLevel) {
	first := !top.started
	top.started = true
	switch {
	case first && top.place == atStart:
	case first && top.place == afterDash:
		e.Buf = append(e.Buf, ' ')
		return
	default:
		e.Buf = append(e.Buf, '\n')
	}
	for range top.indent {
		e.Buf = append(e.Buf, ' ', ' ')
	}
}

func (e *yamlSink) begin(kind container) {
	e.element()
	indent := 0
	if n := len(e.stack); n > 0 {
		indent = e.stack[n-1].indent + 1
	}
	e.stack = append(e.stack, yamlLevel{list: kind != object, indent: indent, place: e.place})
}

func (e *yamlSink) end() {
	top := e.stack[len(e.stack)-1]
	e.stack = e.stack[:len(e.stack)-1]
	if !top.started {
		e.place = top.place
		e.separate()
		empty := "{}"
		if top.list {
			empty = "[]"
		}
		e.Buf = append(e.Buf, empty...)
	}
	e.Drain()
}

// longestKey limits the length of keys on the same line as their values, because parsers search only 1,024
// characters for the colon (YAML 1.2.2, 7.4.2).
const longestKey = 1000

func (e *yamlSink) key(name string) {
	top := &e.stack[len(e.stack)-1]
	e.start(top)
	start := len(e.Buf)
	e.Buf = appendPlain(e.Buf, name)
	if len(e.Buf)-start > longestKey { // write the colon on a line of its own
		e.Buf = slices.Insert(e.Buf, start, '?', ' ')
		e.start(top)
	}
	e.Buf = append(e.Buf, ':')
	e.place = afterKey
}

// separate writes a blank between a value and the key or dash before it.
func (e *yamlSink) separate() {
	if e.place != atStart {
		e.Buf = append(e.Buf, ' ')
	}
}

// put writes a scalar. It quotes times, because YAML 1.1 parsers convert plain ones to timestamps. It writes
// numbers with a dot or without an exponent, because those parsers read 1e-12 as text.
func (e *yamlSink) put(s scalar) {
	e.element()
	e.separate()
	start := len(e.Buf)
	e.Buf = s.append(e.Buf, appendPlain)
	if s.kind != exact && s.kind != whole {
		return
	}
	if at := bytes.IndexByte(e.Buf[start:], 'e'); at >= 0 && !bytes.ContainsRune(e.Buf[start:], '.') {
		e.Buf = slices.Insert(e.Buf, start+at, '.', '0')
	}
}

func (e *yamlSink) line() {
	e.Buf = append(e.Buf, '\n')
	e.place = atStart
}

func (e *yamlSink) flush() error {
	e.line()
	return e.Flush()
}

// appendPlain appends a string, without quotes if no parser of YAML 1.1 or 1.2 can misinterpret it: it starts
// with a letter or underscore, contains only letters, digits and - _ . /, and is not a word for a boolean or
// null.
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
