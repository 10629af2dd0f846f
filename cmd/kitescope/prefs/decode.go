package prefs

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"kitescope/internal/hints"
)

// Problem is something that is wrong with the file.
type Problem struct {
	Line int // 0: unknown
	Path string
	Text string
	// Unknown says that nothing reads what stands there; all that is read may be right.
	Unknown bool
}

func (p Problem) String() string {
	if p.Line == 0 {
		return p.Text
	}
	return "line " + strconv.Itoa(p.Line) + ": " + p.Text
}

// Lines are where keys stand, by their path: "views.segments.columns".
type Lines map[string]int

// Problem is one of what stands at a path.
func (l Lines) Problem(path, format string, args ...any) Problem {
	return Problem{Line: l[path], Path: path, Text: fmt.Sprintf(format, args...)}
}

// deepest bounds how deep a file is gone into: anchors can make it endless.
const deepest = 16

// Decode reads the text of a file into what into points to, a struct. Keys that it has no field for, values of another kind and
// keys that stand twice are problems; what they would have set keeps its value.
func Decode(text []byte, into any) (Lines, []Problem) {
	d := decoder{lines: Lines{}}
	root, err := parse(text)
	switch {
	case err != nil:
		return d.lines, []Problem{syntax(err)}
	case root != nil:
		d.value(root, reflect.ValueOf(into).Elem(), "", "")
	}
	return d.lines, d.problems
}

// parse is the first value of a file, nil if it has none.
func parse(text []byte) (*yaml.Node, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	if len(document.Content) == 0 {
		return nil, nil //nolint:nilnil // an empty file is no error
	}
	return document.Content[0], nil
}

var yamlLine = regexp.MustCompile(`^yaml: line (\d+): (.*)`)

func syntax(err error) Problem {
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		line, _ := strconv.Atoi(m[1])
		return Problem{Line: line, Text: "not YAML: " + m[2]}
	}
	return Problem{Text: "not YAML: " + strings.TrimPrefix(err.Error(), "yaml: ")}
}

type decoder struct {
	lines    Lines
	problems []Problem
	wrongs   int // how many of them are about what is read
	depth    int
}

func (d *decoder) wrong(n *yaml.Node, path, format string, args ...any) {
	d.problems = append(d.problems, Problem{Line: n.Line, Path: path, Text: fmt.Sprintf(format, args...)})
	d.wrongs++
}

// value reads a node into v; allowed are the words that it may be, "" for any.
func (d *decoder) value(n *yaml.Node, v reflect.Value, path, allowed string) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if d.depth++; d.depth > deepest {
		d.wrong(n, path, "too deep")
	}
	defer func() { d.depth-- }()
	if n.Tag == "!!null" || d.depth > deepest {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		to := reflect.New(v.Type().Elem())
		before := d.wrongs
		if d.value(n, to.Elem(), path, allowed); d.wrongs == before {
			v.Set(to)
		}
	case reflect.String:
		d.text(n, v, path, allowed)
	case reflect.Bool:
		var is bool
		if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" || n.Decode(&is) != nil {
			d.wrong(n, path, "%s is true or false, not %s", path, shown(n))
			return
		}
		v.SetBool(is)
	case reflect.Slice:
		d.list(n, v, path)
	case reflect.Map:
		d.mapping(n, v, path)
	case reflect.Struct:
		d.object(n, v, path)
	default:
		panic("no such type in a configuration: " + v.Type().String())
	}
}

func (d *decoder) text(n *yaml.Node, v reflect.Value, path, allowed string) {
	switch {
	case n.Kind != yaml.ScalarNode:
		d.wrong(n, path, "%s is a text, not %s", path, shown(n))
	case allowed != "" && !slices.Contains(strings.Split(allowed, ","), n.Value):
		d.wrong(n, path, "%s is one of %s, not %q%s", path, strings.ReplaceAll(allowed, ",", ", "), n.Value, hints.MeantBy(n.Value, strings.Split(allowed, ",")))
	default:
		v.SetString(n.Value)
	}
}

func (d *decoder) list(n *yaml.Node, v reflect.Value, path string) {
	words := v.Type() == reflect.TypeFor[Words]()
	if words && n.Kind == yaml.ScalarNode {
		v.Set(reflect.ValueOf(Words{n.Value}))
		return
	}
	if n.Kind != yaml.SequenceNode {
		d.wrong(n, path, "%s is a list, not %s", path, shown(n))
		return
	}
	list := reflect.MakeSlice(v.Type(), 0, len(n.Content))
	for i, item := range n.Content {
		at := path + "." + strconv.Itoa(i)
		d.lines[at] = item.Line
		one, before := reflect.New(v.Type().Elem()).Elem(), d.wrongs
		if d.value(item, one, at, ""); d.wrongs == before {
			list = reflect.Append(list, one)
		} else { // an index must go on meaning the item that stands there
			list = reflect.Append(list, reflect.Zero(v.Type().Elem()))
		}
	}
	v.Set(list)
}

func (d *decoder) mapping(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		d.wrong(n, path, "%s is a map of names and values, not %s", path, shown(n))
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	d.pairs(n, path, func(key, value *yaml.Node, at string) {
		one, before := reflect.New(v.Type().Elem()).Elem(), d.wrongs
		if d.value(value, one, at, ""); d.wrongs == before {
			v.SetMapIndex(reflect.ValueOf(key.Value), one)
		}
	})
}

func (d *decoder) object(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		what := path
		if what == "" {
			what = "the file"
		}
		d.wrong(n, path, "%s is a map of keys and values, not %s", what, shown(n))
		return
	}
	fields := fieldsOf(v.Type())
	d.pairs(n, path, func(key, value *yaml.Node, at string) {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == key.Value })
		if i < 0 {
			var known []string
			for _, f := range fields {
				known = append(known, f.name)
			}
			hint := hints.MeantBy(key.Value, known)
			if hint == "" {
				hint = "; available: " + strings.Join(known, ", ")
			}
			d.problems = append(d.problems, Problem{Line: key.Line, Path: at, Text: fmt.Sprintf("unknown key %q%s", at, hint), Unknown: true})
			return
		}
		d.value(value, v.FieldByIndex(fields[i].index), at, fields[i].enum)
	})
}

// pairs goes over the keys of a map.
func (d *decoder) pairs(n *yaml.Node, path string, each func(key, value *yaml.Node, at string)) {
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		at := key.Value
		if path != "" {
			at = path + "." + at
		}
		switch {
		case key.Kind != yaml.ScalarNode:
			d.wrong(key, path, "a key is a word, not %s", shown(key))
		case seen[key.Value]:
			d.wrong(key, at, "%s stands twice", at)
		default:
			seen[key.Value] = true
			d.lines[at] = key.Line
			each(key, n.Content[i+1], at)
		}
	}
}

// shown is a node in a message.
func shown(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a map"
	default:
	}
	return strconv.Quote(n.Value)
}

// field is a key of a map in the file.
type field struct {
	name, doc, enum, usual string
	index                  []int
	typ                    reflect.Type
	required               bool
}

// fieldsOf are the keys that a type stands for; those of embedded structs are its own.
func fieldsOf(t reflect.Type) []field {
	var list []field
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if f.Anonymous || name == "" {
			continue
		}
		list = append(list, field{
			name: name, doc: f.Tag.Get("doc"), enum: f.Tag.Get("enum"), usual: f.Tag.Get("default"), index: f.Index, typ: f.Type,
			required: !strings.Contains(options, "omitempty"),
		})
	}
	return list
}
