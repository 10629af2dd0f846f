package live_test

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/model"
)

// smallCluster serves a cluster of three query nodes.
func smallCluster(t *testing.T, spec livetest.Spec, answers livetest.Options, opts recorded.Options) *model.Cluster {
	t.Helper()
	if spec.QueryNodes == 0 {
		spec.QueryNodes, spec.Collections, spec.Segments, spec.Growing = 3, 2, 30, 5
	}
	c := livetest.Cluster(spec)
	return livetest.Serve(t, c, livetest.Responses(c, answers), opts)
}

// ask queries a cluster with a new client.
func ask(t *testing.T, c *model.Cluster, opts live.Options) *model.Runtime {
	t.Helper()
	client, err := live.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	r, err := client.Ask(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wantOutcome checks the outcome of a session.
func wantOutcome(t *testing.T, r *model.Runtime, role string, id model.NodeID, want model.Outcome, reason string) {
	t.Helper()
	n := r.LiveNode(role, id)
	if n == nil {
		t.Fatalf("%s-%s is not in the runtime", role, id)
	}
	if n.Outcome != want || !strings.Contains(n.Reason, reason) {
		t.Errorf("%s: %s (%s), want %s (%s)", n.Name(), n.Outcome, n.Reason, want, reason)
	}
}

// wantHealthy checks that every call was answered and that the counts are right.
func wantHealthy(t *testing.T, r *model.Runtime, c *model.Cluster) {
	t.Helper()
	if len(r.Nodes) != len(c.Sessions) {
		t.Errorf("%d nodes for %d sessions", len(r.Nodes), len(c.Sessions))
	}
	for _, n := range r.Nodes {
		for _, call := range n.Calls {
			if call.Outcome != model.Answered {
				t.Errorf("%s: %s %s: %s (%s)", n.Name(), call.Method, call.About, call.Outcome, call.Reason)
			}
		}
	}
	sealed, growing, rows := 0, 0, int64(0)
	for _, n := range r.QueryNodes() {
		if n.Distribution == nil {
			t.Errorf("%s: no distribution", n.Name())
			continue
		}
		sealed += len(n.Distribution.Sealed)
		for _, v := range n.Distribution.Leaders {
			growing, rows = growing+len(v.Growing), rows+v.GrowingRows
		}
	}
	wantSealed, wantGrowing := 0, 0
	for _, s := range c.Segments {
		switch s.State {
		case model.SegmentFlushed:
			wantSealed++
		case model.SegmentGrowing:
			wantGrowing++
		default:
		}
	}
	if sealed != wantSealed || growing != wantGrowing || rows != int64(wantGrowing)*321 {
		t.Errorf("sealed %d, growing %d with %d rows; want %d, %d, %d", sealed, growing, rows, wantSealed, wantGrowing,
			wantGrowing*321)
	}
	if len(r.Recovery) != len(c.VChannels) || len(r.ShardLeaders) != len(c.VChannels) ||
		len(r.Loaded) != len(c.LoadStates) ||
		len(r.Replicas) != len(c.Replicas) || len(r.Groups) != 1 {
		t.Errorf("recovery %d, leaders %d, loaded %d, replicas %d, groups %d", len(r.Recovery), len(r.ShardLeaders),
			len(r.Loaded), len(r.Replicas), len(r.Groups))
	}
	if len(r.DataSegments) != wantGrowing {
		t.Errorf("%d segments in DataCoord's memory, want %d", len(r.DataSegments), wantGrowing)
	}
	for _, s := range r.DataSegments {
		if s.Rows != 321 {
			t.Errorf("segment %s has %d rows in DataCoord's memory", s.ID, s.Rows)
		}
	}
}

func TestAsk(t *testing.T) {
	for _, version := range []string{"2.3.5", "2.6.3"} {
		t.Run(version, func(t *testing.T) {
			c := smallCluster(t, livetest.Spec{Version: version}, livetest.Options{},
				recorded.Options{Cluster: "by-dev"})
			var mu sync.Mutex
			var kept []live.Record
			var steps []int
			r := ask(t, c, live.Options{
				Keep: func(r live.Record) {
					if !mu.TryLock() { // records come one at a time
						t.Error("two records at once")
						return
					}
					defer mu.Unlock()
					kept = append(kept, r)
				},
				Progress: func(done, _ int) { steps = append(steps, done) },
			})
			wantHealthy(t, r, c)
			if r.ClusterKey != "by-dev" {
				t.Errorf("cluster key %q", r.ClusterKey)
			}
			for i, done := range steps {
				if done != i+1 {
					t.Errorf("progress %v", steps)
					break
				}
			}
			again := live.NewDecoder()
			for _, k := range kept {
				for _, text := range [][]byte{k.Request, k.Response, []byte(k.Error), []byte(k.Address)} {
					if strings.Contains(string(text), livetest.Secret) {
						t.Errorf("%s of %s-%s is kept with a secret", k.Method, k.Role, k.Node)
					}
				}
				again.Add(k)
			}
			wantHealthy(t, again.Runtime("recording", ""), c)
		})
	}
}

// TestRecordOnly checks that RecordOnly yields the same records without decoding them.
func TestRecordOnly(t *testing.T) {
	c := smallCluster(t, livetest.Spec{}, livetest.Options{}, recorded.Options{Cluster: "by-dev"})
	questions := func(only bool) (list []string, r *model.Runtime) {
		r = ask(t, c, live.Options{RecordOnly: only, Keep: func(r live.Record) {
			role := r.Role
			// it is chance for which role a process of two is queried over HTTP
			if strings.HasPrefix(r.Method, "GET ") {
				role = ""
			}
			list = append(list,
				strings.Join([]string{role, r.Node.String(), r.Method, string(r.Request), r.Outcome, r.Error}, " "))
		}})
		slices.Sort(list)
		return list, r
	}
	want, decoded := questions(false)
	got, empty := questions(true)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is kept (-decoded +kept only):\n%s", diff)
	}
	if len(decoded.QueryNodes()) == 0 || len(empty.QueryNodes()) > 0 && empty.QueryNodes()[0].Distribution != nil {
		t.Errorf("%d nodes are decoded, and %d where none was wanted", len(decoded.QueryNodes()),
			len(empty.QueryNodes()))
	}
}

func TestOneProcessIsScrapedOnce(t *testing.T) {
	c := smallCluster(t, livetest.Spec{Standalone: true, QueryNodes: 1, Collections: 1, Segments: 3},
		livetest.Options{}, recorded.Options{})
	r := ask(t, c, live.Options{})
	if len(r.Processes) != 1 || len(r.Processes[0].Nodes) != len(c.Sessions) {
		t.Fatalf("%d processes, want one with %d sessions: %+v", len(r.Processes), len(c.Sessions), r.Processes)
	}
	p := r.Processes[0]
	if p.Outcome != model.Answered || p.Healthz != "OK" || len(p.Calls) != 2 || p.Metrics == nil {
		t.Errorf("process: %s, healthz %q, %d calls, metrics %v", p.Outcome, p.Healthz, len(p.Calls), p.Metrics != nil)
	}
	if len(r.Skipped) > 0 && strings.HasPrefix(r.Skipped[0].What, "metrics of") {
		t.Errorf("skipped: %v", r.Skipped)
	}
}

// TestMetricsPort checks that a process that does not report its configuration is scraped at
// Options.MetricsPort, and not at all without it.
func TestMetricsPort(t *testing.T) {
	c := smallCluster(t, livetest.Spec{}, livetest.Options{}, recorded.Options{})
	r := ask(t, c, live.Options{})
	found := false
	for _, s := range r.Skipped {
		found = found || s.What == "metrics of proxy-4" && strings.Contains(s.Reason, "port unknown")
	}
	if !found || r.LiveNode("proxy", 4).Process != nil {
		t.Errorf("metrics of the proxy: skipped %v, process %v", r.Skipped, r.LiveNode("proxy", 4).Process)
	}
	page := livetest.Page(t, http.StatusOK, []byte("milvus_num_node{node_id=\"4\",role_name=\"proxy\"} 1\n"))
	r = ask(t, c, live.Options{MetricsPort: page})
	if p := r.LiveNode("proxy", 4).Process; p == nil || p.Metrics == nil {
		t.Errorf("process of the proxy: %+v", p)
	}
	sick := livetest.Page(t, http.StatusInternalServerError, []byte("component proxy state is Abnormal"))
	r = ask(t, c, live.Options{MetricsPort: sick})
	if p := r.LiveNode("proxy", 4).Process; p == nil || p.Outcome != model.NotReady ||
		p.Healthz != "component proxy state is Abnormal" {
		t.Errorf("process of a sick proxy: %+v", p)
	}
}

// TestRates checks that the second scrape follows after the window, or in the next Ask.
func TestRates(t *testing.T) {
	c := smallCluster(t, livetest.Spec{}, livetest.Options{}, recorded.Options{Recorded: livetest.Now})
	now := livetest.Now
	client, err := live.Open(live.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for round, want := range []bool{false, false, true, true} {
		// at first too soon after the previous round
		now = livetest.Now.Add(time.Duration(round) * 700 * time.Millisecond)
		r, err := client.Ask(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Processes {
			if (p.Before != nil) != want {
				t.Errorf("round %d: %s: scrape before: %v", round, p.Address, p.Before != nil)
			}
			if cores, over, ok := p.CPU(); want && (!ok || over < time.Second || cores <= 0) {
				t.Errorf("%s uses %v cores over %v (%v)", p.Address, cores, over, ok)
			}
		}
	}
	r := ask(t, c, live.Options{Window: 200 * time.Millisecond})
	for _, p := range r.Processes {
		if p.Before == nil || p.Metrics.At.Sub(p.Before.At) < 200*time.Millisecond {
			t.Errorf("%s: two scrapes %v apart", p.Address, p.Metrics.At)
		}
	}
}

// TestEarlierRounds checks that storage counters are retained for one to two minutes, whatever the interval of
// the rounds.
func TestEarlierRounds(t *testing.T) {
	c := smallCluster(t, livetest.Spec{}, livetest.Options{}, recorded.Options{Recorded: livetest.Now})
	now := livetest.Now
	client, err := live.Open(live.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	const never = -1
	for _, round := range []struct{ at, earlier int }{
		{0, never}, {5, 0}, {30, 0}, {70, 0}, {100, 0}, {140, 0}, {150, 70}, {210, 70}, {215, 140},
	} {
		now = livetest.Now.Add(time.Duration(round.at) * time.Second)
		r, err := client.Ask(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Processes {
			got := never
			if p.Earlier != nil {
				got = int(p.Earlier.At.Sub(livetest.Now).Seconds())
			}
			if got != round.earlier {
				t.Errorf("%s at %d s: remembered of %d s, want %d", p.Address, round.at, got, round.earlier)
			}
		}
	}
}

func TestNoSessions(t *testing.T) {
	client, err := live.Open(live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := client.Ask(t.Context(), model.Build(model.Parts{Loaded: model.PartObjects})); err == nil || r != nil {
		t.Errorf("sessions not read: %v, %v", r, err)
	}
	r, err := client.Ask(t.Context(), model.Build(model.Parts{Loaded: model.PartAll}))
	if err != nil || len(r.Nodes) != 0 || len(r.Skipped) != 1 || r.Skipped[0].Reason != live.NobodyRegistered {
		t.Errorf("no process is registered: %v, %v", r, err)
	}
}

func TestCancel(t *testing.T) {
	c := livetest.Cluster(livetest.Spec{QueryNodes: 20, Collections: 3, Segments: 300, Growing: 20})
	c = livetest.Serve(t, c, livetest.Responses(c, livetest.Options{}), recorded.Options{})
	c = livetest.Replace(c,
		map[string]string{"querynode-101": livetest.Silent(t), "querynode-102": livetest.Refused(t)})
	punctual := livetest.Punctual(t)
	before := runtime.NumGoroutine()
	for _, after := range []time.Duration{
		0, time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond, 60 * time.Millisecond, 250 * time.Millisecond,
	} {
		client, err := live.Open(live.Options{Window: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		timer := time.AfterFunc(after, cancel)
		start := time.Now()
		_, err = client.Ask(ctx, c)
		timer.Stop()
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled after %v: %v", after, err)
		}
		if took := time.Since(start); took > after+500*time.Millisecond && punctual() {
			t.Errorf("cancelled after %v, returned after %v", after, took)
		}
	}
	wantGoroutines(t, before)
}

// wantGoroutines waits until at most as many goroutines run as before.
func wantGoroutines(t *testing.T, before int) {
	t.Helper()
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	stacks := make([]byte, 1<<20)
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
}
