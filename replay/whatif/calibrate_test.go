package whatif

import (
	"math"
	"strings"
	"testing"
	"time"

	"kitescope/replay"
	"kitescope/replay/load"
)

func live(target string, points ...load.Point) *replay.Result {
	return &replay.Result{Setup: replay.Setup{Target: target}, Points: points}
}

func at(sessions, ef int, mean time.Duration, qps float64) load.Point {
	return load.Point{Plan: load.Plan{Sessions: sessions}, EF: ef, QPS: qps, Latency: load.Latency{Count: 100, Mean: mean}}
}

// onOne is what a request makes of one node, which others lead.
func onOne(engine, cpu time.Duration, cores, tasks float64) *demand {
	return &demand{engine: engine, nodes: []nodeDemand{{cores: cores, cpu: float64(cpu), tasks: tasks, passed: tasks}}, nq: 1, hops: 2}
}

// A node that does nearly all of the work bounds queries alone: what others could do is no CPU of the server's overhead.
func TestCalibrateByTheBusiestNode(t *testing.T) {
	k, err := Calibrate(live("milvus", at(1, 64, 22*time.Millisecond, 45), at(8, 64, 41*time.Millisecond, 195), at(32, 64, 160*time.Millisecond, 200)))
	if err != nil {
		t.Fatal(err)
	}
	busiest := nodeDemand{cores: 4, cpu: 15e6, tasks: 2, passed: 2}
	d := demand{engine: 15 * time.Millisecond, nodes: []nodeDemand{busiest, {cores: 4, cpu: 1e6, tasks: 1, passed: 1}, {cores: 4}}, nq: 1, hops: 2}
	o, err := k.overheads(&d, 64)
	if err != nil {
		t.Fatal(err)
	}
	// 4 cores do 200 a second: 20 ms each.
	if got := busiest.cpu*o.Factor + busiest.tasks*float64(o.Task); math.Abs(got-20e6) > 1e4 {
		t.Errorf("the busiest node has %v of CPU for a request, want 20ms: %+v", time.Duration(got), o)
	}
	// Requests of ten vectors are a tenth as many.
	d.nq = 10
	for i := range d.nodes {
		d.nodes[i].cpu *= 10
	}
	d.engine *= 10
	for i := range k.Points { // as many vectors a second
		k.Points[i].Mean *= 10
	}
	o, err = k.overheads(&d, 64)
	if err != nil {
		t.Fatal(err)
	}
	if got := d.nodes[0].cpu*o.Factor + 2*float64(o.Task); math.Abs(got-200e6) > 1e5 {
		t.Errorf("the busiest node has %v of CPU for a request of ten vectors, want 200ms: %+v", time.Duration(got), o)
	}
}

func TestCalibrate(t *testing.T) {
	for name, c := range map[string]struct {
		engine, cpu  time.Duration
		cores, tasks float64
		points       []load.Point
		check        func(o Overheads) bool
	}{
		// What is measured is nearly all overhead: the factor stays where it was, the overhead is what is left.
		"small segments": {
			50 * time.Microsecond, 100 * time.Microsecond, 8, 1,
			[]load.Point{at(1, 64, 3*time.Millisecond, 330), at(16, 64, 5*time.Millisecond, 3900), at(64, 64, 16*time.Millisecond, 4000)},
			func(o Overheads) bool {
				return math.Abs(o.Factor-1.2) < 0.2 && o.Task > 1700*time.Microsecond && o.Task < 2*time.Millisecond && 2*o.Wire+o.Delay > 900*time.Microsecond
			},
		},
		// What is measured is nearly all search: it is the factor that is learned.
		"brute force": {
			100 * time.Millisecond, 200 * time.Millisecond, 8, 1,
			[]load.Point{at(1, 64, 190*time.Millisecond, 5.2), at(8, 64, 400*time.Millisecond, 19), at(16, 64, 800*time.Millisecond, 19.5)},
			func(o Overheads) bool { return o.Factor > 1.6 && o.Factor < 1.9 && o.Task < 60*time.Millisecond },
		},
		// Cores bound what a search can have cost.
		"more queries than the engine does": {
			time.Millisecond, 4 * time.Millisecond, 4, 1,
			[]load.Point{at(1, 64, 5*time.Millisecond, 200), at(8, 64, 6*time.Millisecond, 1250), at(32, 64, 25*time.Millisecond, 1300)},
			func(o Overheads) bool { return o.Factor < 0.8 && o.Task < 300*time.Microsecond },
		},
		// Nothing says how much is CPU: half is taken.
		"not saturated": {
			50 * time.Microsecond, 50 * time.Microsecond, 8, 2,
			[]load.Point{at(1, 0, 4*time.Millisecond, 250)},
			func(o Overheads) bool { return o.Task > 900*time.Microsecond && o.Task < 1100*time.Microsecond },
		},
	} {
		t.Run(name, func(t *testing.T) {
			k, err := Calibrate(live("milvus 10.0.0.5:19530", c.points...))
			if err != nil {
				t.Fatal(err)
			}
			o, err := k.overheads(onOne(c.engine, c.cpu, c.cores, c.tasks), 64)
			if err != nil {
				t.Fatal(err)
			}
			if !c.check(o) || !strings.Contains(o.From, "milvus 10.0.0.5:19530") {
				t.Errorf("%+v", o)
			}
			// The parts make the latency that was measured.
			lone := float64(o.Task) + float64(2*o.Wire+o.Delay) + o.Factor*float64(c.engine)
			if want := float64(c.points[0].Latency.Mean); math.Abs(lone-want) > 0.02*want {
				t.Errorf("a lone request takes %v, measured %v", time.Duration(lone), time.Duration(want))
			}
		})
	}
}

func TestCalibrateRefuses(t *testing.T) {
	open := at(4, 64, time.Millisecond, 100)
	open.Rate = 100
	for want, r := range map[string]*replay.Result{
		"no result":                     nil,
		"from the engine":               live("engine", at(1, 64, time.Millisecond, 900)),
		"no answered closed-loop point": live("milvus", open),
	} {
		if _, err := Calibrate(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	k, err := Calibrate(live("milvus", at(8, 32, time.Millisecond, 900)))
	if err != nil {
		t.Fatal(err)
	}
	for ef, want := range map[int]string{64: "no point at ef 64", 32: "a point with 1 session is needed"} {
		if _, err := k.overheads(onOne(1, 1, 1, 1), ef); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ef %d: %v, want %q", ef, err, want)
		}
	}
}
