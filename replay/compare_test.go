package replay_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/segment"
	"kitescope/replay"
	"kitescope/replay/load"
	"kitescope/replay/log"
)

func hit(key int64, distance float32) load.Hit {
	return load.Hit{Key: engine.NumberKey(key), Distance: distance}
}

// answersOf returns the answers to requests with one vector each.
func answersOf(from string, lists ...[]load.Hit) *replay.Answers {
	a := &replay.Answers{From: from, Hits: map[int][][]load.Hit{}}
	for i, l := range lists {
		if l != nil {
			a.Hits[i] = [][]load.Hit{l}
		}
	}
	return a
}

func TestRecall(t *testing.T) {
	truth := answersOf("the truth", []load.Hit{hit(1, 1), hit(2, 2), hit(3, 2)}, []load.Hit{hit(4, 1)}, []load.Hit{},
		[]load.Hit{hit(1, 1), hit(2, 2)})
	requests := []*load.Request{
		{Number: 0, K: 3}, {Number: 1, K: 3}, {Number: 2, K: 3}, {Number: 3, K: 1}, {Number: 4, K: 3},
	}
	for name, c := range map[string]struct {
		got    *replay.Answers
		metric engine.Metric
		keys   bool
		want   float64
		worst  float64
		of     int
		n      int
	}{
		"all": {
			got: answersOf("", []load.Hit{hit(1, 1), hit(2, 2), hit(3, 2)}, []load.Hit{hit(4, 1)}), want: 1, worst: 1,
			n: 2,
		},
		"one of three": {
			got: answersOf("", []load.Hit{hit(1, 1), hit(8, 2.5), hit(9, 3)}, []load.Hit{hit(4, 1)}), want: 2. / 3,
			worst: 1. / 3, n: 2,
		},
		"a tie": {
			got: answersOf("", []load.Hit{hit(1, 1), hit(3, 2), hit(9, 2)}), want: 1, worst: 1, n: 1,
		},
		"a tie, but for a bit": {
			got: answersOf("", []load.Hit{hit(1, 1), hit(3, 2), hit(9, math.Nextafter32(2, 3))}), want: 1, worst: 1,
			n: 1,
		},
		"greater is nearer": {
			got: answersOf("", []load.Hit{hit(1, 1), hit(3, 2), hit(9, 2.5)}), metric: dist.InnerProduct, want: 1,
			worst: 1, n: 1,
		},
		"greater is nearer, lesser": {
			got: answersOf("", []load.Hit{hit(1, 1), hit(3, 2), hit(9, 1.5)}), metric: dist.InnerProduct, want: 2. / 3,
			worst: 2. / 3, n: 1,
		},
		"a key twice": {
			got: answersOf("", []load.Hit{hit(1, 1), hit(1, 1), hit(1, 1)}), want: 1. / 3, worst: 1. / 3, n: 1,
		},
		"a tie, keys alone": {
			got: answersOf("", []load.Hit{hit(1, 1), hit(3, 2), hit(9, 2)}), keys: true, want: 2. / 3, worst: 2. / 3,
			n: 1,
		},
		"k is less than the truth": {
			got: answersOf("", nil, nil, nil, []load.Hit{hit(2, 2)}), want: 0, worst: 0, of: 3, n: 1,
		},
		"more than the truth has, keys alone": {
			got: answersOf("", nil, []load.Hit{hit(5, 1), hit(6, 1), hit(4, 1)}), keys: true, want: 0, worst: 0, of: 1,
			n: 1,
		},
		"nothing was answered": {got: answersOf("", []load.Hit{}, []load.Hit{hit(4, 1)}), want: 0.5, worst: 0, n: 2},
	} {
		t.Run(name, func(t *testing.T) {
			truth.KeysOnly = c.keys
			r := replay.RecallOf(requests, c.got, truth, c.metric)
			if r == nil || math.Abs(r.Mean-c.want) > 1e-12 || math.Abs(r.Worst-c.worst) > 1e-12 || r.Queries != c.n ||
				r.WorstQuery != c.of || r.Against != "the truth" {
				t.Fatalf("%+v", r)
			}
			if r.Low > r.Mean || r.High < r.Mean || r.Low < 0 || r.High > 1 {
				t.Errorf("from %v to %v around %v", r.Low, r.High, r.Mean)
			}
		})
	}
	if r := replay.RecallOf(requests, answersOf(""), truth, dist.L2); r != nil {
		t.Errorf("of no answers: %+v", r)
	}
}

