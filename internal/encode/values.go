package encode

import "kitescope/internal/words"

// valueSink collects maps and lists for templates.
type valueSink struct {
	root  any
	stack []collected
	name  string
}

// collected is a map or a list under construction.
type collected struct {
	object map[string]any
	list   []any
	name   string // key of this container in its parent
}

func (e *valueSink) add(v any) {
	if len(e.stack) == 0 {
		e.root = v
		return
	}
	top := &e.stack[len(e.stack)-1]
	if top.object != nil {
		top.object[e.name] = v
		return
	}
	top.list = append(top.list, v)
}

func (e *valueSink) begin(kind container) {
	c := collected{name: e.name}
	if kind == object {
		c.object = map[string]any{}
	} else {
		c.list = []any{}
	}
	e.stack = append(e.stack, c)
}

func (e *valueSink) end() {
	top := e.stack[len(e.stack)-1]
	e.stack = e.stack[:len(e.stack)-1]
	e.name = top.name
	if top.object != nil {
		e.add(top.object)
		return
	}
	e.add(top.list)
}

func (e *valueSink) key(name string) { e.name = words.Sanitize(name) }
func (e *valueSink) put(s scalar)    { e.add(s.value(words.SanitizeLines)) }
func (e *valueSink) line()           {}
func (e *valueSink) flush() error    { return nil }
