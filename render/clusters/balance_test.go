package clusters

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/balance"
	"kitescope/inspect/live"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
	"kitescope/inspect/view"
	"kitescope/internal/table"
	"kitescope/render"
	"kitescope/render/rendertest"
)

// underloaded returns the captured cluster in which one node serves 3 of 33 segments.
func underloaded(t *testing.T) *view.Env {
	t.Helper()
	env := read(t, "cluster-2.3.5-t7")
	d := live.NewDecoder()
	if _, err := live.ReadFile(filepath.Join(snapshots, "cluster-2.3.5-t7", "runtime.jsonl.gz"), d.Add); err != nil {
		t.Fatal(err)
	}
	return view.NewEnv(env.Cluster.WithRuntime(d.Runtime("recording", "runtime.jsonl.gz")), env.Now)
}

func balanceOf(env *view.Env, plan bool) *Balance {
	return &Balance{Env: env, Report: balance.NewSurvey(env.Cluster).Report(nil, balance.Options{}, plan)}
}

func balanceBytes(t *testing.T, b *Balance, word string, o render.Options) []byte {
	t.Helper()
	f, err := BalanceFormats().Parse(word)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := WriteBalance(&out, b, f, render.ReportOptions{Options: o}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestGoldenBalance(t *testing.T) {
	env := underloaded(t)
	b := balanceOf(env, true)
	golden(t, "balance/t7", func(w io.Writer, word string) error {
		_, err := w.Write(balanceBytes(t, b, word, render.Options{Width: 80}))
		return err
	})
	rendertest.Golden(t, "balance/t7-plan.py", []byte(b.SavedPlan()))
}

// TestGoldenBalanceUnknown checks the reports of a cluster that was not queried and of a cluster with unknown and
// dead nodes.
func TestGoldenBalanceUnknown(t *testing.T) {
	for name, c := range map[string]*model.Cluster{"unasked": modeltest.Small(), "partly": modeltest.Served()} {
		b := balanceOf(view.NewEnv(c, modeltest.Now), true)
		golden(t, "balance/"+name, func(w io.Writer, word string) error {
			_, err := w.Write(balanceBytes(t, b, word, render.Options{Width: 80}))
			return err
		})
	}
}

// TestBalanceUnread checks that without a part of the metadata the report names the unknown figures and makes no
// plan.
func TestBalanceUnread(t *testing.T) {
	env := underloaded(t)
	for _, tt := range []struct {
		part  model.Part
		take  func(*model.Parts)
		plan  string
		said  string
		not   []string
		total string // over all replicas
	}{
		{
			model.PartSegments | model.PartLogs, func(p *model.Parts) { p.Segments = nil },
			"the records of segments were not read",
			"the records of segments were not read: rows are known only for indexed ones",
			[]string{"max/mean 1.59", " 6.4%", " 8.1%"},
			"max/mean -",
		},
		{
			model.PartObjects, func(p *model.Parts) { p.Collections = nil },
			"search cost unknown: its fields are unknown; use --by rows",
			"collections were not read: search cost unknown",
			[]string{"0.00", "0%"},
			"max/mean ?  rows 1.29",
		},
		{
			model.PartServing, func(p *model.Parts) { p.Replicas = nil }, "the replicas were not read",
			"replicas were not read: the split of work among nodes is a guess",
			[]string{"outside", "no replica in the metadata"},
			"max/mean 1.59",
		},
		{
			model.PartSessions, func(p *model.Parts) { p.Sessions = nil },
			"the sessions were not read: which nodes take segments is unknown", "sessions were not read",
			[]string{"did not report"},
			"max/mean -",
		},
	} {
		p := env.Cluster.Parts
		tt.take(&p)
		p.Loaded &^= tt.part
		b := balanceOf(view.NewEnv(model.Build(p).WithRuntime(env.Cluster.Runtime), env.Now), true)
		text := string(balanceBytes(t, b, "table", render.Options{Width: 200}))
		for _, want := range []string{tt.said, "ALL REPLICAS\n" + tt.total, "Plan: none: " + tt.plan} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: it does not say %q:\n%s", tt.said, want, text)
			}
		}
		for _, bad := range append(tt.not, "load_balance", "NaN") {
			if strings.Contains(text, bad) {
				t.Errorf("%s: it says %q:\n%s", tt.said, bad, text)
			}
		}
		if page := string(balanceBytes(t, b, "html", render.Options{})); !strings.Contains(page, tt.said) {
			t.Errorf("the page does not say %q", tt.said)
		}
	}
}

