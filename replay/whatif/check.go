package whatif

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"kitescope/replay"
	"kitescope/replay/load"
)

// check runs the engine here, over the segments that were measured unchanged, and simulates this machine with their costs. What a request takes
// besides segments is taken from the run at one session.
func (x *prediction) check(ctx context.Context) error {
	c := &x.report.Check
	c.QPS, c.P99 = -1, -1
	if x.Check < 0 {
		x.note("simulation not compared with the engine")
		return nil
	}
	target, search, spread, err := x.engine()
	if target == nil || err != nil {
		return err
	}
	requests, err := replay.Singles(x.Log, 10_000)
	if err != nil {
		return fmt.Errorf("check against the engine: %w", err)
	}
	for _, r := range requests {
		r.K, r.SearchParams = x.ask.params.K, x.ask.params.SearchParams
	}
	// The engine searches the segments of a request one after the other.
	here := &cluster{
		nodes: []server{{cores: float64(runtime.GOMAXPROCS(0)), warm: 1}}, spread: spread,
		replicas: [][]shard{{{parts: []part{{jobs: []float64{search}}}}}},
	}
	for _, n := range []int{1, 2, 4, 8} {
		p, err := x.checkAt(ctx, target, requests, here, n)
		if err != nil {
			return err
		}
		switch {
		case p.MeasuredQPS == 0:
		case n == 1:
			here.replicas[0][0].parts[0].jobs[0] = max(search, p.MeasuredMean.Seconds())
		default:
			c.Points = append(c.Points, p)
		}
	}
	for i := range c.Points {
		if p := &c.Points[i]; !p.Disturbed {
			qps, p99 := p.off()
			c.QPS, c.P99 = max(c.QPS, qps), max(c.P99, p99)
		}
	}
	switch {
	case len(c.Points) == 0:
	case c.QPS < 0:
		x.note("simulation error unknown: the machine was busy during every check run")
	default:
		x.note("the simulation of this machine is off by up to %.0f%% in queries per second and %.0f%% in p99, against the engine", 100*c.QPS, 100*c.P99)
	}
	return nil
}

// checkAt runs the engine with so many sessions, and simulates the same. Nothing is measured if no request was answered in time.
func (x *prediction) checkAt(ctx context.Context, target *replay.Target, requests []*load.Request, here *cluster, sessions int) (p CheckPoint, err error) {
	x.Progress(fmt.Sprintf("check: %d sessions", sessions))
	took := cmp.Or(x.Check, time.Second)
	plan := load.Plan{Sessions: sessions, Warmup: took / 4, Round: took, Rounds: 1, Deadline: time.Minute, CPU: x.CPU}
	point, err := load.Run(ctx, target, requests, plan)
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return p, fmt.Errorf("check against the engine: %w", err)
	}
	if point.Latency.Count == 0 || point.QPS == 0 {
		x.note("no answer from the engine at %d sessions within %v: not checked there", sessions, took)
		return p, nil
	}
	got, of := point.CPUPerQuery.Seconds()*point.QPS, min(float64(sessions), here.nodes[0].cores)
	p = CheckPoint{Sessions: sessions, MeasuredQPS: point.QPS, MeasuredMean: point.Latency.Mean, MeasuredP99: point.Latency.P99}
	if p.Disturbed = got > 0 && got < 0.8*of; p.Disturbed {
		x.note("the engine got %.1f of %g cores during the check at %d sessions (machine busy, or waiting): run ignored", got, of, sessions)
	}
	o, err := here.simulate(ctx, Load{Sessions: sessions, NQ: 1, Seed: x.report.Load.Seed})
	if err != nil {
		return p, err
	}
	p.PredictedQPS, p.PredictedMean, p.PredictedP99 = o.QPS, o.Mean, o.P99
	return p, nil
}

// engine is a target of the segments that were measured unchanged, with what they cost one vector in seconds and the spread of that. It is nil, with
// a note, if there are none.
func (x *prediction) engine() (t *replay.Target, search, spread float64, err error) {
	at := map[int64]int{}
	l := clone(x.layout)
	l.Nodes = []replay.Node{{ID: 1, Name: "this machine"}}
	l.Replicas = []replay.Replica{{ID: 1, Nodes: []int64{1}, Leaders: map[string]int64{"all": 1}}}
	for i := range l.Segments {
		l.Segments[i].On, l.Segments[i].Channel = []int64{1}, "all"
		at[l.Segments[i].ID] = i
	}
	var parts []*replay.Part
	for _, p := range x.Loaded.Parts {
		i, there := at[p.Info.ID]
		if !there || x.base.modelled[i] || p.State != p.Info.State || p.Data.Rows == 0 {
			continue
		}
		parts = append(parts, p.As(&l.Segments[i]))
		search += x.base.costs[i].Mean.Seconds()
		spread += x.base.costs[i].SD.Seconds()
	}
	if len(parts) == 0 || search <= 0 {
		x.note("simulation not compared with the engine: no segment was measured unchanged")
		return nil, 0, 0, nil
	}
	t, err = replay.NewTarget(x.Loaded.With(l, parts), replay.TargetOptions{Options: x.costs.artifacts.options, Slowest: -1})
	if err != nil {
		return nil, 0, 0, fmt.Errorf("check against the engine: %w", err)
	}
	return t, search, spread / search, nil
}

// Worst are the largest relative errors of everything that the simulation was compared with: the engine's runs here, those that others disturbed left
// out, and the live ones. -1 where nothing was.
func (c *Check) Worst() (qps, p99 float64) {
	qps, p99 = -1, -1
	for _, list := range [][]CheckPoint{c.Points, c.Live} {
		for i := range list {
			if p := &list[i]; !p.Disturbed {
				a, b := p.off()
				qps, p99 = max(qps, a), max(p99, b)
			}
		}
	}
	return qps, p99
}

// off are the relative errors of a point, -1 where nothing was measured.
func (p *CheckPoint) off() (qps, p99 float64) {
	qps, p99 = -1, -1
	if p.MeasuredQPS > 0 {
		qps = math.Abs(p.PredictedQPS-p.MeasuredQPS) / p.MeasuredQPS
	}
	if p.MeasuredP99 > 0 {
		p99 = math.Abs(float64(p.PredictedP99-p.MeasuredP99)) / float64(p.MeasuredP99)
	}
	return qps, p99
}
