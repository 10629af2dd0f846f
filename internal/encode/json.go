package encode

import (
	"io"
	"strings"

	"kitescope/internal/words"
)

// jsonSink appends JSON.
type jsonSink struct {
	Output
	open    int
	levels  []container // that are open
	started bool        // the innermost container has an element
	keyed   bool        // a key has just been written
	told    bool        // something was written since the last line
}

// before separates a value from what stands in front of it.
func (e *jsonSink) before() {
	e.told = true
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

// breakLine starts a line for an element at a depth, if its container is spread.
func (e *jsonSink) breakLine(depth int) {
	if !e.spread() {
		return
	}
	e.Buf = append(e.Buf, '\n')
	for range depth {
		e.Buf = append(e.Buf, ' ', ' ')
	}
}

// spread reports whether the innermost container has a line for each element.
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
	e.before()
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
	e.before()
	e.Buf = append(words.AppendJSON(e.Buf, name), ':')
	if e.spread() {
		e.Buf = append(e.Buf, ' ')
	}
	e.keyed = true
}

func (e *jsonSink) put(s scalar) {
	e.before()
	e.Buf = s.append(e.Buf, words.AppendJSON)
}

func (e *jsonSink) line() {
	e.Buf = append(e.Buf, '\n')
	e.started, e.told = false, false
	e.Drain()
}

func (e *jsonSink) flush() error {
	if e.told {
		e.line()
	}
	return e.Flush()
}

// Items has the elements of the list that has just begun written, as JSON on a line each: rows gets what separates them. It reports false, and
// has done nothing, if elements are not written so here.
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
