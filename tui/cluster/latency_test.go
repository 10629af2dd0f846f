package cluster

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kitescope/inspect/history"
	"kitescope/inspect/live"
	"kitescope/inspect/model"
	show "kitescope/render/latency"
	"kitescope/tui"
	"kitescope/tui/tuitest"
)

// scraped returns one scrape of the processes of a real cluster, matched to their sessions in c.
func scraped(t *testing.T, c *model.Cluster) *model.Runtime {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "snapshots", "cluster-2.3.5-t1", "metrics",
		"*.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no metrics: %v", err)
	}
	d := live.NewDecoder()
	nodes := map[string][]model.NodeID{}
	for _, s := range c.Sessions {
		nodes[s.Role] = append(nodes[s.Role], s.Node)
	}
	for _, file := range files {
		role := strings.TrimRight(strings.TrimSuffix(filepath.Base(file), ".txt.gz"), "0123456789")
		if len(nodes[role]) == 0 {
			continue
		}
		node := nodes[role][0]
		nodes[role] = nodes[role][1:]
		d.Add(live.Record{
			Role: role, Node: node, Address: fmt.Sprintf("10.0.0.%d:9091", node), Method: "GET /metrics",
			At: tuitest.Epoch(), Response: unzipped(t, file),
		})
	}
	return d.Runtime("recording", "")
}

func unzipped(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if b, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	return b
}

// grown returns a scrape with counters and histograms multiplied by times, taken later.
func grown(m *model.Metrics, times float64, later time.Duration) *model.Metrics {
	next := &model.Metrics{At: m.At.Add(later), Families: map[string]*model.Family{}}
	for name, f := range m.Families {
		x := *f
		x.Series = slices.Clone(f.Series)
		for i := range x.Series {
			s := &x.Series[i]
			if f.Kind == model.MetricHistogram {
				s.Value, s.Count, s.Buckets = s.Value*times, s.Count*times, slices.Clone(s.Buckets)
				for k := range s.Buckets {
					s.Buckets[k] *= times
				}
			}
			if f.Kind == model.MetricCounter {
				s.Value *= times
			}
		}
		next.Families[name] = &x
	}
	return next
}

// scrapeRound returns the cluster of the n-th polling round. In each round twice as many requests end as in the round
// before, with the same mean time.
func scrapeRound(t *testing.T, c *model.Cluster, n int) *model.Cluster {
	t.Helper()
	r := scraped(t, c)
	parts := r.RuntimeParts
	for _, p := range parts.Processes {
		if p.Metrics != nil {
			p.Before, p.Metrics = grown(p.Metrics, math.Exp2(float64(n)), 0),
				grown(p.Metrics, math.Exp2(float64(n+1)), 10*time.Second)
		}
	}
	return c.WithRuntime(model.BuildRuntime(parts))
}

func TestLatencyScreens(t *testing.T) {
	for _, size := range tuitest.Sizes {
		for _, s := range []struct{ name, keys string }{
			{"latency", ""}, {"latency-phases", "enter"}, {"latency-processes", "enter down*5 enter"},
		} {
			name := fmt.Sprintf("%s-%dx%d", s.name, size.W, size.H)
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := driven(t, testConfig(), size.W, size.H)
					c := tuitest.Capture(t, "..", "..", "testdata", "snapshots", "cluster-2.3.5-t1")
					for n := range 5 {
						d.Cluster(scrapeRound(t, c, n))
					}
					d.Keys(":").Typed("latency").Keys("enter " + s.keys)
					d.Fits()
					d.Lacks("█…", "…█") // bars are not cut
					tuitest.Golden(t, name, d.Plain())
				})
			})
		}
	}
}

// TestLatencyLeadsToProcesses checks that enter leads from a collection to its phases, to the processes of a phase
// and to the page of a process, and that esc leads back.
func TestLatencyLeadsToProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 120, 40)
		d.Keys(":").Typed("latency").Keys("enter")
		d.Shows("latency", "…")
		c := tuitest.Capture(t, "..", "..", "testdata", "snapshots", "cluster-2.3.5-t1")
		d.Send(history.Update{Cluster: c.WithRuntime(scraped(t, c))})
		for range 2 { // the counters of the demo do not change
			d.Send(history.Update{Cluster: c.WithRuntime(scraped(t, c))})
		}
		d.Shows("waiting for consistency", "since the start of each process", "search")
		d.Lacks("SINCE OPENED")
		page := func() *tui.TablePage[*show.Row] { return d.m.Top().(*tui.TablePage[*show.Row]) }
		d.Keys("enter")
		d.Lacks("since opened")
		d.Keys("/").Typed("consistency").Keys("enter")
		d.Shows("› search", "consistency_wait", "1 of")
		d.Keys("enter")
		d.Shows("consistency_wait", "querynode-", "PER CALL")
		if n := len(page().All); n < 2 {
			t.Fatalf("%d processes wait for consistency", n)
		}
		row, _ := page().Current()
		d.Keys("enter")
		d.Shows(row.Process(), "role", "querynode")
		d.Keys("esc esc")
		d.Shows("/consistency", "1 of")
		d.Keys("esc esc")
		d.Shows("COLLECTION")
		d.Keys("down enter /").Typed("consistency").Keys("enter enter")
		d.Shows("all collections (process metrics are not per collection)", row.Process())
	})
}

