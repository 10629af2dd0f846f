package whatif

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"time"

	"kitescope/replay/simulate"
)

// checked are the sessions at which the engine is held against the simulation.
var checked = [...]int{1, 2, 4, 8}

// check runs the engine here under the scheduler, the segments that were measured on one node with this machine's cores, and simulates the same with
// their costs. What a request costs apart from segments is measured as well, over next to nothing, and is not part of what is checked.
func (x *prediction) check(ctx context.Context, base *priced) error {
	c := &x.report.Check
	c.QPS, c.P99 = -1, -1
	if x.Check < 0 {
		x.note("simulation not compared with the engine")
		return nil
	}
	cores := float64(runtime.GOMAXPROCS(0))
	k, err := x.newChecker(ctx, base, cores)
	if k == nil || err != nil {
		return err
	}
	for _, n := range checked {
		x.Progress(fmt.Sprintf("check: %d sessions", n))
		over, err := k.overhead(ctx, n)
		if err != nil {
			return err
		}
		point, err := k.run(ctx, k.target, k.requests, n, k.took)
		if err != nil {
			return err
		}
		if point.Latency.Count == 0 || point.QPS == 0 {
			x.note("no answer from the engine at %d sessions within %v: not checked there", n, k.took)
			continue
		}
		got, of := point.CPUPerQuery.Seconds()*point.QPS, min(float64(n), cores)
		disturbed := got > 0 && got < 0.8*of
		if disturbed {
			x.note("the engine got %.1f of %g cores during the check at %d sessions (machine busy, or waiting): run ignored", got, of, n)
		}
		l := simulate.Load{Sessions: n, NQ: 1, K: x.ask.params.K, Seed: x.report.Load.Seed}
		o, err := run(ctx, k.machine(over), l, point.Latency.Mean)
		if err != nil {
			return err
		}
		c.Points = append(c.Points, CheckPoint{
			Sessions: n, MeasuredQPS: point.QPS, PredictedQPS: o.QPS, MeasuredMean: point.Latency.Mean, PredictedMean: o.Mean,
			MeasuredP99: point.Latency.P99, PredictedP99: o.P99, Disturbed: disturbed, Overhead: over,
		})
	}
	c.judge()
	x.judged(k.search)
	return nil
}

// judged says how far off the simulation is, and what that is worth.
func (x *prediction) judged(search time.Duration) {
	c := &x.report.Check
	if len(c.Points) == 0 {
		return
	}
	if c.QPS < 0 {
		x.note("simulation error unknown: the machine was busy during every check run")
		return
	}
	var at []string
	over := time.Duration(0)
	for _, p := range c.Points {
		if !p.Disturbed {
			at = append(at, strconv.Itoa(p.Sessions))
			over = max(over, p.Overhead)
		}
	}
	x.note("the simulation of this machine is off by up to %.0f%% in queries per second and %.0f%% in p99, against the engine at %s sessions",
		100*c.QPS, 100*c.P99, strings.Join(at, ", "))
	if over > search/2 {
		x.note("the check says little about segments: a request takes up to %v here outside them (measured, given to the simulation) and %v in them",
			over.Round(100*time.Nanosecond), search.Round(100*time.Nanosecond))
	}
}

// live simulates the present cluster at the loads of the live run.
func (x *prediction) live(ctx context.Context, base *priced) error {
	if x.report.Check.Calibrated == "" {
		return nil
	}
	cluster, _, err := base.simulatedIn(ctx, &x.views[0], x.report.Load.NQ)
	if err != nil {
		return err
	}
	worst := 0.0
	for _, p := range x.Calibration.at(x.ask.params.EF) {
		o, err := run(ctx, cluster, simulate.Load{Sessions: p.Sessions, NQ: x.report.Load.NQ, K: x.report.Load.K, Seed: x.report.Load.Seed}, p.Mean)
		if err != nil {
			return err
		}
		x.report.Check.Live = append(x.report.Check.Live, CheckPoint{
			Sessions: p.Sessions, MeasuredQPS: p.QPS, PredictedQPS: o.QPS, MeasuredMean: p.Mean, PredictedMean: o.Mean, MeasuredP99: p.P99, PredictedP99: o.P99,
		})
		if o.QPS > 0 && p.QPS > 0 {
			x.anchors = append(x.anchors, anchor{x.report.Check.Live[len(x.report.Check.Live)-1], p.Low, p.High})
		}
		worst = max(worst, math.Abs(o.QPS-p.QPS)/p.QPS)
	}
	x.note("the simulation of the present cluster is off by up to %.0f%% in queries per second, against %s", 100*worst, x.Calibration.Name)
	return nil
}

// judge finds the largest errors, of points that nobody disturbed: the others are no measure.
func (c *Check) judge() {
	for _, p := range c.Points {
		if p.Disturbed {
			continue
		}
		c.QPS = max(c.QPS, math.Abs(p.PredictedQPS-p.MeasuredQPS)/p.MeasuredQPS)
		if p.MeasuredP99 > 0 {
			c.P99 = max(c.P99, math.Abs(float64(p.PredictedP99-p.MeasuredP99))/float64(p.MeasuredP99))
		}
	}
}
