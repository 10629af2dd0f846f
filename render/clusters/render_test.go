package clusters

import (
	"bytes"
	"encoding/csv"
	"io"
	"strings"
	"testing"

	"kitescope/inspect/diff"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
	"kitescope/inspect/view"
	"kitescope/render"
	"kitescope/render/rendertest"
)

func smallEnv() *view.Env { return view.NewEnv(modeltest.Small(), modeltest.Now) }

func format(t *testing.T, word string) render.Format {
	t.Helper()
	f, err := render.ListFormats().Parse(word)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// list renders a resource of an Env as `kitescope get` does.
func list(t *testing.T, env *view.Env, resource string, o render.Options, columns ...string) []byte {
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
		rendertest.Document(t, "lists/"+r.Name, "80", list(t, env, r.Name, render.Options{Width: 80}))
		rendertest.Document(t, "lists/"+r.Name, "json", list(t, env, r.Name, render.Options{Format: format(t, "json")}))
	}
}

// TestGoldenVariants renders one list in all layouts of lists.
func TestGoldenVariants(t *testing.T) {
	for name, o := range map[string]render.Options{
		"30-ascii": {Width: 30, ASCII: true}, "color": {Color: true}, "no-header": {NoHeader: true},
		"wide": {Format: format(t, "wide")}, "yaml": {Format: format(t, "yaml")},
		"csv": {Format: format(t, "csv")}, "name": {Format: format(t, "name")},
		"markdown": {Format: format(t, "markdown")}, "html": {Format: format(t, "html")},
	} {
		rendertest.Golden(t, "variants/collections-"+name, list(t, smallEnv(), "collections", o))
	}
}

func TestTablesNeverWrap(t *testing.T) {
	env := smallEnv()
	for _, r := range view.Resources {
		for _, w := range []int{1, 20, 60, 79, 80, 120, 200} {
			for _, keep := range []bool{false, true} {
				out := list(t, env, r.Name, render.Options{Width: w, KeepColumns: keep, Color: true})
				for line := range strings.SplitSeq(string(out), "\n") {
					if n := render.Width([]byte(stripped(line))); n > max(w, 30) {
						t.Errorf("%s at %d: a line of %d: %q", r.Name, w, n, line)
					}
				}
			}
		}
	}
}

// stripped removes the color codes that this package writes.
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
	out := list(t, smallEnv(), "collections", render.Options{
		Format: format(t,
			`template={{range .items}}{{.id}} {{.name}} {{.rows}} {{join "," .aliases}} {{json .properties}}{{"\n"}}{{end}}`),
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
		write := func(w io.Writer, word string) error {
			return Description(w, d, env, nil, render.Options{Format: format(t, word), Width: 80})
		}
		golden(t, "describe/"+r.Name, write)
	}
}

// golden compares a document with its golden files, and its YAML with its JSON.
func golden(t *testing.T, name string, write func(w io.Writer, word string) error) {
	t.Helper()
	for variant, word := range map[string]string{"80": "table", "json": "json"} {
		var b bytes.Buffer
		if err := write(&b, word); err != nil {
			t.Fatal(err)
		}
		rendertest.Document(t, name, variant, b.Bytes())
	}
	rendertest.Agree(t, name, []string{"json", "yaml"}, write)
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
	for name, word := range map[string]string{"docs": "docs", "gone": "470590569931111111"} {
		n, err := view.NewTree(smallEnv(), word, view.TreeOptions{All: true})
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "tree/"+name, func(w io.Writer, word string) error {
			return Tree(w, n, smallEnv(), render.Options{Format: format(t, word), Width: 80})
		})
		var b bytes.Buffer
		if err := Tree(&b, n, smallEnv(), render.Options{ASCII: true}); err != nil ||
			strings.ContainsAny(b.String(), "├└│") {
			t.Errorf("%v, or it is not ASCII:\n%s", err, b.String())
		}
	}
}

func TestGoldenOverview(t *testing.T) {
	blind := modeltest.SmallParts()
	blind.Loaded, blind.Etcd, blind.Origin.Kind = model.PartCatalog, nil, "bundle"
	for name, c := range map[string]*model.Cluster{"small": modeltest.Small(), "blind": model.Build(blind)} {
		golden(t, "overview/"+name, func(w io.Writer, word string) error {
			return Overview(w, view.NewOverview(view.NewEnv(c, modeltest.Now)), nil, render.Options{
				Format: format(t, word), Width: 80,
			})
		})
	}
}

