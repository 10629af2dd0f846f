package rules_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// What a finding says that its cure gives is held here against what it gives in a simulation: servers that take tasks in the order in
// which they come. Nothing of the checks' estimates is in it.

// servers says when each of some servers is free, in milliseconds.
type servers []float64

// take has the server work that is free first; what comes later has to be told later.
func (s servers) take(at, ms float64) (queued, ended float64) {
	i := slices.Index(s, slices.Min(s))
	start := max(at, s[i])
	s[i] = start + ms
	return start - at, s[i]
}

// open is what tasks wait that come at any time, as many as keep so many of the servers busy.
func open(rng *rand.Rand, count int, busy, takes float64) (queued, runs float64) {
	const tasks = 200_000
	s := make(servers, count)
	at := 0.0
	for range tasks {
		at += rng.ExpFloat64() * takes / busy
		ms := rng.ExpFloat64() * takes
		q, _ := s.take(at, ms)
		queued, runs = queued+q/tasks, runs+ms/tasks
	}
	return queued, runs
}

// gainOf is what the only finding of a check says that its cure gives a search.
func gainOf(t *testing.T, x *check.Check, change func(*world)) check.Slowdown {
	t.Helper()
	r := judged(t, x, change)
	if len(r.Findings) != 1 || len(r.Findings[0].Slows) != 1 {
		t.Fatalf("%s: %s, findings %+v", x.ID, r.Status, r.Findings)
	}
	s := r.Findings[0].Slows[0]
	if s.Gain.Low < 0 || s.Gain.Low > s.Gain.High || s.Gain.High > s.Mean {
		t.Errorf("the gain is %v of %g ms", s.Gain, s.Mean)
	}
	return s
}

// holdGain holds the middle of a gain against what the cure gave. Of a cure that gives nothing, almost nothing may be said.
func holdGain(t *testing.T, s *check.Slowdown, measured float64) {
	t.Helper()
	const within, little = 0.25, 0.1
	middle := (s.Gain.Low + s.Gain.High) / 2
	t.Logf("%.1f to %.1f of %.1f ms are said, %.1f it gave", s.Gain.Low, s.Gain.High, s.Mean, measured)
	if math.Abs(middle-measured) > within*math.Abs(measured) && math.Max(middle, measured) > little*s.Mean {
		t.Errorf("%.1f to %.1f ms are said of %.1f, and %.1f it gave", s.Gain.Low, s.Gain.High, s.Mean, measured)
	}
}

// TestGainOfHigherLimit: a queue that a limit makes goes as far as there are processors for what waits in it.
func TestGainOfHigherLimit(t *testing.T) {
	for _, test := range []struct {
		name       string
		cores      int64
		limit      float64
		busy       float64 // of as many as the limit
		neighbours float64 // cores that others use on the same machine
		severity   check.Severity
	}{
		{"half of eight", 8, 4, 3.6, 0, check.Warning},
		{"one of two", 2, 1, 0.8, 0, check.Warning},
		{"one of four, others use two", 4, 1, 0.85, 2, check.Warning},
		{"one of two, others use the other", 2, 1, 0.85, 1, check.Info},
	} {
		t.Run(test.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, uint64(test.cores)))
			const takes = 30
			queued, runs := open(rng, int(test.limit), test.busy, takes)
			after, _ := open(rng, int(float64(test.cores)-test.neighbours), test.busy, takes)
			searches := 10_000 * test.busy / takes // in ten seconds
			x := named("read-queue-full")
			change := searched(traffic{searches: searches, ms: queued + runs + 3, queue: queued, sealed: runs, cores: test.busy}, func(w *world) {
				for i, id := range []model.NodeID{nodeA, nodeB} {
					n := w.query(id)
					n.System.CPUs = test.cores
					w.tell("queryNode.scheduler.maxReadConcurrentRatio", strconv.FormatFloat(test.limit/float64(test.cores), 'f', -1, 64), n)
					if test.neighbours > 0 {
						other := w.live([]string{"proxy", "rootcoord"}[i])
						other.Address = n.Address
						modeltest.AddSeries(other.Process.Metrics, "process_cpu_seconds_total", model.Series{Value: 10 * (test.neighbours - test.busy)})
					}
				}
			})
			s := gainOf(t, x, change)
			holdGain(t, &s, queued-after)
			if f := judged(t, x, change).Findings[0]; f.Severity != test.severity {
				t.Errorf("it is %s: %s", f.Severity, f.Message)
			}
		})
	}
}

// led is how long a search takes on average that asks the leaders of all shards at once, from clients who search again at once: each leads
// so many shards, and has two servers. queued is the wait of one task on the first.
func led(rng *rand.Rand, clients int, takes float64, leads ...int) (whole, queued float64) {
	const requests = 30_000
	nodes := make([]servers, len(leads))
	for i := range nodes {
		nodes[i] = make(servers, 2)
	}
	next := make([]float64, clients)
	for i := range next {
		next[i] = float64(i)
	}
	for range requests {
		i := slices.Index(next, slices.Min(next))
		at, last := next[i], 0.0
		for k, shards := range leads {
			for range shards {
				q, ended := nodes[k].take(at, rng.ExpFloat64()*takes)
				last = max(last, ended)
				if k == 0 {
					queued += q / float64(requests*shards)
				}
			}
		}
		whole += (last - at) / requests
		next[i] = last
	}
	return whole, queued
}