// TestRecallInterval checks that about 95% of the intervals contain the true mean.
func TestRecallInterval(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	holds := 0
	requests := make([]*load.Request, 80)
	for i := range requests {
		requests[i] = &load.Request{Number: i, K: 10}
	}
	for range 100 {
		var truth, got [][]load.Hit
		for range requests {
			var right, found []load.Hit
			for k := range int64(10) {
				right = append(right, hit(k, float32(k)))
				if r.Float64() < 0.9 {
					found = append(found, hit(k, float32(k)))
				}
			}
			truth, got = append(truth, right), append(got, found)
		}
		a, b := answersOf("", got...), answersOf("", truth...)
		one, again := replay.RecallOf(requests, a, b, dist.L2), replay.RecallOf(requests, a, b, dist.L2)
		if *one != *again {
			t.Fatalf("%+v, and then %+v", one, again)
		}
		if one.Low <= 0.9 && 0.9 <= one.High && one.High-one.Low < 0.1 {
			holds++
		}
	}
	if holds < 86 {
		t.Errorf("%d of 100 intervals hold the mean", holds)
	}
}

func TestDiffer(t *testing.T) {
	c := four(t)
	l := loadOf(t, c, c.layout, nil)
	for _, p := range l.Parts {
		if p.Info.ID == 2 {
			p.Data.Deleted.Set(5) // key 205
		}
	}
	walk, row, gone, deleted := int64(310), int64(210), int64(999), int64(205)
	for name, x := range map[string]struct {
		want, got []load.Hit
		equal     int
		same      int
		explained map[string]int
	}{
		"equal": {
			[]load.Hit{hit(1, 1), hit(2, 2)}, []load.Hit{hit(1, 1), hit(2, 2)}, 2, 2, map[string]int{},
		},
		"ties": {
			[]load.Hit{hit(1, 1), hit(2, 1)},
			[]load.Hit{hit(2, 1), hit(1, 1)},
			0, 2,
			map[string]int{replay.EqualDistance: 2},
		},
		"another walk": {
			[]load.Hit{hit(walk, 1), hit(row, 2)}, []load.Hit{hit(row, 2)}, 0, 1, map[string]int{replay.OtherPath: 2},
		},
		"another walk, the other": {
			[]load.Hit{hit(row, 2), hit(301, 4)},
			[]load.Hit{hit(walk, 1), hit(row, 2)},
			0, 1,
			map[string]int{replay.OtherPath: 2},
		},
		"not stored, and those after": {
			[]load.Hit{hit(row, 1), hit(211, 2), hit(212, 3)},
			[]load.Hit{hit(gone, 0.5), hit(row, 1), hit(211, 2)},
			0,
			2,
			map[string]int{replay.NotStored: 3},
		},
		"deleted": {
			[]load.Hit{hit(row, 2)}, []load.Hit{hit(deleted, 1)}, 0, 0, map[string]int{replay.DeletedSince: 1},
		},
		"of rows, without reason": {
			[]load.Hit{hit(row, 1), hit(211, 2)}, []load.Hit{hit(211, 2), hit(212, 3)}, 0, 1, map[string]int{},
		},
		"nothing came": {[]load.Hit{hit(row, 1)}, nil, 0, 0, map[string]int{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := answersOf("got", x.got)
			if x.got == nil {
				got = answersOf("got", []load.Hit{})
			}
			d := replay.Differ(answersOf("engine", x.want), got, l)
			if d.Against != "engine" || d.Queries != 1 || d.Hits != len(x.want) || d.Equal != x.equal ||
				d.BitEqual != x.equal || d.SameSet != x.same || len(d.Examples) != d.Hits-d.Equal {
				t.Errorf("%+v", d)
			}
			if diff := cmp.Diff(x.explained, d.Explained); diff != "" {
				t.Error(diff)
			}
		})
	}
	d := replay.Differ(answersOf("", []load.Hit{hit(1, 1)}), answersOf("", []load.Hit{hit(1, math.Nextafter32(1, 2))}),
		nil)
	if d.Equal != 1 || d.BitEqual != 0 {
		t.Errorf("another last bit: %+v", d)
	}
}

func TestExact(t *testing.T) {
	c := four(t)
	l := loadOf(t, c, c.layout, nil)
	l.Parts[1].Data.Deleted.Set(10) // key 210
	var requests []*load.Request
	for i := range 400 {
		requests = append(requests, at(t, i, 1+i%2*3, float32(100+i), 210.25))
	}
	requests[7].Keys = numbers(100, 210, 411)
	requests[8].Keys, requests[8].Exclude = numbers(208, 108), true
	answers, err := replay.Exact(t.Context(), l, requests, segment.Milvus(2, 3), 2)
	if err != nil {
		t.Fatal(err)
	}
	target := newTarget(t, l, replay.TargetOptions{State: func(*replay.Part) replay.State { return replay.Unindexed }})
	rows, _, err := replay.AskAll(t.Context(), target, requests, 1)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rows.Hits, answers.Hits); diff != "" {
		t.Error(diff)
	}
	if got := strings.Join(text(answers.Hits[7][1]), " "); got != "100@12155.0625 411@40300.562" {
		t.Errorf("under a filter: %s", got)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := replay.Exact(over, l, requests, segment.Milvus(2, 3), 2); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that is over: %v", err)
	}
}