// TestLatencyCopy checks that the lists can be sorted, copied and saved, and that the copied command
// prints the same.
func TestLatencyCopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 120, 40)
		c := tuitest.Capture(t, "..", "..", "testdata", "snapshots", "cluster-2.3.5-t1")
		d.Cluster(c.WithRuntime(scraped(t, c)))
		d.Keys(":").Typed("latency").Keys("enter enter > >") // ms
		page := d.m.Top().(*tui.TablePage[*show.Row])
		for i := range page.Shown[1:] {
			a, b := page.Shown[i].Phase(), page.Shown[i+1].Phase()
			if a.Known && b.Known && a.Ms < b.Ms || !a.Known && b.Known && a.Name != "total" {
				t.Errorf("%s with %g ms is before %s with %g", a.Name, a.Ms, b.Name, b.Ms)
			}
		}
		d.Keys("Y 2")
		if !strings.HasPrefix(d.Clip, "PHASE\tMS\tSHARE\t") || strings.Count(d.Clip, "\n") != 1+len(page.All) {
			t.Errorf("copied %q", d.Clip)
		}
		d.Keys("Y 1")
		if !strings.Contains(d.Clip, " latency ") || !strings.Contains(d.Clip, "--request search") {
			t.Errorf("copied the command %q", d.Clip)
		}
		d.Keys("s enter")
		if len(d.Saved) != 1 {
			t.Errorf("saved %d files", len(d.Saved))
		}
		for name, text := range d.Saved {
			if !strings.HasPrefix(name, "kitescope-latency-search-") || !strings.HasPrefix(text, "PHASE,MS,SHARE,") {
				t.Errorf("saved %s: %q", name, text)
			}
		}
	})
}

// TestLatencyOfNothing checks that latency is unknown, with the reason, if the processes were not queried, and that
// the overview has no line about it.
func TestLatencyOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 80, 24)
		d.Cluster(tuitest.Fixture())
		d.Lacks("LATENCY")
		d.Keys(":").Typed("latency").Keys("enter")
		d.Shows("where requests spend their time is unknown: the processes were not queried")
		d.Keys("enter")
		d.Shows("no row selected")
	})
}

// TestLatencyOfThePast checks that no page shows latency for a time without responses of processes.
func TestLatencyOfThePast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 80, 24)
		c := tuitest.Capture(t, "..", "..", "testdata", "snapshots", "cluster-2.3.5-t1")
		d.Cluster(scrapeRound(t, c, 0))
		d.Keys(":").Typed("latency").Keys("enter")
		for _, list := range []string{"COLLECTION", "PHASE", "PROCESS"} {
			d.Shows(list)
			d.Send(history.Update{Cluster: c, Historical: true})
			d.Shows("no latency data from that time")
			d.Cluster(scrapeRound(t, c, 1))
			d.Keys("L enter")
		}
	})
}

// TestLatencyAsTheFirstPage checks that the page can be drawn before there are data.
func TestLatencyAsTheFirstPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.StartPage = "latency"
		d := driven(t, cfg, 80, 24)
		d.Fits()
		c := tuitest.Capture(t, "..", "..", "testdata", "snapshots", "cluster-2.3.5-t1")
		d.Cluster(c.WithRuntime(scraped(t, c)))
		d.Shows("waiting for consistency", "since the start of each process")
	})
}

// TestLatencyOnTheOverview checks that one line of the overview shows where most time goes.
func TestLatencyOnTheOverview(t *testing.T) {
	for _, size := range tuitest.Sizes {
		synctest.Test(t, func(t *testing.T) {
			d := driven(t, testConfig(), size.W, size.H)
			c := tuitest.Capture(t, "..", "..", "testdata", "snapshots", "cluster-2.3.5-t1")
			d.Cluster(c.WithRuntime(scraped(t, c)))
			d.Shows("LATENCY  search ")
			d.Fits()
		})
	}
}

// TestBudgetsOncePerRound checks that budgets are computed once for the same responses, regardless of keys
// pressed and changes in the metadata.
func TestBudgetsOncePerRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 80, 24)
		c := tuitest.Capture(t, "..", "..", "testdata", "snapshots", "cluster-2.3.5-t1")
		first := scrapeRound(t, c, 0)
		d.Cluster(first)
		d.Keys(":").Typed("latency").Keys("enter")
		made := d.m.Times().Latency()
		d.Keys("enter down esc H 4")
		changed := *first
		changed.Origin.Revision++
		d.Cluster(&changed)
		if d.m.Times().Latency() != made {
			t.Error("the same answers were worked out twice")
		}
		d.Cluster(scrapeRound(t, c, 1))
		if d.m.Times().Latency() == made {
			t.Error("other answers were not worked out")
		}
	})
}