func TestGoldenDiff(t *testing.T) {
	p := modeltest.SmallParts()
	p.Origin.Revision = 1700
	p.Aliases = p.Aliases[:1]
	p.Segments = append(p.Segments, &model.Segment{
		ID: 470590569932852700, Collection: modeltest.Docs, Partition: 470590569932652643,
		VChannel: p.VChannels[0].Name,
		State:    model.SegmentFlushed, Level: model.LevelL1, Rows: 7900,
		CompactedFrom: []model.SegmentID{470590569932852667, 470590569932852671},
	})
	p.Segments = append(p.Segments[:1:1], p.Segments[3:]...)
	p.Config[0].Value = "true"
	p.ResourceGroups[0].Nodes = []model.NodeID{3, 10}
	d := diff.Compare(modeltest.Small(), model.Build(p), diff.Options{})
	same := diff.Compare(modeltest.Small(), modeltest.Small(), diff.Options{})
	for name, d := range map[string]*diff.Diff{"changes": d, "same": same} {
		golden(t, "diff/"+name, func(w io.Writer, word string) error {
			return Diff(w, d, format(t, word), render.ReportOptions{Options: render.Options{Width: 80}})
		})
	}
}

// TestStructuredFormatsAgree reads JSON, JSON lines, YAML and CSV with independent parsers and compares the results.
func TestStructuredFormatsAgree(t *testing.T) {
	env := view.NewEnv(modeltest.Served(), modeltest.Now)
	for _, r := range view.Resources {
		rendertest.Agree(t, r.Name, render.ListFormats().Names(), func(w io.Writer, word string) error {
			_, err := w.Write(list(t, env, r.Name, render.Options{Format: format(t, word)}))
			return err
		})
		records, err := csv.NewReader(bytes.NewReader(
			list(t, env, r.Name, render.Options{Format: format(t, "csv")}),
		)).ReadAll()
		if n := r.Table(env).Len(); err != nil || len(records) != n+1 {
			t.Errorf("%s: %d records of CSV, %d items: %v", r.Name, len(records), n, err)
		}
	}
}

// TestOutputEscaped checks that no list, description, tree or diff contains the control characters of
// harmful names.
func TestOutputEscaped(t *testing.T) {
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
		for _, word := range []string{
			"table", "wide", "json", "jsonl", "yaml", "csv", "name", "markdown", "html",
			`template={{range .items}}{{.}}{{end}}`,
		} {
			check(r.Name+" as "+word, list(t, env, r.Name, render.Options{Format: format(t, word)}))
		}
		table := r.Table(env)
		for row := range table.Len() {
			for _, word := range []string{"table", "json"} {
				var b bytes.Buffer
				if err := Description(&b, table.Describe(row), env, nil,
					render.Options{Format: format(t, word)}); err != nil {
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
	if err := Tree(&b, n, env, render.Options{}); err != nil {
		t.Fatal(err)
	}
	d := diff.Compare(modeltest.Small(), model.Build(model.Parts{Loaded: model.PartAll}), diff.Options{Volatile: true})
	if err := Diff(&b, d, render.Format{}, render.ReportOptions{}); err != nil {
		t.Fatal(err)
	}
	check("tree and diff", b.Bytes())
}

func TestUnknownIsNeverZero(t *testing.T) {
	p := modeltest.SmallParts()
	p.Loaded = model.PartCatalog | model.PartSegments
	env := view.NewEnv(model.Build(p), modeltest.Now)
	for word, want := range map[string]string{
		"table": "?", "csv": "?",
		"json": `"unknown": ["deleted_rows","size_bytes","index_state","index_states","index_bytes","files","two_layouts","served_as","served_by","live_rows","wanted_as"]`,
	} {
		if out := list(t, env, "segments", render.Options{Format: format(t, word)}); !strings.Contains(string(out),
			want) {
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
		if _, err := render.ListFormats().Parse(word); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", word, err, want)
		}
	}
	if f, err := render.ListFormats().Parse(""); err != nil || f.Name() != "table" || f.Structured() {
		t.Errorf("the default is %q, %v", f.Name(), err)
	}
}