func TestRecorder(t *testing.T) {
	c := four(t)
	requests := []*load.Request{at(t, 0, 2, 101), at(t, 1, 2, 202, 203), at(t, 2, 0, 1)}
	r := replay.Record(newTarget(t, loadOf(t, c, c.layout, nil), replay.TargetOptions{}), requests)
	direct, failed, err := replay.AskAll(t.Context(), r, requests, 2)
	if err != nil || failed != 1 {
		t.Fatal(failed, err)
	}
	kept := r.Answers()
	if diff := cmp.Diff(direct, kept); diff != "" || len(kept.Hits) != 2 || kept.From != "engine" {
		t.Errorf("%s %+v", diff, kept)
	}
}

// runLog returns a log over the four segments. The truth of its first half is wrong.
func runLog(t *testing.T) *log.Log {
	t.Helper()
	var values []float32
	l := &log.Log{Name: "test.npy", Format: "npy", Digest: "00"}
	for i := range 40 {
		values = append(values, float32(100+10*i), 0)
		l.Requests = append(l.Requests, log.Request{First: i, NQ: 1})
		l.Truth = append(l.Truth, numbers(int64(100+10*i)))
	}
	v, err := engine.FromFloat32s(2, values)
	if err != nil {
		t.Fatal(err)
	}
	l.Vectors = v
	return l
}

func TestRun(t *testing.T) {
	c := four(t)
	c.layout.Version, c.layout.Notes = "2.3.5", []string{"a note"}
	loaded := loadOf(t, c, c.layout, nil)
	l := runLog(t)
	requests, err := replay.Requests(l, &c.layout.Collection, replay.RequestParams{
		K: 1, SearchParams: engine.SearchParams{EF: 20},
	})
	if err != nil {
		t.Fatal(err)
	}
	var stages []string
	o := replay.RunOptions{
		Loaded: loaded, Log: l, Requests: requests, Truth: replay.ExactTruth,
		Engine: replay.TargetOptions{Options: segment.Milvus(2, 3)},
		Plan:   load.Plan{Sessions: 2, Requests: 80, Rounds: 2},
		Setup:  replay.Setup{Command: "kitescope replay run", Source: "given"},
		Now:    func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
		Progress: func(p replay.RunProgress) {
			if !slices.Contains(stages, p.Stage) {
				stages = append(stages, p.Stage)
			}
		},
	}
	r, err := replay.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	s := r.Setup
	if s.Command == "" || s.Source != "given" || s.Target != "engine" || s.Milvus != "2.3.5" || s.Queries != 40 ||
		s.Dim != 2 || s.LogDigest != "00" || s.Replica != 9 || s.Metric != "L2" || s.Machine.Kernels == "" {
		t.Errorf("setup %+v", s)
	}
	if r.Kind != "run" || len(r.Points) != 1 || r.Points[0].EF != 20 || r.Points[0].K != 1 || r.Points[0].Recall != 1 ||
		r.Points[0].RecallLow != 1 || r.Points[0].RecallHigh != 1 || r.Recall == nil ||
		r.Recall.Against != replay.ByEngine || r.Stopped != "" {
		t.Errorf("%+v", r)
	}
	if r.Costs.Queries != 160 || len(r.Slowest) == 0 || r.Cover.Covered != 120 || !slices.Contains(r.Notes, "a note") ||
		strings.Join(stages, " ") != "true neighbours answers load" {
		t.Errorf("costs of %d queries, %d slow ones, %+v, notes %q, stages %q", r.Costs.Queries, len(r.Slowest),
			r.Cover, r.Notes, stages)
	}
	o.Truth, o.Sessions, o.EF, o.Plan.Rounds = replay.LogTruth, []int{1, 2}, []int{16, 32, 64}, 1
	if r, err = replay.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if r.Kind != "sweep" || len(r.Points) != 6 || r.Points[5].EF != 64 || r.Points[5].Sessions != 2 ||
		r.Costs.Queries != 6*80 || r.Recall.Mean >= 1 || r.Recall.Mean != r.Points[5].Recall {
		t.Errorf("sweep: %+v", r)
	}
}

