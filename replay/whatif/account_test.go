package whatif

import (
	"math"
	"os"
	"testing"
	"time"

	"kitescope/replay"
	"kitescope/replay/simulate"
)

// told is what the processes of a real Milvus 2.3.5 cluster said at one session (tools/e2e/replay.sh), with what is known of its layout.
func told(t *testing.T, name string, nodes ...nodeDemand) (*demand, *account) {
	t.Helper()
	d, a, _ := toldAll(t, name, nodes...)
	return d, a
}

func toldAll(t *testing.T, name string, nodes ...nodeDemand) (*demand, *account, *Calibration) {
	t.Helper()
	f, err := os.Open("testdata/live-" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := replay.ReadResult(f)
	if err != nil {
		t.Fatal(err)
	}
	k, err := Calibrate(r)
	if err != nil {
		t.Fatal(err)
	}
	d := &demand{nodes: nodes, nq: 1, hops: 2}
	a := k.account(d, k.Points[0].EF)
	if a == nil {
		t.Fatal("no account")
	}
	return d, a, k
}

// 40,000 growing rows on two nodes of 0.4 cores: their chunks take most of what nodes use, and the rest is what calls take.
func TestAccountOfGrowingSegments(t *testing.T) {
	d, a := told(t, "growing",
		nodeDemand{id: 2, cores: 0.4, cpu: 0.7e6, growing: 0.54e6, largest: 0.54e6, known: 3.1e6, tasks: 2, passed: 1, leads: 1, segments: 3},
		nodeDemand{id: 3, cores: 0.4, cpu: 0.5e6, growing: 0.5e6, largest: 0.5e6, known: 3.1e6, tasks: 2, passed: 1, leads: 1, segments: 1})
	if a.cpu < 15e6 || a.cpu > 18e6 || a.growing.low < 30e6 || a.growing.high > 36e6 || a.sealed.high > 6e6 || a.front < 2e6 || a.front > 4e6 || a.cores < 1 || a.cores > 1.2 {
		t.Fatalf("%+v", *a)
	}
	views := d.views(a, assumedCalls())
	if len(views) < 5 {
		t.Fatalf("%d views", len(views))
	}
	for i, v := range views {
		growing := v.Growing * 1.04e6
		all := growing + v.Factor*0.16e6 + (float64(v.Task)*4.2*d.warmed(a, warm) + float64(v.Segment)*4)
		if math.Abs(all/a.cpu-1) > 0.01 {
			t.Errorf("view %d: %v of %v are told apart", i, time.Duration(all), time.Duration(a.cpu))
		}
		// 34 ms in kernels on 0.4 cores are 13.6 ms of CPU if nothing else runs there, and less if something does.
		if growing < 4e6 || growing > 16e6 {
			t.Errorf("view %d: growing segments take %v", i, time.Duration(growing))
		}
	}
	if likeliest := views[0]; likeliest.Task < time.Millisecond || likeliest.Task > 2500*time.Microsecond {
		t.Errorf("a task takes %v", likeliest.Task)
	}
}

// 48 sealed segments on one node of a quarter of a core: kernels last much longer than their CPU, as all are searched at once.
func TestAccountOfManySegments(t *testing.T) {
	d, a := told(t, "idle",
		nodeDemand{id: 1, cores: 0.25, cpu: 4e6, largest: 4e6 / 48, tasks: 2, leads: 2, segments: 48},
		nodeDemand{id: 8, cores: 0.25}, nodeDemand{id: 9, cores: 0.25})
	v := d.views(a, assumedCalls())[0]
	if each := float64(v.Segment) + v.Factor*4e6/48; each < 0.2e6 || each > 0.4e6 { // 0.32 ms, by what it was after two thirds went elsewhere
		t.Errorf("a segment takes %v", time.Duration(each))
	}
	if v.Factor > 2 {
		t.Errorf("a kernel takes %v times the engine's", v.Factor)
	}
}

func TestNoAccount(t *testing.T) {
	d, _ := told(t, "idle", nodeDemand{id: 1, cores: 0.25, tasks: 2}, nodeDemand{id: 8}, nodeDemand{id: 9})
	d.nodes = append(d.nodes, nodeDemand{id: 77}) // which told nothing
	limits := map[int64]float64{1: 1, 8: 1, 9: 1, 77: 1}
	f, err := os.Open("testdata/live-idle.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := replay.ReadResult(f)
	if err != nil {
		t.Fatal(err)
	}
	s := r.Points[0].Served
	if accountOf(s, limits, 2) != nil {
		t.Error("a node that told nothing is in the account")
	}
	delete(limits, 77)
	if accountOf(s, limits, 2) == nil {
		t.Error("no account of all nodes")
	}
	none := *s
	none.Requests = 0
	if accountOf(&none, limits, 2) != nil || accountOf(nil, limits, 2) != nil {
		t.Error("an account of no requests")
	}
	// Where not all is on one machine, what is outside of query nodes is the proxies' alone.
	s.Processes[0].Here = false
	if a := accountOf(s, limits, 2); a.cores != 2 || a.front <= 0 {
		t.Errorf("front %v on %v cores", a.front, a.cores)
	}
}

// What others measure: splits make up the whole, whatever the account is.
func TestSplitsMakeUpTheWhole(t *testing.T) {
	for _, cpu := range []float64{1e4, 1e6, 1e8, 1e10} {
		d := &demand{nodes: []nodeDemand{{id: 1, cores: 2, cpu: 3e6, growing: 1e6, largest: 1e6, tasks: 2, leads: 1, segments: 4}}, nq: 1}
		a := &account{cpu: cpu, rate: 50, sealed: kernels{1e6, 5e6}, growing: kernels{1e6, 3e6}}
		for _, s := range d.splits(a, assumedCalls()) {
			if all := s.factor*2e6 + s.growing + s.overhead; math.Abs(all/cpu-1) > 1e-9 || s.perSegment < 0 || s.perSegment > 1 {
				t.Errorf("%v: %+v", cpu, s)
			}
		}
	}
}

// Figures of the present cluster are those of the live run, between its points as well.
func TestFiguresAreThoseOfTheLiveRun(t *testing.T) {
	x := &prediction{anchors: []anchor{
		{CheckPoint: CheckPoint{Sessions: 1, MeasuredQPS: 50, PredictedQPS: 100, MeasuredP99: 40 * time.Millisecond, PredictedP99: 10 * time.Millisecond}},
		{CheckPoint: CheckPoint{Sessions: 4, MeasuredQPS: 300, PredictedQPS: 300}}, // tells no p99
		{CheckPoint: CheckPoint{Sessions: 16, MeasuredQPS: 300, PredictedQPS: 300, MeasuredP99: 5 * time.Millisecond, PredictedP99: 10 * time.Millisecond}},
	}}
	ms := time.Millisecond
	for _, c := range []struct {
		sessions       int
		qps            float64
		mean, p90, p99 time.Duration
	}{
		{1, 50, 10 * ms, 16 * ms, 40 * ms},
		{2, 70.71, 7071 * time.Microsecond, 11314 * time.Microsecond, 23784 * time.Microsecond},
		{4, 100, 5 * ms, 8 * ms, 14142 * time.Microsecond},
		{16, 100, 5 * ms, 8 * ms, 8 * ms}, // no less than the 90th
		{64, 100, 5 * ms, 8 * ms, 8 * ms},
		{0, 100, 5 * ms, 8 * ms, 10 * ms}, // of a rate nothing is known
	} {
		o := simulate.Outcome{QPS: 100, Mean: 5 * ms, P50: 5 * ms, P90: 8 * ms, P95: 9 * ms, P99: 10 * ms, P999: 11 * ms, Max: 12 * ms}
		x.anchored(&o, c.sessions)
		near := func(a, b time.Duration) bool { return (a - b).Abs() < 2*time.Microsecond }
		if math.Abs(o.QPS-c.qps) > 0.01 || !near(o.Mean, c.mean) || !near(o.P90, c.p90) || !near(o.P99, c.p99) {
			t.Errorf("%d sessions: %.2f, %v, %v, %v, want %.2f, %v, %v, %v", c.sessions, o.QPS, o.Mean, o.P90, o.P99, c.qps, c.mean, c.p90, c.p99)
		}
		if o.P50 > o.P90 || o.P90 > o.P95 || o.P95 > o.P99 || o.P99 > o.P999 || o.P999 > o.Max {
			t.Errorf("%d sessions: %+v", c.sessions, o)
		}
	}
}
