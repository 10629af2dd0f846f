package encode

import (
	"io"
	"strings"

	"kitescope/internal/words"
)

// jsonSink encodes JSON.
type jsonSink struct {
	Output
	open    int
	levels  []container // open containers
	started bool        // the innermost container has an element
	keyed   bool        // the last token is a key
	written bool        // the current document is not empty
}

// separate writes the separator before a value or key.
func (e *jsonSink) separate() {
	e.written = true
	switch {
	case e.keyed:
		e.keyed = false
	case len(e.levels) > 0:
		if e.started {
			e.Buf = append(e.Buf, ',')
		}
		e.started = true
		e.breakLine(len(e.levels))
	}
}

// breakLine starts a new line for an element at the given depth, if the innermost container is spread over lines.
func (e *jsonSink) breakLine(depth int) {
	if !e.spread() {
		return
	}
	e.Buf = append(e.Buf, '\n')
	for range depth {
		e.Buf = append(e.Buf, ' ', ' ')
	}
}

// spread reports whether the innermost container has a line per element.
func (e *jsonSink) spread() bool {
	depth := len(e.levels)
	if depth == 0 {
		return 0 <= e.open
	}
	switch e.levels[depth-1] {
	case list:
		return depth <= e.open+1
	case line:
		return false
	default:
		return depth <= e.open
	}
}

func (e *jsonSink) begin(kind container) {
	e.separate()
	e.Buf = append(e.Buf, "{[["[kind])
	e.levels = append(e.levels, kind)
	e.started = false
}

func (e *jsonSink) end() {
	kind := e.levels[len(e.levels)-1]
	if e.started {
		e.breakLine(len(e.levels) - 1)
	}
	e.Buf = append(e.Buf, "}]]"[kind])
	e.levels = e.levels[:len(e.levels)-1]
	e.started = true
	e.Drain()
}

func (e *jsonSink) key(name string) {
	e.separate()
	e.Buf = append(words.AppendJSON(e.Buf, name), ':')
	if e.spread() {
		e.Buf = append(e.Buf, ' ')
	}
	e.keyed = true
}

func (e *jsonSink) put(s scalar) {
	e.separate()
	e.Buf = s.append(e.Buf, words.AppendJSON)
}

func (e *jsonSink) line() {
	e.Buf = append(e.Buf, '\n')
	e.started, e.written = false, false
	e.Drain()
}

func (e *jsonSink) flush() error {
	if e.written {
		e.line()
	}
	return e.Flush()
}

// Items calls rows to write the n elements of the list that was just begun, one JSON value per line. rows must
// write the given separator between elements. Items returns false without writing anything if the format is not
// JSON.
func (e *Encoder) Items(n int, rows func(w io.Writer, separator string) error) bool {
	s, is := e.sink.(*jsonSink)
	if !is {
		return false
	}
	if s.Flush() == nil {
		s.err = rows(s.w, "\n"+strings.Repeat("  ", len(s.levels)))
	}
	s.started = n > 0
	return true
}
