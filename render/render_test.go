package render

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"kitescope/inspect/diff"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
	"kitescope/inspect/view"
	"kitescope/render/rendertest"
)

func smallEnv() *view.Env { return view.NewEnv(modeltest.Small(), modeltest.Now) }

func format(t *testing.T, word string) Format {
	t.Helper()
	f, err := ListFormats().Parse(word)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// list renders a resource of an Env as `kitescope get` does.
func list(t *testing.T, env *view.Env, resource string, o Options, columns ...string) []byte {
	t.Helper()
	r, err := view.Find(resource)
	if err != nil {
		t.Fatal(err)
	}
	g, err := view.Select(r.Table(env), view.Query{Columns: columns, Show: o.Format.Show()})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Grid(&b, g, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGoldenLists(t *testing.T) {
	env := smallEnv()
	for _, r := range view.Resources {
		for _, word := range []string{"table", "wide", "json", "jsonl", "yaml", "csv", "name"} {
			t.Run(r.Name+"/"+word, func(t *testing.T) {
				rendertest.Golden(t, r.Name+"/"+word, list(t, env, r.Name, Options{Format: format(t, word)}))
			})
		}
	}
}

// TestGoldenPages are lists for tickets and mails.
func TestGoldenPages(t *testing.T) {
	env := smallEnv()
	for _, word := range []string{"markdown", "html"} {
		rendertest.Golden(t, "variants/segments."+word, list(t, env, "segments", Options{Format: format(t, word)}))
		rendertest.Golden(t, "variants/databases."+word, list(t, env, "databases", Options{Format: format(t, word)}))
	}
}

func TestGoldenTableVariants(t *testing.T) {
	env := smallEnv()
	for name, o := range map[string]Options{
		"80":        {Width: 80},
		"60":        {Width: 60},
		"30":        {Width: 30},
		"30-ascii":  {Width: 30, ASCII: true},
		"color":     {Color: true},
		"no-header": {NoHeader: true},
	} {
		rendertest.Golden(t, "variants/segments-"+name, list(t, env, "segments", o))
		rendertest.Golden(t, "variants/collections-"+name, list(t, env, "collections", o))
	}
}

func TestTablesNeverWrap(t *testing.T) {
	env := smallEnv()
	for _, r := range view.Resources {
		for _, w := range []int{1, 20, 60, 79, 80, 120, 200} {
			for _, keep := range []bool{false, true} {
				out := list(t, env, r.Name, Options{Width: w, KeepColumns: keep, Color: true})
				for line := range strings.SplitSeq(string(out), "\n") {
					if n := width([]byte(stripped(line))); n > max(w, 30) {
						t.Errorf("%s at %d: a line of %d: %q", r.Name, w, n, line)
					}
				}
			}
		}
	}
}

// stripped removes the colours that this package writes.
func stripped(s string) string {
	for {
		i := strings.Index(s, "\x1b[")
		if i < 0 {
			return s
		}
		s = s[:i] + s[i+strings.IndexByte(s[i:], 'm')+1:]
	}
}

func TestGoldenTemplate(t *testing.T) {
	out := list(t, smallEnv(), "collections", Options{
		Format: format(t, `template={{range .items}}{{.id}} {{.name}} {{.rows}} {{join "," .aliases}} {{json .properties}}{{"\n"}}{{end}}`),
	})
	rendertest.Golden(t, "variants/collections-template", out)
}

func TestGoldenDescriptions(t *testing.T) {
	env := smallEnv()
	served := view.NewEnv(modeltest.Served(), modeltest.Now)
	for _, r := range view.Resources {
		env := env
		if r.Needs.Has(model.PartRuntime) || r.Name == "nodes" {
			env = served
		}
		table := r.Table(env)
		d := table.Describe(min(1, table.Len()-1))
		for _, word := range []string{"table", "json", "yaml"} {
			var b bytes.Buffer
			if err := Description(&b, d, env, nil, Options{Format: format(t, word), Width: 120}); err != nil {
				t.Fatal(err)
			}
			rendertest.Golden(t, "describe/"+r.Name+"."+word, b.Bytes())
		}
	}
	odd, err := view.Lookup(resource(t, "collections").Table(env), modeltest.Odd.String())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Description(&b, resource(t, "collections").Table(env).Describe(odd), env, nil, Options{}); err != nil {
		t.Fatal(err)
	}
	rendertest.Golden(t, "describe/odd.table", b.Bytes())
}

func resource(t *testing.T, name string) *view.Resource {
	t.Helper()
	r, err := view.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestGoldenTree(t *testing.T) {
	env := smallEnv()
	for name, word := range map[string]string{"docs": "docs", "gone": "470590569931111111"} {
		n, err := view.NewTree(env, word, view.TreeOptions{All: true})
		if err != nil {
			t.Fatal(err)
		}
		for file, o := range map[string]Options{"tree": {}, "ascii": {ASCII: true}, "80": {Width: 80}, "json": {Format: format(t, "json")}, "yaml": {Format: format(t, "yaml")}} {
			var b bytes.Buffer
			if err := Tree(&b, n, env, o); err != nil {
				t.Fatal(err)
			}
			rendertest.Golden(t, "tree/"+name+"."+file, b.Bytes())
		}
	}
}

func TestGoldenOverview(t *testing.T) {
	blind := modeltest.SmallParts()
	blind.Loaded, blind.Etcd, blind.Origin.Kind = model.PartCatalog, nil, "bundle"
	for name, c := range map[string]*model.Cluster{"small": modeltest.Small(), "blind": model.Build(blind)} {
		for _, word := range []string{"table", "json", "yaml"} {
			var b bytes.Buffer
			if err := Overview(&b, view.NewOverview(view.NewEnv(c, modeltest.Now)), nil, Options{Format: format(t, word)}); err != nil {
				t.Fatal(err)
			}
			rendertest.Golden(t, "overview/"+name+"."+word, b.Bytes())
		}
	}
}

func TestGoldenDiff(t *testing.T) {
	p := modeltest.SmallParts()
	p.Origin.Revision = 1700
	p.Aliases = p.Aliases[:1]
	p.Segments = append(p.Segments, &model.Segment{
		ID: 470590569932852700, Collection: modeltest.Docs, Partition: 470590569932652643, VChannel: p.VChannels[0].Name,
		State: model.SegmentFlushed, Level: model.LevelL1, Rows: 7900, CompactedFrom: []model.SegmentID{470590569932852667, 470590569932852671},
	})
	p.Segments = append(p.Segments[:1:1], p.Segments[3:]...)
	p.Config[0].Value = "true"
	d := diff.Compare(modeltest.Small(), model.Build(p), diff.Options{})
	same := diff.Compare(modeltest.Small(), modeltest.Small(), diff.Options{})
	for _, word := range []string{"table", "json", "jsonl", "yaml", "csv"} {
		for name, d := range map[string]*diff.Diff{"changes": d, "same": same} {
			var b bytes.Buffer
			if err := Diff(&b, d, format(t, word), ReportOptions{}); err != nil {
				t.Fatal(err)
			}
			rendertest.Golden(t, "diff/"+name+"."+word, b.Bytes())
		}
	}
}

// TestStructuredFormatsAgree reads JSON, JSON lines, YAML and CSV back with other
// people's readers and compares them.
func TestStructuredFormatsAgree(t *testing.T) {
	env := view.NewEnv(modeltest.Served(), modeltest.Now)
	for _, r := range view.Resources {
		var fromJSON, fromYAML map[string]any
		if err := json.Unmarshal(list(t, env, r.Name, Options{Format: format(t, "json")}), &fromJSON); err != nil {
			t.Fatalf("%s: %v", r.Name, err)
		}
		if err := yaml.Unmarshal(list(t, env, r.Name, Options{Format: format(t, "yaml")}), &fromYAML); err != nil {
			t.Fatalf("%s: %v", r.Name, err)
		}
		if diff := cmp.Diff(fromJSON, normal(fromYAML)); diff != "" {
			t.Errorf("%s: json and yaml: %s", r.Name, diff)
		}
		var lines []any
		for line := range strings.Lines(string(list(t, env, r.Name, Options{Format: format(t, "jsonl")}))) {
			var item any
			if err := json.Unmarshal([]byte(line), &item); err != nil {
				t.Fatalf("%s: %v", r.Name, err)
			}
			lines = append(lines, item)
		}
		if diff := cmp.Diff(fromJSON["items"], any(lines)); diff != "" {
			t.Errorf("%s: json and jsonl: %s", r.Name, diff)
		}
		records, err := csv.NewReader(bytes.NewReader(list(t, env, r.Name, Options{Format: format(t, "csv")}))).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", r.Name, err)
		}
		if len(records) != len(lines)+1 {
			t.Errorf("%s: %d records of csv, %d items", r.Name, len(records), len(lines))
		}
	}
}

// normal turns YAML's integers into JSON's floats.
func normal(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = normal(v[k])
		}
	case []any:
		for i := range v {
			v[i] = normal(v[i])
		}
	case int:
		return float64(v)
	}
	return v
}

// TestNothingReachesTheTerminal writes a cluster with harmful names in every way that a
// person sees.
func TestNothingReachesTheTerminal(t *testing.T) {
	env := smallEnv()
	check := func(what string, out []byte) {
		t.Helper()
		for _, bad := range []string{"\x1b", "\x07", "\u202e", "\xff", "\u009b"} {
			if bytes.Contains(out, []byte(bad)) {
				t.Errorf("%s lets %q through", what, bad)
			}
		}
	}
	for _, r := range view.Resources {
		for _, word := range []string{"table", "wide", "json", "jsonl", "yaml", "csv", "name", "markdown", "html", `template={{range .items}}{{.}}{{end}}`} {
			check(r.Name+" as "+word, list(t, env, r.Name, Options{Format: format(t, word)}))
		}
		table := r.Table(env)
		for row := range table.Len() {
			for _, word := range []string{"table", "json"} {
				var b bytes.Buffer
				if err := Description(&b, table.Describe(row), env, nil, Options{Format: format(t, word)}); err != nil {
					t.Fatal(err)
				}
				check("description of "+r.Name, b.Bytes())
			}
		}
	}
	n, err := view.NewTree(env, modeltest.Odd.String(), view.TreeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Tree(&b, n, env, Options{}); err != nil {
		t.Fatal(err)
	}
	d := diff.Compare(modeltest.Small(), model.Build(model.Parts{Loaded: model.PartAll}), diff.Options{Moving: true})
	if err := Diff(&b, d, Format{}, ReportOptions{}); err != nil {
		t.Fatal(err)
	}
	check("tree and diff", b.Bytes())
}

func TestUnknownIsNeverZero(t *testing.T) {
	p := modeltest.SmallParts()
	p.Loaded = model.PartCatalog | model.PartSegments
	env := view.NewEnv(model.Build(p), modeltest.Now)
	for word, want := range map[string]string{
		"table": "?", "csv": "?", "json": `"unknown": ["deleted_rows","size_bytes","index_state","index_states","index_bytes","files","two_layouts","served_as","served_by","live_rows","wanted_as"]`,
	} {
		if out := list(t, env, "segments", Options{Format: format(t, word)}); !strings.Contains(string(out), want) {
			t.Errorf("%s does not say %s:\n%s", word, want, out)
		}
	}
}

func TestParseFormat(t *testing.T) {
	for word, want := range map[string]string{
		"jsn":           `unknown output format "jsn"; did you mean json?`,
		"template":      `output format "template" needs a template: template={{range .items}}{{.id}}{{"\n"}}{{end}}`,
		"template={{if": "read template: " + `template: output:1: unclosed action`,
		"json=x":        `unknown output format "json=x"; did you mean json or jsonl?`,
	} {
		if _, err := ListFormats().Parse(word); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", word, err, want)
		}
	}
	if f, err := ListFormats().Parse(""); err != nil || f.Name() != "table" || f.Structured() {
		t.Errorf("the default is %q, %v", f.Name(), err)
	}
}
