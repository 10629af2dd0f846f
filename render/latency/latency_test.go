package latency_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/latency"
	"kitescope/internal/table"
	"kitescope/render"
	show "kitescope/render/latency"
	"kitescope/render/rendertest"
)

// report returns a report of a search with two levels and of an insert. One process reported nothing.
func report() *show.Report {
	between := func(low, high float64) latency.Interval { return latency.Interval{Low: low, High: high} }
	phase := func(name, parent latency.Name, ms float64, children ...*latency.Phase) *latency.Phase {
		return &latency.Phase{
			Name: name, Parent: parent, Role: "querynode", Known: true, Ms: ms, Mean: between(ms/2, ms*2),
			Share: ms / 200, Estimate: true, Children: children,
		}
	}
	consistency := phase(latency.ConsistencyWait, latency.WaitForNodes, 150)
	consistency.Nodes = []latency.NodePhase{
		{
			Role: "querynode", Node: 3, Calls: 1, Ms: 160, Waited: 120, P50: between(128, 256), P99: between(256, 512),
			PerSecond: latency.Value{Value: 12.5, Known: true},
		},
		{Role: "querynode", Node: 5, Calls: 1, Ms: 90, Waited: 30, P50: between(64, 128), P99: between(128, 256)},
	}
	consistency.PerSecond = latency.Value{Value: 25, Known: true}
	root := phase(latency.Total, "", 200,
		&latency.Phase{Name: latency.ProxyQueue, Parent: latency.Total, Role: "proxy", Why: "measured since 2.4"},
		phase(latency.WaitForNodes, latency.Total, 180, consistency,
			phase(latency.KernelSealed, latency.WaitForNodes, 29.6),
			phase(latency.Unexplained, latency.WaitForNodes, 0.4)),
		phase(latency.Unexplained, latency.Total, 20))
	root.Role, root.Estimate, root.Mean = "proxy", false, between(199.5, 200.5)
	search := &latency.Budget{
		Name: "docs", Database: "default", Request: latency.Search, Requests: 1250,
		Failed:    latency.Value{Value: 3, Known: true},
		PerSecond: latency.Value{Value: 12.5, Known: true}, VectorsPerSecond: latency.Value{Value: 125, Known: true},
		Ms: 200, Mean: root.Mean, P50: between(128, 256), P95: between(256, 512), P99: between(256, 512), Root: root,
	}
	write := phase(latency.Total, "", 8, phase(latency.WALAppend, latency.Total, 6),
		phase(latency.Unexplained, latency.Total, 2))
	write.Walk(func(p *latency.Phase, _ int) { p.Share, p.Role = p.Ms/8, "proxy" })
	insert := &latency.Budget{
		Name: "docs\x1b[31m<b>", Request: latency.Insert, Requests: 40, Ms: 8, Root: write, P99: between(16, 32),
	}
	from := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	return &show.Report{
		Latency: &latency.Latency{
			Window:  latency.Window{From: from, To: from.Add(100 * time.Second), Why: "over 1m40s"},
			Unknown: []latency.Unknown{{Role: "querynode", Node: 7, Reason: "401 Unauthorized"}},
		},
		Budgets: []*latency.Budget{search, insert}, Where: "etcd://10.0.0.5:2379", Version: "test",
		At: from.Add(100 * time.Second),
	}
}

func written(t *testing.T, r *show.Report, format string, o render.ReportOptions) string {
	t.Helper()
	f, err := show.Formats().Parse(format)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := show.Write(&b, r, f, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFormats(t *testing.T) {
	looks := map[string]rendertest.Variant{"80": {Width: 80}, "ascii": {Width: 80, ASCII: true}, "json": {}}
	rendertest.Report(t, "latency", show.Formats().Names(), looks, nil, func(w io.Writer, l rendertest.Variant) error {
		_, err := io.WriteString(w,
			written(t, report(), l.Word, render.ReportOptions{Options: render.Options{Width: l.Width, ASCII: l.ASCII}}))
		return err
	})
}

// TestFirstLine checks that the first line names the phase that takes most of the time.
func TestFirstLine(t *testing.T) {
	text := written(t, report(), "table", render.ReportOptions{Options: render.Options{Width: 80}})
	first, _, _ := strings.Cut(text, "\n")
	if first != "search of docs 200 ms: 75% waiting for consistency" {
		t.Errorf("the first line is %q", first)
	}
	empty := &show.Report{Latency: &latency.Latency{Window: latency.Window{Why: "over 10s"}}}
	if text := written(t, empty, "table", render.ReportOptions{}); !strings.HasPrefix(text,
		"no search, query or write ended in that time\n") {
		t.Errorf("of nothing: %q", text)
	}
}

// TestQuery checks that selections filter rows by their keys.
func TestQuery(t *testing.T) {
	o := render.ReportOptions{}
	where, err := table.ParseSelection(show.Schema(o), []string{"phase=consistency_wait", "node=5"})
	if err != nil {
		t.Fatal(err)
	}
	o.Query.Where = where
	text := written(t, report(), "jsonl", o)
	if strings.Count(text, "\n") != 1 || !strings.Contains(text, `"mean_ms":30`) {
		t.Errorf("got %s", text)
	}
}

// TestUnknownPhase checks that an unknown phase has a reason and no time.
func TestUnknownPhase(t *testing.T) {
	var d struct{ Items []map[string]any }
	if err := json.Unmarshal([]byte(written(t, report(), "json", render.ReportOptions{})), &d); err != nil {
		t.Fatal(err)
	}
	for _, x := range d.Items {
		if x["phase"] == "proxy_queue" && (x["mean_ms"] != nil || x["why"] == "") {
			t.Errorf("what is unknown is written as %v", x)
		}
	}
}

// TestWithoutProxy checks that the time of a whole request is unknown without the proxy, and that the known part is
// only its lower bound.
func TestWithoutProxy(t *testing.T) {
	r := report()
	root := r.Budgets[0].Root
	root.Known, root.Why, root.Mean = false, "proxy-9: 401 Unauthorized", latency.Interval{Low: 200, High: 1e300}
	text := written(t, r, "table", render.ReportOptions{})
	for _, want := range []string{
		"search of docs at a shard leader 200 ms: ", "; time in the proxy unknown\n",
		"number of requests unknown: proxy-9 did not report\n",
		"total                  >200      ?  proxy-9 did not report",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	line, _, _ := strings.Cut(written(t, r, "jsonl", render.ReportOptions{}), "\n")
	if strings.Contains(line, `"mean_ms"`) || strings.Contains(line, `"requests"`) ||
		!strings.Contains(line, `"low_ms":200`) || !strings.Contains(line, `"why":"proxy-9: 401 Unauthorized"`) {
		t.Errorf("scripts read %s", line)
	}
}

// TestUnknownQuantile checks that a request with only a known mean shows unknown quantiles. Phases show none, because
// they often have none.
func TestUnknownQuantile(t *testing.T) {
	root := &latency.Phase{
		Name: latency.Total, Known: true, Children: []*latency.Phase{{Name: latency.Unexplained, Known: true}},
	}
	rows := show.Rows(&latency.Budget{Request: latency.Search, Root: root})
	for _, c := range show.Columns(&render.ReportOptions{}, "p50_ms", "p99_ms") {
		if got := c.Shown(rows[0]); got != "?" {
			t.Errorf("%s of the request is %q, not ?", c.Name, got)
		}
		if got := c.Shown(rows[1]); got != "" {
			t.Errorf("%s of a part is %q", c.Name, got)
		}
	}
}
