package latency_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/latency"
	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// cluster returns a cluster whose processes have these texts of /metrics, and without other data.
func cluster(t testing.TB, now, before map[string]string) *model.Cluster {
	t.Helper()
	at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	d := live.NewDecoder()
	for _, scrape := range []struct {
		texts map[string]string
		at    time.Time
	}{{before, at}, {now, at.Add(20 * time.Second)}} {
		for name, text := range scrape.texts {
			d.Add(live.Record{
				Role: strings.TrimRight(name, ".0123456789"), Address: name + ":9091", Method: "GET /metrics",
				At: scrape.at, Response: []byte(text),
			})
		}
	}
	return model.Build(model.Parts{}).WithRuntime(d.Runtime("recording", ""))
}

// fixture returns the metrics texts that match a path pattern, by process.
func fixture(t testing.TB, path string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(path)
	if err != nil || len(files) == 0 {
		t.Fatalf("no metrics at %s: %v", path, err)
	}
	texts := map[string]string{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, ".gz") {
			z, err := gzip.NewReader(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			if b, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		texts[strings.TrimSuffix(filepath.Base(file), ".txt.gz")] = string(b)
	}
	return texts
}

// checkSums fails if the children of a phase do not add up to the phase, or if a phase is outside its bounds.
func checkSums(t *testing.T, b *latency.Budget) {
	t.Helper()
	b.Root.Walk(func(p *latency.Phase, _ int) {
		sum := 0.0
		for _, c := range p.Children {
			sum += c.Ms
		}
		if len(p.Children) > 0 && math.Abs(sum-p.Ms) > 0.005*b.Ms+0.01 {
			t.Errorf("%s of %s: the parts of %s add up to %.3f ms of %.3f", b.Request, b.Name, p.Name, sum, p.Ms)
		}
		if p.Ms < 0 || !p.Known && p.Ms != 0 && p.Name != latency.Total {
			t.Errorf("%s of %s: %s takes %.3f ms, known: %v", b.Request, b.Name, p.Name, p.Ms, p.Known)
		}
		if p.Known && (p.Mean.Low > p.Ms+1e-6 || p.Mean.High < p.Ms-1e-6) {
			t.Errorf("%s of %s: %s takes %.3f ms, not in %v", b.Request, b.Name, p.Name, p.Ms, p.Mean)
		}
	})
}

const snapshots = "../../testdata/snapshots/"

// TestFixtures checks the budgets of captured clusters. The expected values are sums and counts from the texts.
func TestFixtures(t *testing.T) {
	for path, want := range map[string]struct {
		mean   float64 // of the observations, each truncated to whole milliseconds
		phase  latency.Name
		least  float64 // share
		says   string
		within float64 // maximum unexplained share
	}{
		snapshots + "cluster-2.3.5-t1/metrics/*.gz": {
			1327.0 / 6, latency.ConsistencyWait, 0.88, "waiting for consistency", 0.05,
		},
		snapshots + "cluster-2.3.5-t3/metrics/*.gz": {0, latency.ReadQueue, 0.25, "queueing on query nodes", 0.2},
		snapshots + "cluster-2.3.5-t5/metrics/*.gz": {0, latency.ReadQueue, 0.25, "queueing on query nodes", 0.2},
		"testdata/standalone-2.1.0.txt.gz": {
			42931.0 / 294, latency.ConsistencyQueue, 0.95, "waiting for consistency or queueing", 0.05,
		},
		"testdata/standalone-2.2.16.txt.gz": {
			42892.0 / 270, latency.ConsistencyQueue, 0.95, "waiting for consistency or queueing", 0.05,
		},
		"testdata/standalone-2.3.5.txt.gz": {
			43480.0 / 211, latency.ConsistencyWait, 0.95, "waiting for consistency", 0.05,
		},
	} {
		l := latency.Compute(cluster(t, fixture(t, path), nil))
		for _, b := range l.Budgets {
			checkSums(t, b)
		}
		b := l.Find("", latency.Search)
		if b == nil {
			t.Errorf("%s: no search", path)
			continue
		}
		if want.mean > 0 && (b.Mean.Low > want.mean+1e-6 || b.Mean.High < want.mean || math.Abs(b.Ms-want.mean) > 1) {
			t.Errorf("%s: a search takes %.2f ms in %v, want %.2f", path, b.Ms, b.Mean, want.mean)
		}
		if p := b.Root.Find(want.phase); p == nil || p.Share < want.least || b.Main()[0].Phase.Name != want.phase {
			t.Errorf("%s: %s is %+v, want it first and %.0f%% at least", path, want.phase, p, 100*want.least)
		}
		if text := latency.Verdict(b); !strings.Contains(text, want.says) {
			t.Errorf("%s: the verdict is %q, want %q", path, text, want.says)
		}
		if part := b.Unexplained() / b.Ms; part > want.within {
			t.Errorf("%s: %.0f%% is not explained", path, 100*part)
		}
		if !l.Window.SinceStart || l.Window.Why != "since the start of each process" {
			t.Errorf("%s: the window is %+v", path, l.Window)
		}
	}
}

// TestMissingMetrics checks that missing metrics are unknown with a reason, and never zero.
func TestMissingMetrics(t *testing.T) {
	texts := fixture(t, snapshots+"cluster-2.3.5-t1/metrics/*.gz")
	record := func(role string, node model.NodeID, text, trouble string) live.Record {
		return live.Record{
			Role: role, Node: node, Address: role + node.String() + ":9091", Method: "GET /metrics",
			Response: []byte(text), Error: trouble,
		}
	}
	ask := func(records ...live.Record) *latency.Latency {
		d := live.NewDecoder()
		for _, r := range records {
			d.Add(r)
		}
		return latency.Compute(model.Build(model.Parts{}).WithRuntime(d.Runtime("recording", "")))
	}
	const login = "<!DOCTYPE html><html><body>Log in</body></html>\n"
	until := func(what string) string { // the page is malformed after what
		page, _, _ := strings.Cut(texts["proxy"], what)
		return page + "}}\n"
	}
	proxy := record("proxy", 9, texts["proxy"], "")
	for name, test := range map[string]struct {
		proxy   live.Record
		nodes   [3]live.Record
		phase   latency.Name
		unknown int
		known   bool
	}{
		"all nodes ask for a login": {
			proxy,
			[3]live.Record{
				record("querynode", 3, login, ""), record("querynode", 5, login, ""), record("querynode", 6, login, ""),
			},
			latency.WaitForNodes, 3, false,
		},
		"one node asks for a login": {
			proxy,
			[3]live.Record{
				record("querynode", 3, texts["querynode1"], ""), record("querynode", 5, login, ""),
				record("querynode", 6, texts["querynode3"], ""),
			},
			latency.WaitForNodes, 1, true,
		},
		"the proxy wants a password": {
			record("proxy", 9, "", "401 Unauthorized"),
			[3]live.Record{
				record("querynode", 3, texts["querynode1"], ""), record("querynode", 5, texts["querynode2"], ""),
				record("querynode", 6, texts["querynode3"], ""),
			},
			latency.Total, 1, false,
		},
		"half the page of the proxy": {
			record("proxy", 9, until("milvus_proxy_sq_latency_bucket"), ""),
			[3]live.Record{
				record("querynode", 3, texts["querynode1"], ""), record("querynode", 5, texts["querynode2"], ""),
				record("querynode", 6, texts["querynode3"], ""),
			},
			latency.Total, 1, false,
		},
		"the proxy's page ends early": {
			record("proxy", 9, until("# HELP milvus_proxy_sq_reduce"), ""),
			[3]live.Record{
				record("querynode", 3, texts["querynode1"], ""), record("querynode", 5, texts["querynode2"], ""),
				record("querynode", 6, texts["querynode3"], ""),
			},
			latency.ReduceProxy, 1, false,
		},
	} {
		l := ask(test.proxy, test.nodes[0], test.nodes[1], test.nodes[2])
		if len(l.Unknown) != test.unknown {
			t.Errorf("%s: unknown are %+v, want %d", name, l.Unknown, test.unknown)
		}
		b := l.Find("", latency.Search)
		if b == nil {
			t.Errorf("%s: no search", name)
			continue
		}
		checkSums(t, b)
		p := b.Root.Find(test.phase)
		if p == nil || p.Known != test.known || p.Why == "" {
			t.Errorf("%s: %s is %+v, want known: %v and a reason", name, test.phase, p, test.known)
		}
	}
	if l := latency.Compute(model.Build(model.Parts{})); len(l.Budgets) != 0 || len(l.Unknown) != 1 {
		t.Errorf("a cluster whose processes were not asked has %+v", l)
	}
}