// TestPlansOfSeveralDatabases checks that a script for several databases selects the database before each plan.
func TestPlansOfSeveralDatabases(t *testing.T) {
	plan := func(database, name string) *balance.Plan {
		g := &balance.Group{Database: database, Collection: &model.Collection{Name: name}, Unknown: 1}
		return &balance.Plan{
			Group: g, Moves: []balance.Move{{Segment: 5, From: 1, To: 2}}, MemoryUnknown: []model.NodeID{2},
		}
	}
	script := func(plans ...*balance.Plan) string {
		env := view.NewEnv(modeltest.Small(), modeltest.Now)
		blind := []*model.LiveNode{{Role: "querynode", Node: 9, Outcome: model.TimedOut}}
		b := &Balance{Env: env, Report: &balance.Report{Survey: &balance.Survey{Unknown: blind}, Plans: plans}}
		return b.SavedPlan()
	}
	var calls []string
	for line := range strings.SplitSeq(script(plan("alpha", "a"), plan("default", "b"), plan("tenant", "c")), "\n") {
		if strings.Contains(line, "(") && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "connections") {
			calls = append(calls, line)
		}
	}
	want := []string{
		`db.using_database("alpha")`, `utility.load_balance("a", 1, [2], [5])`, `db.using_database("default")`,
		`utility.load_balance("b", 1, [2], [5])`, `db.using_database("tenant")`,
		`utility.load_balance("c", 1, [2], [5])`,
	}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Error(diff)
	}
	alone := script(plan("default", "b"))
	for _, part := range []string{
		"# Unknown, not included: querynode-9 (timed out)", "# segments on 1 node unknown",
		"# the memory of querynode-2 is unknown",
	} {
		if !strings.Contains(alone, part) {
			t.Errorf("it does not say %q:\n%s", part, alone)
		}
	}
	if strings.Contains(alone, "using_database") {
		t.Errorf("Milvus without databases does not know the call:\n%s", alone)
	}
}

func TestBalanceNeverWraps(t *testing.T) {
	b := balanceOf(underloaded(t), true)
	for _, w := range []int{60, 79, 80, 120, 200} {
		for line := range strings.SplitSeq(string(balanceBytes(t, b, "table", render.Options{Width: w, Color: true})),
			"\n") {
			if n := render.Width([]byte(stripped(line))); n > w && !strings.Contains(line, "load_balance(") {
				t.Errorf("at %d: a line of %d: %q", w, n, line)
			}
		}
	}
}

// TestBalanceFormatsAgree reads the structured formats with independent parsers and compares the results.
func TestBalanceFormatsAgree(t *testing.T) {
	b := balanceOf(underloaded(t), true)
	rendertest.Agree(t, "balance", BalanceFormats().Names(), func(w io.Writer, word string) error {
		_, err := w.Write(balanceBytes(t, b, word, render.Options{}))
		return err
	})
}

// TestBalanceEscapes checks that no format writes the control characters of harmful names.
func TestBalanceEscapes(t *testing.T) {
	p := modeltest.SmallParts()
	p.Replicas = append(p.Replicas, &model.Replica{
		ID: 99, Collection: modeltest.Odd, ResourceGroup: "\x1b[2Jrg", Nodes: p.Replicas[0].Nodes,
	})
	c := model.Build(p)
	r := modeltest.RuntimeOf(c)
	c = c.WithRuntime(model.BuildRuntime(r))
	b := balanceOf(view.NewEnv(c, modeltest.Now), true)
	for _, word := range rendertest.Words(BalanceFormats().Names()) {
		out := balanceBytes(t, b, word, render.Options{Width: 120})
		for _, bad := range []string{"\x1b", "\x07", "\u202e", "\xff", "\u009b"} {
			if bytes.Contains(out, []byte(bad)) {
				t.Errorf("%s lets %q through", word, bad)
			}
		}
	}
}

// TestBalanceDocs checks that the table in docs/reference/json.md has the columns of shares.
func TestBalanceDocs(t *testing.T) {
	var b strings.Builder
	b.WriteString("\n| key | kind | meaning |\n|---|---|---|\n")
	shares := newShareTable(&Balance{Report: &balance.Report{}}, nil, &render.Options{}).Schema()
	for _, i := range shares.DefaultColumns(table.Hidden, nil) {
		c := &shares.Columns[i]
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.Name, kindName(c.Kind), c.Doc)
	}
	b.WriteString("\n")
	checkDocumented(t, "balance", b.String())
}
