package demo_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/latency"
	"kitescope/inspect/live"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session/demo"
	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

func startDemo(t *testing.T) *demo.Cluster {
	t.Helper()
	c, err := demo.Start(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func openDemo(t *testing.T, c *demo.Cluster) source.Live {
	t.Helper()
	src, err := c.Source("")
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// TestConformance checks that the demo conforms to source.Source and has the keys of the capture.
func TestConformance(t *testing.T) {
	c := startDemo(t)
	bundle, err := source.Open(t.Context(), "demo.kite", source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer bundle.Close()
	of, err := bundle.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h := of.Header()
	want := sourcetest.Want{
		Kind: source.KindEtcd, Root: h.Root, MetaPath: h.MetaPath, Revision: h.Revision, Keys: keys(t, of), Exact: true,
	}
	pinned, err := openDemo(t, c).Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	hosted := 0
	for i, kv := range keys(t, pinned) { // these values differ from the capture
		if key := kv.Key; bytes.Contains(key, []byte("/session/")) || bytes.HasSuffix(key, []byte("/timestamp")) {
			want.Keys[i].Value = kv.Value
			hosted++
		}
	}
	if hosted < 10 {
		t.Errorf("only %d sessions lead to servers of the demo", hosted)
	}
	sourcetest.Run(t, openDemo(t, c), want)
}

func keys(t *testing.T, snap source.Snapshot) []source.KV {
	t.Helper()
	var kvs []source.KV
	err := snap.Scan(t.Context(), []source.Range{{}}, func(kv source.KV) error {
		kv.Key, kv.Value = bytes.Clone(kv.Key), bytes.Clone(kv.Value)
		kvs = append(kvs, kv)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(kvs, func(a, b source.KV) int { return bytes.Compare(a.Key, b.Key) })
	return kvs
}

// TestNow checks that the clock equals the newest time tick that a query node had received.
func TestNow(t *testing.T) {
	decoder := live.NewDecoder()
	for _, r := range startDemo(t).Answers() {
		decoder.Add(r)
	}
	var newest time.Time
	for _, n := range decoder.Runtime("recording", "").QueryNodes() {
		if n.System == nil || n.System.Quota == nil {
			continue
		}
		if at := n.System.Quota.SlowestAt.Time(); at.After(newest) {
			newest = at
		}
	}
	if !newest.Equal(demo.Now()) {
		t.Errorf("it stands at %s, the processes were asked at %s", demo.Now(), newest.UTC().Format(time.RFC3339Nano))
	}
}

// TestRoot checks that Source returns a *source.RootError for a root that does not exist.
func TestRoot(t *testing.T) {
	c := startDemo(t)
	for root, ok := range map[string]bool{"": true, "by-dev": true, "by-dev/meta": true, "other": false} {
		_, err := c.Source(root)
		if _, refused := errors.AsType[*source.RootError](err); refused == ok || (err == nil) != ok {
			t.Errorf("root %q: %v", root, err)
		}
	}
}

// TestWatch checks that each change arrives once and in order, whether it was made before or after the watch began.
// A pinned snapshot must not change.
func TestWatch(t *testing.T) {
	c := startDemo(t)
	src := openDemo(t, c)
	pinned, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before := len(keys(t, pinned))
	h := pinned.Header()
	synctest.Test(t, func(t *testing.T) {
		c.Put("by-dev/meta/x", []byte("1"))
		ctx, stop := context.WithCancel(t.Context())
		var got []string
		ended := make(chan error)
		go func() {
			ended <- src.Watch(ctx, h, func(revision int64, events []source.Event) error {
				for _, e := range events {
					if e.ModRevision != revision || revision != h.Revision+int64(len(got))+1 {
						t.Errorf("revision %d of an event of %d, after %d", revision, e.ModRevision, len(got))
					}
					text := string(e.Key) + "=" + string(e.Value)
					if e.Deleted {
						text = "no " + string(e.Key)
					}
					got = append(got, text)
				}
				return nil
			})
		}()
		synctest.Wait()
		c.Put("by-dev/meta/x", []byte("2"))
		c.Delete("by-dev/meta/nothing")
		c.Delete("by-dev/meta/x")
		synctest.Wait()
		activity := make(chan *model.EtcdActivity)
		go func() {
			a, err := src.Activity(t.Context(), time.Second)
			if err != nil {
				t.Error(err)
			}
			activity <- a
		}()
		synctest.Wait()
		c.Put("by-dev/meta/y", nil)
		if a := <-activity; a.Writes != 1 || a.Revisions != 1 {
			t.Errorf("activity %+v", a)
		}
		stop()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the watch ended with %v", err)
		}
		if want := []string{"by-dev/meta/x=1", "by-dev/meta/x=2", "no by-dev/meta/x", "by-dev/meta/y="}; !slices.Equal(
			got, want,
		) {
			t.Errorf("events %q, want %q", got, want)
		}
	})
	if now := len(keys(t, pinned)); now != before {
		t.Errorf("a snapshot of %d keys has %d", before, now)
	}
	h.Revision = 1
	if err := src.Watch(t.Context(), h, nil); !errors.Is(err, source.ErrCompacted) {
		t.Errorf("a watch from before the beginning: %v", err)
	}
}

// TestCountersAdvance checks that with a running clock two scrapes give a window with the captured rates, while the
// cluster's clock stays frozen.
func TestCountersAdvance(t *testing.T) {
	var passed atomic.Int64
	now := func() time.Time { return time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(passed.Load())) }
	cluster, err := demo.Start(t.Context(), now)
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	snap, err := openDemo(t, cluster).Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := meta.Load(t.Context(), snap, meta.Want{Parts: model.PartAll})
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(cluster.ProxyPort())
	if err != nil {
		t.Fatal(err)
	}
	client, err := live.Open(live.Options{
		Now: demo.Now, Counters: cluster.Counters, MetricsPort: port, Timeout: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var budgets []*latency.Budget
	for range 2 {
		r, err := client.Ask(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if r.From.After(demo.Now()) || r.To.After(demo.Now()) {
			t.Errorf("asked from %s to %s, and the cluster stands at %s: who is held against that lags behind", r.From,
				r.To, demo.Now())
		}
		l := latency.Compute(c.WithRuntime(r))
		if b := l.Find("", latency.Search); b != nil {
			budgets = append(budgets, b)
		}
		if len(budgets) == 2 {
			if took := l.Window.To.Sub(l.Window.From); l.Window.SinceStart || took != 20*time.Second {
				t.Errorf("the window is %s, %s", took, l.Window.Why)
			}
		}
		passed.Add(int64(20 * time.Second))
	}
	if len(budgets) != 2 {
		t.Fatal("no budget")
	}
	whole, part := budgets[0], budgets[1]
	if math.Abs(part.PerSecond.Value-whole.PerSecond.Value) > 0.1 || math.Abs(part.Ms-whole.Ms) > 0.1 ||
		part.Requests < 500 || part.Requests >= whole.Requests {
		t.Errorf("in the window %v of %v ms, %v a second; captured were %v of %v ms, %v a second", part.Requests,
			part.Ms, part.PerSecond, whole.Requests, whole.Ms, whole.PerSecond)
	}
}

// TestKeepsTheCPUOfItsCapture checks that the demo shows the captured CPU usage, however long it runs.
func TestKeepsTheCPUOfItsCapture(t *testing.T) {
	t.Parallel() // it sleeps
	cluster := startDemo(t)
	captured := map[string]float64{} // cores by the current address of the process
	for is, text := range cluster.Metrics() {
		m, err := live.ParseMetrics(bytes.NewReader(text), demo.Now())
		if err != nil {
			t.Fatal(err)
		}
		captured[is], _, _ = (&model.Process{Metrics: m}).CPU()
	}
	snap, err := openDemo(t, cluster).Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := meta.Load(t.Context(), snap, meta.Want{Parts: model.PartAll})
	if err != nil {
		t.Fatal(err)
	}
	for name, window := range map[string]time.Duration{"in the UI": 0, "in diagnose": time.Second} {
		client, err := live.Open(live.Options{Now: demo.Now, Window: window})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		for range 2 {
			r, err := client.Ask(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			seen := 0
			for _, n := range r.QueryNodes() {
				cores, _, ok := n.Process.CPU()
				if had := captured[n.Address]; had == 0 || math.Abs(cores-had) > 1e-6*had {
					t.Errorf("%s: %s uses %v cores (%v), captured were %v", name, n.Name(), cores, ok, had)
				}
				if ok {
					seen++
				}
			}
			if seen == 0 {
				t.Error("no process told its processor time")
			}
			time.Sleep(1100 * time.Millisecond)
		}
	}
}

// TestStorage checks that the demo has exactly the files that its metadata lists for one collection.
func TestStorage(t *testing.T) {
	snap, err := openDemo(t, startDemo(t)).Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := meta.Load(t.Context(), snap, meta.Want{Parts: model.PartAll})
	if err != nil {
		t.Fatal(err)
	}
	want, got := map[string]int64{}, map[string]int64{}
	for _, collection := range c.Collections {
		for _, s := range c.SegmentsOf(collection.ID) {
			if collection.Name != demo.StoredCollection || s.State == model.SegmentDropped {
				continue
			}
			for _, l := range s.Logs {
				folder := fmt.Sprintf("%s_log/%d/%d/%d/%d", l.Kind, s.Collection, s.Partition, s.ID, l.Field)
				want[folder] = l.Bytes
			}
		}
	}
	store, err := demo.Storage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	files, err := store.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		got[path.Dir(f.Name)] += f.Size
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) != 6 {
		t.Errorf("files by folder (-metadata +storage):\n%s", diff)
	}
}