// TestGainOfSpreadLeaders: who leads all shards is waited for; with half of them elsewhere a search waits for about half as long.
func TestGainOfSpreadLeaders(t *testing.T) {
	const takes, searches = 40, 200
	rng := rand.New(rand.NewPCG(7, 1))
	whole, queued := led(rng, 4, takes, 6, 0)
	after, _ := led(rng, 4, takes, 3, 3)
	change := func(idle float64) func(*world) {
		return func(w *world) {
			w.serve()
			a := w.query(nodeA).Distribution
			for len(a.Leaders) < 6 {
				a.Leaders = append(a.Leaders, model.LeaderView{Channel: wellCh0, Collection: wellColl, Growing: []model.GrowingView{{ID: model.SegmentID(9000 + len(a.Leaders))}}, GrowingRows: 10_000})
			}
			w.query(nodeB).Distribution.Leaders = nil
			w.searched(traffic{searches: searches, ms: whole + 2, sealed: 1})
			kind := model.Pair{Key: "query_type", Value: "search"}
			add := func(name string, each float64, labels ...model.Pair) {
				modeltest.AddTimes(w.query(nodeA).Process.Metrics, "milvus_querynode_"+name, 6*searches, each, append(labels, kind)...)
			}
			add("sq_req_latency", idle*(queued+takes), model.Pair{Key: "scope", Value: "FromLeader"})
			add("sq_queue_latency", idle*queued)
			add("sq_segment_latency", idle*takes, model.Pair{Key: "segment_state", Value: "Growing"})
			add("sq_core_latency", idle*takes)
		}
	}
	s := gainOf(t, named("imbalance-leaders"), change(1))
	holdGain(t, &s, whole-after)
	if r := judged(t, named("imbalance-leaders"), change(0.01)); len(r.Findings) != 1 || len(r.Findings[0].Slows) > 0 {
		t.Errorf("searches do not wait for it: %+v", r.Findings)
	}
}

// TestGainOfFewerVectors: vectors of a request are searched side by side on a node's processors; ten of a thousand take hardly any time.
func TestGainOfFewerVectors(t *testing.T) {
	const each, cores = 0.8, 8
	takes := func(vectors int) (last float64) {
		s := make(servers, cores)
		for range vectors {
			_, ended := s.take(0, each)
			last = max(last, ended)
		}
		return last
	}
	for _, nq := range []int{100, 300, 1000} {
		s := gainOf(t, named("large-nq"), searched(traffic{searches: 200, ms: takes(nq) + 3, sealed: takes(nq)}, of("proxy", func(m *model.Metrics) {
			modeltest.AddSeries(m, "milvus_proxy_search_vectors_count", model.Series{Value: 200 * float64(nq)})
		})))
		if gave := takes(nq) - takes(10); gave < s.Gain.Low-1 || gave > s.Gain.High+1 {
			t.Errorf("nq %d: %v is said, %.1f ms it gave", nq, s.Gain, gave)
		}
	}
}

// TestGainOfLaterTicks: who asks for Strong waits for a time tick in any case.
func TestGainOfLaterTicks(t *testing.T) {
	const tick, way = 200, 60
	wait := func(late float64) (mean float64) { // ticks come so much too late, each other one, and clients ask at any time or at once
		rng := rand.New(rand.NewPCG(7, 2))
		const requests = 10_000
		at := 0.0
		for range requests {
			at += rng.Float64() * tick
			next := math.Ceil(at/(tick+late)) * (tick + late)
			mean += (next - at + way) / requests
			at = next
		}
		return mean
	}
	now, after := wait(1500), wait(0)
	s := gainOf(t, named("consistency-wait"), searched(traffic{searches: 60, ms: now + 30, consistency: now, sealed: 25}))
	holdGain(t, &s, now-after)
}

// TestGainOfAnIndex: what is flushed and indexed is searched still. A real 2.3.5 with 120,000 growing rows of 96 dimensions waited 64 ms for
// them in a search for 60 vectors, and 34 ms for the graph that they became, whose rows are in no cache.
func TestGainOfAnIndex(t *testing.T) {
	grown := func(rows int64) func(*world) {
		return func(w *world) {
			for _, id := range []model.NodeID{nodeA, nodeB} {
				w.query(id).Distribution.Leaders = nil
			}
			a := w.query(nodeA).Distribution
			a.Leaders = append(a.Leaders, model.LeaderView{Channel: wellCh0, Collection: wellColl, Growing: []model.GrowingView{{ID: 9000}}, GrowingRows: rows})
			w.Indexes[0].Params = append(w.Indexes[0].Params, model.Pair{Key: "M", Value: "16"})
			for _, f := range w.Collections[0].Fields {
				if f.Vector() {
					f.Dim = 96
				}
			}
		}
	}
	vectors := of("proxy", func(m *model.Metrics) {
		modeltest.AddSeries(m, "milvus_proxy_search_vectors_count", model.Series{Value: 370 * 60})
	})
	x := named("growing-search-time")
	s := gainOf(t, x, searched(traffic{searches: 370, ms: 72, sealed: 1, grow: 63.6}, vectors, grown(120_000)))
	for what, gave := range map[string]float64{"of kernels": 63.6 - 33.6, "of the client": 84.2 - 49.0} {
		if gave < s.Gain.Low || gave > s.Gain.High {
			t.Errorf("%s it gave %.1f ms, said is %v", what, gave, s.Gain)
		}
	}
	hold(t, x, []verdict{
		{"few rows, of which an index gives nothing", searched(traffic{searches: 370, ms: 42, sealed: 16, grow: 20, slow: map[model.NodeID]float64{nodeB: 1.2}}, vectors, grown(1_000)), nil, ""},
		{"many", searched(traffic{searches: 370, ms: 220, sealed: 16, grow: 200}, vectors, grown(60_000)), []string{"info collections/1000 for growing segments"}, ""},
	})
	small := gainOf(t, x, searched(traffic{searches: 370, ms: 72, sealed: 1, grow: 63.6}, vectors, grown(3_000)))
	if small.Gain.Low < 55 {
		t.Errorf("of a graph that a cache holds %v is said", small.Gain)
	}
}
