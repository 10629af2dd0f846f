package prefs

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	var p Preferences
	lines, problems := Decode([]byte(`# mine
theme: dark
mouse: false
keys:
  copy: y
  save: [s, ctrl+s]
aliases: {pods: nodes}
views:
  segments: {columns: [id, rows], sort: -rows}
actions:
  - name: logs
    on: nodes
    run: echo {id}
`), &p)
	no := false
	want := Preferences{
		Theme: "dark", Mouse: &no, Keys: map[string]Words{"copy": {"y"}, "save": {"s", "ctrl+s"}}, Aliases: map[string]string{"pods": "nodes"},
		Views: map[string]View{"segments": {Columns: Words{"id", "rows"}, Sort: Words{"-rows"}}}, Actions: []Action{{Name: "logs", On: Words{"nodes"}, Run: "echo {id}"}},
	}
	if diff := cmp.Diff(want, p); diff != "" || len(problems) > 0 {
		t.Errorf("%v %s", problems, diff)
	}
	if lines["views.segments.sort"] != 9 || lines["actions.0.run"] != 13 {
		t.Errorf("lines: %v", lines)
	}
}

// TestProblems: each is told with its line, and what is right holds.
func TestProblems(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"teme: dark\n":                        `line 1: unknown key "teme"; did you mean theme?`,
		"theme: dark\n\ncolour: x\n":          `line 3: unknown key "colour"; available: theme, ascii`,
		"mouse: 5\ntheme: dark\n":             `line 1: mouse is true or false, not "5"`,
		"theme: [a]\n":                        "line 1: theme is a text, not a list",
		"ascii: allways\n":                    `line 1: ascii is one of auto, always, never, not "allways"; did you mean always?`,
		"keys: [a]\n":                         "line 1: keys is a map of names and values, not a list",
		"actions: {a: b}\n":                   "line 1: actions is a list, not a map",
		"actions:\n  - name: x\n    rum: y\n": `line 3: unknown key "actions.0.rum"; did you mean`,
		"theme: dark\ntheme: light\n":         "line 2: theme stands twice",
		"theme: 'dark\n":                      "line 2: not YAML: ",
		"- a\n":                               "line 1: the file is a map of keys and values, not a list",
		"a: &a [*a]\n":                        "",
		"keys: {x: &x {y: *x}}\n":             "line 1: keys.x is a list, not a map",
		"[a, b]: c\n":                         "line 1: a key is a word, not a list",
		"views: {segments: {columns: {}}}\n":  "line 1: views.segments.columns is a list, not a map",
	} {
		p := Preferences{}
		_, problems := Decode([]byte(text), &p)
		if len(problems) == 0 || !strings.HasPrefix(problems[0].String(), want) {
			t.Errorf("%q: %v, want %s", text, problems, want)
		}
		if strings.Contains(text, "theme: dark") && p.Theme != "dark" {
			t.Errorf("%q: what is right is lost: %+v", text, p)
		}
	}
	for _, text := range []string{"", "# only a comment\n", "theme:\n", "{}"} {
		if _, problems := Decode([]byte(text), &Preferences{}); len(problems) > 0 {
			t.Errorf("%q: %v", text, problems)
		}
	}
}

func TestSet(t *testing.T) {
	t.Parallel()
	const before = `# the file of mine
theme: dark # at night
views:
  # narrow
  segments:
    columns: [id]
  nodes: {sort: [-cpu]}
`
	after, err := Set([]byte(before), View{Columns: Words{"id", "rows"}}, "views", "segments")
	if err != nil {
		t.Fatal(err)
	}
	const want = `# the file of mine
theme: dark # at night
views:
  # narrow
  segments:
    columns: [id, rows]
  nodes: {sort: [-cpu]}
`
	if diff := cmp.Diff(want, string(after)); diff != "" {
		t.Error(diff)
	}
	for _, x := range []struct {
		text  string
		value any
		path  []string
		want  string
	}{
		{"", "light", []string{"theme"}, "theme: light\n"},
		{"# mine\n", "light", []string{"theme"}, "# mine\ntheme: light\n"},
		{"theme: dark # night\n", "light", []string{"theme"}, "theme: light # night\n"},
		{"theme: dark\nmouse: true\n", nil, []string{"theme"}, "mouse: true\n"},
		{"mouse: true\n", nil, []string{"theme"}, "mouse: true\n"},
		{"views:\n", Words{"id"}, []string{"views", "nodes", "columns"}, "views:\n  nodes:\n    columns: [id]\n"},
	} {
		got, err := Set([]byte(x.text), x.value, x.path...)
		if err != nil || string(got) != x.want {
			t.Errorf("%q with %v at %v is %q, %v; want %q", x.text, x.value, x.path, got, err, x.want)
		}
	}
	for _, text := range []string{"theme: 'dark\n", "- a\n", "views: [a]\n", "a: &a {}\nviews: *a\n"} {
		if got, err := Set([]byte(text), View{}, "views", "nodes"); err == nil {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestSchema: the schema has every key that is read, and describes it.
func TestSchema(t *testing.T) {
	t.Parallel()
	text, err := Schema(Preferences{})
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties map[string]struct {
			Description string
			Default     any
		}
		AdditionalProperties bool
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	for _, f := range fieldsOf(reflect.TypeFor[Preferences]()) {
		if p, ok := schema.Properties[f.name]; !ok || p.Description == "" {
			t.Errorf("%s is not described: %+v", f.name, p)
		}
	}
	if schema.Properties["mouse"].Default != true || schema.AdditionalProperties {
		t.Errorf("%s", text)
	}
}
