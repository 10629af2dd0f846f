package render

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/template"

	"kitescope/inspect/view"
	"kitescope/words"
)

var templateWriter = &writer{
	name: "template", doc: `a Go template over the document that json writes: template='{{range .items}}{{.id}}{{"\n"}}{{end}}'`,
	show: view.Hidden, argument: true,
	grid: func(w io.Writer, g *view.Grid, o *Options) error {
		return executeTemplate(w, listDocument(g), o)
	},
	structured: func(w io.Writer, d document, _ int, o *Options) error {
		return executeTemplate(w, d, o)
	},
}

// parseTemplate reads a template.
func parseTemplate(text string) (*template.Template, error) {
	t, err := template.New("output").Funcs(template.FuncMap{
		"json":  toJSON,
		"join":  joinAny,
		"upper": strings.ToUpper,
		"lower": strings.ToLower,
	}).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	return t, nil
}

func toJSON(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

func joinAny(separator string, list []any) string {
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = fmt.Sprint(v)
	}
	return strings.Join(parts, separator)
}

func executeTemplate(w io.Writer, d document, o *Options) error {
	t, err := parseTemplate(o.Format.template)
	if err != nil {
		return err
	}
	e := &valueEncoder{}
	d(e)
	out := bufio.NewWriter(w)
	if err := t.Execute(out, e.root); err != nil {
		return fmt.Errorf("execute template: %w", err)
	}
	return out.Flush()
}

// valueEncoder builds maps and lists, for templates.
type valueEncoder struct {
	root  any
	stack []container
	name  string
}

// container is a map, or a list that grows.
type container struct {
	object map[string]any
	list   []any
	name   string // key of the container in the one around it
}

// absent gives a key that other formats leave out a value that prints: in a template
// there is no other way to ask. It does nothing for a nil encoder.
func (e *valueEncoder) absent(name string, why view.Absence) {
	if e == nil {
		return
	}
	e.key(name)
	if why == view.Unknown {
		e.text(words.UnknownMark)
		return
	}
	e.text("")
}

func (e *valueEncoder) put(v any) {
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

func (e *valueEncoder) beginObject() {
	e.stack = append(e.stack, container{object: map[string]any{}, name: e.name})
}

func (e *valueEncoder) beginList() {
	e.stack = append(e.stack, container{list: []any{}, name: e.name})
}

func (e *valueEncoder) end() {
	top := e.stack[len(e.stack)-1]
	e.stack = e.stack[:len(e.stack)-1]
	e.name = top.name
	if top.object != nil {
		e.put(top.object)
		return
	}
	e.put(top.list)
}

func (e *valueEncoder) endObject()      { e.end() }
func (e *valueEncoder) endList()        { e.end() }
func (e *valueEncoder) key(name string) { e.name = name }
func (e *valueEncoder) text(s string)   { e.put(words.HarmlessLines(s)) }
func (e *valueEncoder) texts(list []string) {
	e.beginList()
	for _, s := range list {
		e.text(s)
	}
	e.endList()
}

func (e *valueEncoder) integer(n int64)  { e.put(n) }
func (e *valueEncoder) id(n int64)       { e.put(strconv.FormatInt(n, 10)) }
func (e *valueEncoder) number(f float64) { e.put(f) }
func (e *valueEncoder) exact(f float64)  { e.put(f) }
func (e *valueEncoder) seconds(ns int64) { e.put(float64(ns/1e6) / 1e3) }
func (e *valueEncoder) boolean(b bool)   { e.put(b) }
func (e *valueEncoder) time(ns int64)    { e.put(string(appendTime(nil, ns))) }
func (e *valueEncoder) flush() error     { return nil }

var (
	_ encoder = (*jsonEncoder)(nil)
	_ encoder = (*yamlEncoder)(nil)
	_ encoder = (*valueEncoder)(nil)
)