// TestRunOfAnotherTarget checks the comparison of a target with the engine's answers. The target is an engine that
// searches row by row.
func TestRunOfAnotherTarget(t *testing.T) {
	c := four(t)
	loaded := loadOf(t, c, c.layout, nil)
	l := runLog(t)
	requests, err := replay.Requests(l, &c.layout.Collection, replay.RequestParams{
		K: 3, SearchParams: engine.SearchParams{EF: 20},
	})
	if err != nil {
		t.Fatal(err)
	}
	other := newTarget(t, loaded,
		replay.TargetOptions{State: func(*replay.Part) replay.State { return replay.Growing }})
	r, err := replay.Run(t.Context(), replay.RunOptions{
		Loaded: loaded, Target: other, Log: l, Requests: requests, Truth: replay.ExactTruth, Differences: true,
		Engine: replay.TargetOptions{Options: segment.Milvus(2, 3)}, Plan: load.Plan{Sessions: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	d := r.Differences
	if d == nil || d.Queries != 40 || d.Hits != 120 || d.Against != "engine" || d.SameSet < 110 || r.Recall.Mean != 1 ||
		r.Points[0].Recall != 1 || r.Costs != nil || r.Slowest != nil {
		t.Errorf("%+v, differences %+v, recall %+v", r, d, r.Recall)
	}
}

func TestRunIsInterrupted(t *testing.T) {
	c := four(t)
	loaded := loadOf(t, c, c.layout, nil)
	l := runLog(t)
	requests, err := replay.Requests(l, &c.layout.Collection, replay.RequestParams{
		K: 1, SearchParams: engine.SearchParams{EF: 20},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, stage := range map[string]string{"at the beginning": "true neighbours", "under load": "load"} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r, err := replay.Run(ctx, replay.RunOptions{
				Loaded: loaded, Log: l, Requests: requests, Truth: replay.ExactTruth,
				Engine: replay.TargetOptions{Options: segment.Milvus(2, 3)}, Sessions: []int{1, 2},
				Plan: load.Plan{Round: time.Hour}, Progress: func(p replay.RunProgress) {
					if p.Stage == stage && (stage != "load" || p.Load.Asked > 0) {
						cancel()
					}
				},
			})
			if err != nil || r.Stopped == "" || r.Cover.Covered != 120 {
				t.Fatalf("%+v, %v", r, err)
			}
			if stage == "load" && (len(r.Points) != 1 || r.Points[0].Asked == 0) {
				t.Errorf("what was done so far: %+v", r.Points)
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	c := four(t)
	l := runLog(t)
	requests, err := replay.Requests(l, &c.layout.Collection, replay.RequestParams{
		K: 1, SearchParams: engine.SearchParams{EF: 20},
	})
	if err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]replay.RunOptions{
		"no requests":            {},
		"no segments are loaded": {Requests: requests},
		"no replica 4": {
			Requests: requests, Loaded: loadOf(t, c, c.layout, nil), Engine: replay.TargetOptions{Replica: 4},
		},
	} {
		if _, err := replay.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := replay.Requests(l, &replay.Collection{Name: "c", Dim: 3}, replay.RequestParams{K: 1}); err == nil ||
		!strings.Contains(err.Error(), "vectors of 2 dimensions") {
		t.Errorf("other dimensions: %v", err)
	}
	if _, err := replay.Requests(l, &c.layout.Collection, replay.RequestParams{K: 1 << 30}); err == nil ||
		!strings.Contains(err.Error(), "asks for 1073741824 hits") {
		t.Errorf("a k that no search has: %v", err)
	}
	if _, err := replay.Requests(l, &c.layout.Collection, replay.RequestParams{}); err == nil ||
		!strings.Contains(err.Error(), "request 0 has no k") {
		t.Errorf("no k: %v", err)
	}
	if _, err := replay.Requests(&log.Log{Name: "proxy.log"}, &c.layout.Collection, replay.RequestParams{}); err ==
		nil || !strings.Contains(err.Error(), "no vectors") {
		t.Errorf("no vectors: %v", err)
	}
}

func TestParametersOfRequests(t *testing.T) {
	c := four(t)
	l := runLog(t)
	l.Requests = l.Requests[:2]
	l.Requests[1].K, l.Requests[1].EF, l.Requests[1].NProbe = 5, 50, 8
	ask := replay.RequestParams{K: 10, SearchParams: engine.SearchParams{EF: 64, NProbe: 2}}
	forced := ask
	forced.Force.EF = 32
	for _, x := range []struct {
		ask  replay.RequestParams
		want [2][3]int
	}{
		{ask, [2][3]int{{10, 64, 2}, {5, 50, 8}}},
		{forced, [2][3]int{{10, 32, 2}, {5, 32, 8}}},
	} {
		list, err := replay.Requests(l, &c.layout.Collection, x.ask)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range list {
			if got := [3]int{r.K, r.EF, r.NProbe}; got != x.want[i] {
				t.Errorf("%+v: expected request %d asks for k, ef and nprobe %v, %v", x.ask, i, got, x.want[i])
			}
		}
	}
}
