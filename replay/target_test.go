package replay_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"kitescope/engine"
	"kitescope/engine/segment"
	"kitescope/engine/segment/segmenttest"
	"kitescope/replay"
	"kitescope/replay/load"
)

func newTarget(t testing.TB, l *replay.Loaded, o replay.TargetOptions) *replay.Target {
	t.Helper()
	if o.Options == (segment.Options{}) {
		o.Options = segment.Milvus(2, 3)
	}
	target, err := replay.NewTarget(l, o)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// ask sends one request in a session of its own.
func ask(t testing.TB, target load.Target, r *load.Request) *load.Answer {
	t.Helper()
	s, err := target.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Ask(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAnswers(t *testing.T) {
	c := four(t)
	l := loadOf(t, c, c.layout, nil)
	filter := func(r *load.Request, exclude bool, keys ...int64) *load.Request {
		r.Keys, r.Exclude = numbers(keys...), exclude
		return r
	}
	for name, x := range map[string]struct {
		request *load.Request
		want    string
	}{
		"over the border of segments": {at(t, 0, 3, 214.25), "214@0.0625 215@0.5625 213@1.5625"},
		"of several segments":         {at(t, 0, 4, 264.5), "229@1260.25 300@1260.25 228@1332.25 301@1332.25"},
		"two vectors":                 {at(t, 0, 2, 100, 429), "100@0 101@1 | 429@0 428@1"},
		"these keys alone": {
			filter(at(t, 0, 3, 300), false, 410, 305, 999, 120), "305@25 410@12100 120@32400",
		},
		"none of these keys": {filter(at(t, 0, 2, 300), true, 300, 301, 999), "302@4 303@9"},
		"no keys at all":     {filter(at(t, 0, 2, 300), false), ""},
		"more than there is": {filter(at(t, 0, 5, 300), false, 301), "301@1"},
	} {
		t.Run(name, func(t *testing.T) {
			if x.request.Keys == nil && strings.Contains(name, "no keys") {
				x.request.Keys = []engine.Key{}
			}
			a := ask(t, newTarget(t, l, replay.TargetOptions{}), x.request)
			var all []string
			for _, hits := range a.Hits {
				all = append(all, strings.Join(text(hits), " "))
			}
			if got := strings.Join(all, " | "); got != x.want {
				t.Errorf("%s, want %s", got, x.want)
			}
			if a.Distances == 0 && x.want != "" {
				t.Error("no distances were counted")
			}
		})
	}
}

func TestRefusedRequests(t *testing.T) {
	c := four(t)
	target := newTarget(t, loadOf(t, c, c.layout, nil), replay.TargetOptions{})
	s, err := target.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	long := at(t, 0, 3, 1)
	long.Vectors = randomVectors(t, rand.New(rand.NewPCG(1, 1)), 1, 3)
	ef := at(t, 0, 3, 1)
	ef.EF = 0
	for want, r := range map[string]*load.Request{
		"a query of 3 dimensions": long, "k is 0": at(t, 0, 0, 1), "without vectors": {K: 1},
		"segment 3: an HNSW search needs ef": ef,
	} {
		if _, err := s.Ask(t.Context(), r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Ask(over, at(t, 0, 3, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that is over: %v", err)
	}
	if a, err := s.Ask(t.Context(), at(t, 0, 1, 117)); err != nil || a.Hits[0][0].Key.Number != 117 {
		t.Errorf("after errors: %v, %v", a, err)
	}
	if _, err := replay.NewTarget(&replay.Loaded{Layout: c.layout}, replay.TargetOptions{Replica: 1}); err == nil ||
		!strings.Contains(err.Error(), "no replica 1") {
		t.Errorf("replica 1: %v", err)
	}
}

func TestSegmentsThatAReplicaDoesNotServe(t *testing.T) {
	c := four(t)
	c.layout.Segments[3].On = []int64{0}
	target := newTarget(t, loadOf(t, c, c.layout, nil), replay.TargetOptions{})
	if a := ask(t, target, at(t, 0, 1, 400)); a.Hits[0][0].Key.Number != 329 || target.Unserved != 1 {
		t.Errorf("%v, %d segments left", text(a.Hits[0]), target.Unserved)
	}
	for i := range c.layout.Segments { // without a serving node all segments are searched
		c.layout.Segments[i].On = nil
	}
	target = newTarget(t, loadOf(t, c, c.layout, nil), replay.TargetOptions{})
	if a := ask(t, target, at(t, 0, 1, 400)); a.Hits[0][0].Key.Number != 400 || target.Unserved != 0 {
		t.Errorf("%v, %d segments left", text(a.Hits[0]), target.Unserved)
	}
}

// TestStepsOfTheMerge checks that merging by node, leader and proxy gives the same answer as one merge of all
// segments, for any placement, with keys in several segments and many equal distances. knowhere 2.2 returns equally
// near rows of a segment in any order, so the steps can differ if a key is in several segments. In that case each
// key is in one segment.
func TestStepsOfTheMerge(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 30 {
		options, spread := segment.Milvus(2, 4), int64(0)
		if round%2 == 1 {
			options, spread = segment.Milvus(2, 3), 1000
		}
		c := newCluster(1+r.IntN(4), 1+r.IntN(3))
		for id := range int64(1 + r.IntN(9)) {
			places := map[int64]float32{}
			for range 1 + r.IntN(12) {
				places[r.Int64N(40)] = float32(r.IntN(6))
			}
			var keys []int64
			var x []float32
			for k := range int64(40) {
				if at, ok := places[k]; ok {
					keys, x = append(keys, k+id*spread), append(x, at)
				}
			}
			s := c.add(t, id+1, replay.State(r.IntN(2)), keys, x)
			s.Channel = channel(r.IntN(len(c.layout.Replicas[0].Leaders)))
			s.On = []int64{1 + r.Int64N(int64(len(c.layout.Nodes)))}
		}
		l := loadOf(t, c, c.layout, nil)
		var all []*segment.Segment
		for _, p := range l.Parts {
			all = append(all, p.Data)
		}
		flat, err := segmenttest.NewSearcher(all, options)
		if err != nil {
			t.Fatal(err)
		}
		target := newTarget(t, l, replay.TargetOptions{Options: options})
		for k := range 20 {
			request := at(t, 0, k+1, float32(r.IntN(6)))
			a := ask(t, target, request)
			want, _, err := flat.Search(request.Vectors.Row(0), segment.Params{
				K: k + 1, SearchParams: engine.SearchParams{EF: 20},
			})
			if err != nil {
				t.Fatal(err)
			}
			var list []load.Hit
			for _, h := range want {
				list = append(list, load.Hit{Key: h.Key(), Distance: h.Distance})
			}
			if !slices.Equal(a.Hits[0], list) {
				t.Fatalf("round %d, k %d: %v, one merge has %v", round, k+1, text(a.Hits[0]), text(list))
			}
		}
	}
}

func TestCosts(t *testing.T) {
	c := four(t)
	target := newTarget(t, loadOf(t, c, c.layout, nil), replay.TargetOptions{Slowest: 3})
	requests := []*load.Request{at(t, 0, 3, 214), at(t, 1, 3, 315, 9), at(t, 2, 3, 1), at(t, 3, 20, 1)}
	if _, failed, err := replay.AskAll(t.Context(), target, requests, 2); err != nil || failed > 0 {
		t.Fatal(failed, err)
	}
	costs := target.Costs()
	if costs.Queries != 5 || len(costs.Segments) != 4 || costs.Wall <= 0 || costs.Reduce <= 0 {
		t.Errorf("%+v", costs)
	}
	for _, s := range costs.Segments {
		indexed := s.Segment >= 3
		if s.Queries != 5 || s.Rows != 30 || s.Time <= 0 || (s.Index == "HNSW") != indexed || (s.EF == 20) != indexed ||
			s.Node == 0 || s.NodeName == "" {
			t.Errorf("%+v", s)
		}
		// The request with k = 20 of 30 rows is answered by comparing all rows although there are graphs.
		if brute := s.BruteForce == 1; brute != indexed || !indexed && s.Distances != 5*30 {
			t.Errorf("%+v", s)
		}
	}
	states, nodes, indexes := map[replay.State]int{}, map[int64]int{}, map[string]int{}
	for _, s := range costs.Segments {
		states[s.State]++
		nodes[s.Node]++
		indexes[s.Index]++
	}
	if len(states) != 3 || len(nodes) != 2 || len(indexes) != 2 {
		t.Errorf("%v, %v, %v", states, nodes, indexes)
	}
	slow := target.Slowest()
	if len(slow) != 3 || slow[0].Took < slow[1].Took || slow[1].Took < slow[2].Took || len(slow[0].Segments) != 4 {
		t.Errorf("slowest %+v", slow)
	}
	for _, q := range slow {
		if !slices.IsSortedFunc(q.Segments, func(a, b replay.SegmentTime) int { return int(b.Took - a.Took) }) ||
			q.Segments[0].Node == 0 {
			t.Errorf("%+v", q)
		}
	}
	target.ResetCosts()
	if costs := target.Costs(); costs.Queries != 0 || costs.Wall != 0 || len(target.Slowest()) != 0 {
		t.Errorf("after a reset %+v", costs)
	}
}

// TestResetCostsConcurrent checks that costs from before a reset do not come back when an open session is closed.
func TestResetCostsConcurrent(t *testing.T) {
	c := four(t)
	target := newTarget(t, loadOf(t, c, c.layout, nil), replay.TargetOptions{})
	s, err := target.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, reset := range []bool{false, true, false} {
		if reset {
			target.ResetCosts()
		}
		if _, err := s.Ask(t.Context(), at(t, i, 2, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if costs := target.Costs(); costs.Queries != 2 || costs.Segments[0].Queries != 2 {
		t.Errorf("%+v", costs)
	}
}

// TestForcedState checks that TargetOptions.State makes indexed segments be searched row by row.
func TestForcedState(t *testing.T) {
	c := four(t)
	target := newTarget(t, loadOf(t, c, c.layout, nil),
		replay.TargetOptions{State: func(*replay.Part) replay.State { return replay.Growing }})
	a := ask(t, target, at(t, 0, 3, 314.25))
	if got := strings.Join(text(a.Hits[0]), " "); got != "314@0.0625 315@0.5625 313@1.5625" || a.Distances != 120 {
		t.Errorf("%s by %d distances", got, a.Distances)
	}
	for _, s := range target.Costs().Segments {
		if s.State != replay.Growing {
			t.Errorf("%+v", s)
		}
	}
}

// TestConcurrentSessions runs sessions, costs and resets concurrently for the race detector.
func TestConcurrentSessions(t *testing.T) {
	c := four(t)
	target := newTarget(t, loadOf(t, c, c.layout, nil), replay.TargetOptions{})
	var asking sync.WaitGroup
	for i := range 4 {
		asking.Go(func() {
			s, err := target.Session(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			for j := range 50 {
				r := at(t, j, 3, float32(100*i+j))
				if j%5 == 0 {
					r.Keys = numbers(300, 100)
				}
				if _, err := s.Ask(t.Context(), r); err != nil {
					t.Error(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	for range 20 {
		target.Costs()
		target.Slowest()
		target.ResetCosts()
	}
	asking.Wait()
}

func randomVectors(t testing.TB, r *rand.Rand, rows, dim int) *engine.Vectors {
	t.Helper()
	values := make([]float32, rows*dim)
	for i := range values {
		values[i] = float32(r.NormFloat64())
	}
	v, err := engine.FromFloat32s(dim, values)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
