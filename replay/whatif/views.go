package whatif

import (
	"context"
	"fmt"
	"math"
	"time"

	"kitescope/replay/simulate"
)

// What a live run says of a server can be read in several ways, and a change gives more in some of them than in others. Every way is simulated:
// between the least and the most that a change gives lies what it will give, as far as the model goes. What else can be wrong widens that.

// assumedViews are overheads that nobody measured: as they are assumed, and as far from that as they may well be.
func assumedViews() []Overheads {
	list := []Overheads{assumedOverheads()}
	for _, by := range []struct{ work, factor float64 }{{0.3, 1}, {3, 1}, {1, 0.75}, {1, 1.4}} {
		o := assumedOverheads()
		o.Task, o.Segment = times64(o.Task, by.work), times64(o.Segment, by.work)
		o.Factor *= by.factor
		list = append(list, o)
	}
	return list
}

func times64(d time.Duration, by float64) time.Duration { return time.Duration(float64(d) * by) }

// views are those of the live run at its fewest sessions, the likeliest first. Without metrics of its processes they follow from latencies and queries per
// second alone.
func (c *Calibration) views(ctx context.Context, base *priced, l simulate.Load, ef int) ([]Overheads, error) {
	d, err := base.demand(ctx, l.NQ)
	if err != nil {
		return nil, err
	}
	o, err := c.overheads(&d, ef)
	if err != nil {
		return nil, err
	}
	first := c.at(ef)[0]
	if a := c.account(&d, ef); a != nil {
		calls := c.calls(&d, a)
		list := d.views(a, calls)
		dearer := list == nil && calls.measured
		if dearer {
			list = d.views(a, assumedCalls())
		}
		if list != nil {
			from := fmt.Sprintf("%s, %v at %d session(s), by the metrics of its processes", c.Name, first.Mean.Round(10*time.Microsecond), first.Sessions)
			switch {
			case dearer:
				from += "; queries that matched no row cost more than those that found some, so what calls cost is assumed"
			case calls.measured:
				from += ", also while queries matched no row"
			case calls.searched:
				from += "; where queries matched no row it searched all the same, so what calls cost is assumed"
			}
			return c.delays(ctx, base, l, list, first, time.Duration(a.consistency), from)
		}
	}
	list := []Overheads{o}
	if all := o.Task + times64(o.Segment, d.segmentsOfTask()); all > 0 {
		alone, most := o, o
		alone.Task, alone.Segment = all, 0
		most.Task = all / 4
		most.Segment = times64(all-most.Task, 1/max(1, d.segmentsOfTask()))
		list = append(list, alone, most)
	}
	if o.Delay > 0 {
		x := o
		x.Delay, x.Stretch = 0, float64(o.Delay)/max(1, float64(first.Mean-o.Delay))
		list = append(list, x)
	}
	return list, nil
}

// account is that of the fewest sessions whose processes were asked, where requests are merged least: nil if there is none.
func (c *Calibration) account(d *demand, ef int) *account {
	if list := c.accounts(d, c.at(ef)); len(list) > 0 {
		return list[0]
	}
	return nil
}

// accounts are those of points whose processes were asked.
func (c *Calibration) accounts(d *demand, points []CalibrationPoint) (list []*account) {
	limits := map[int64]float64{}
	for i := range d.nodes {
		limits[d.nodes[i].id] = d.nodes[i].cores
	}
	for _, p := range points {
		if a := accountOf(p.Served, limits, machineCores(c.Cores)); a != nil {
			list = append(list, a)
		}
	}
	return list
}

// delays gives each view the time that is left of a lone request's when all that is known to be busy is simulated. What it waits for consistency stays; of the
// rest nobody knows whether it stays or goes with the work: half of it does, and in two more views all and nothing.
func (c *Calibration) delays(ctx context.Context, base *priced, l simulate.Load, list []Overheads, p CalibrationPoint, consistency time.Duration, from string) ([]Overheads, error) {
	l = simulate.Load{Sessions: p.Sessions, NQ: l.NQ, K: l.K, Seed: l.Seed}
	var all []Overheads
	for i := range list {
		o := list[i]
		o.From = from
		cluster, _ := base.cluster(o)
		out, err := run(ctx, cluster, l, p.Mean)
		if err != nil {
			return nil, err
		}
		rest := max(0, p.Mean-out.Mean)
		split := func(rest time.Duration, stretch float64) Overheads {
			x, stays := o, min(rest, consistency)
			x.Delay = stays + times64(rest-stays, 1-stretch)
			x.Stretch = stretch * float64(rest-stays) / max(1, float64(out.Mean))
			return x
		}
		// While a request waits, its node saves CPU of its quota, with which it is faster: so it waits longer than what is missing at first. Where that does not
		// show, it is the quota that requests wait for.
		for before, more := out.Mean, rest; more > p.Mean/50; {
			cluster, _ := base.cluster(split(rest, 0))
			longer, err := run(ctx, cluster, l, p.Mean)
			if err != nil {
				return nil, err
			}
			if longer.Mean-before < more/2 {
				break
			}
			before, more = longer.Mean, p.Mean-longer.Mean
			rest += max(0, more)
		}
		all = append(all, split(rest, 0.5))
		if i == 0 && rest > p.Mean/50 {
			all = append(all, split(rest, 0), split(rest, 1))
		}
	}
	return all, nil
}

// simulated is the cluster as it is simulated in a view.
func (p *priced) simulatedIn(ctx context.Context, o *Overheads, nq int) (*simulate.Cluster, []string, error) {
	c, notes := p.cluster(*o)
	if o.Stretch <= 0 || len(c.Collections[0].Replicas) == 0 {
		return c, notes, nil
	}
	kept := c.Delay
	c.Delay = 0
	most, err := simulate.Capacity(ctx, c, nq)
	c.Delay = kept + times64(most.Alone, o.Stretch)
	return c, notes, err
}

// Range is how many times the queries per second of the present cluster a change gives: the likeliest figure, and what it is likely to be between.
type Range struct {
	Gain, Low, High float64 `doc:",omitzero"`
}

// reading is what one view says of one cluster: queries per second at the load that was asked for (of an open loop, at most), and at each number of
// sessions.
type reading struct {
	load  float64
	curve []float64
}

// read simulates a cluster in all views; more roughly than the first, which the figures are of.
func (x *prediction) read(ctx context.Context, p *priced) ([]reading, error) {
	list := make([]reading, len(x.views))
	for i := range x.views {
		c, _, err := p.simulatedIn(ctx, &x.views[i], x.report.Load.NQ)
		if err != nil {
			return nil, err
		}
		if len(c.Collections[0].Replicas) == 0 {
			return nil, nil
		}
		most, err := simulate.Capacity(ctx, c, x.report.Load.NQ)
		if err != nil {
			return nil, err
		}
		at := func(l simulate.Load) (float64, error) {
			l.Requests = min(2000+int64(20*l.Sessions), max(200, mostTasks/50/tasks(c)))
			o, err := run(ctx, c, l, most.Alone)
			if err != nil {
				return 0, err
			}
			return o.QPS, nil
		}
		r := &list[i]
		if r.load = most.QPS; x.report.Load.Rate == 0 {
			if r.load, err = at(x.report.Load); err != nil {
				return nil, err
			}
		}
		for _, n := range x.Sessions {
			qps, err := at(simulate.Load{Sessions: n, NQ: x.report.Load.NQ, K: x.report.Load.K, Seed: x.report.Load.Seed})
			if err != nil {
				return nil, err
			}
			r.curve = append(r.curve, qps)
		}
	}
	return list, nil
}

// ranges are the gains of a changed cluster at the load and along the curve.
func (x *prediction) ranges(out *Prediction, list []reading) {
	if len(list) == 0 || len(x.baseReadings) != len(list) {
		return
	}
	of := func(figure func(r *reading) float64, sessions int) Range {
		g := Range{Low: math.Inf(1)}
		for i := range list {
			before, after := figure(&x.baseReadings[i]), figure(&list[i])
			if !(before > 0) || !(after > 0) {
				return Range{}
			}
			gain := after / before
			if i == 0 {
				g.Gain = gain
			}
			g.Low, g.High = min(g.Low, gain), max(g.High, gain)
		}
		wide := math.Exp(x.doubt(out, sessions))
		return Range{Gain: g.Gain, Low: g.Low / wide, High: g.High * wide}
	}
	out.AtLoad = of(func(r *reading) float64 { return r.load }, x.report.Load.Sessions)
	for i, n := range x.Sessions {
		out.Ranges = append(out.Ranges, of(func(r *reading) float64 { return r.curve[i] }, n))
	}
}

// doubt is by what power of e a gain may be off for other reasons than the views: how far the simulation is from the live run there, half of which a gain has
// as well; how much that run scattered, twice, as two are compared; the cost model; and what is in none of these.
func (x *prediction) doubt(out *Prediction, sessions int) float64 {
	const unknown = 0.05
	sum := square(unknown)
	if out.Modelled > 0 {
		median, _ := medianAndWorst(x.model.errors)
		sum += square(out.Modelled * max(median, 0.1))
	}
	if p := x.nearest(sessions); p != nil {
		sum += square(math.Log(p.PredictedQPS/p.MeasuredQPS) / 2)
		if p.high > p.low && p.low > 0 {
			sum += 2 * square((p.high-p.low)/2/p.MeasuredQPS)
		}
	}
	return math.Sqrt(sum)
}

// nearest is the live point of the nearest number of sessions, nil without a live run.
func (x *prediction) nearest(sessions int) *anchor {
	var best *anchor
	for i := range x.anchors {
		p := &x.anchors[i]
		if best == nil || apart(p.Sessions, sessions) < apart(best.Sessions, sessions) {
			best = p
		}
	}
	return best
}

func apart(a, b int) float64 { return math.Abs(math.Log(float64(max(1, a)) / float64(max(1, b)))) }

// anchor is a live point with what the simulation of the present cluster says there.
type anchor struct {
	CheckPoint
	low, high float64
}

// scale is what a figure at so many sessions is multiplied with to be that of the live run where it is of the present cluster: ratio says it of a point,
// 0 if the point does not tell. 1 without a live run; between points it goes from one to the next.
func (x *prediction) scale(sessions int, ratio func(a *anchor) float64) float64 {
	var before *anchor
	for i := range x.anchors {
		a := &x.anchors[i]
		at := ratio(a)
		switch {
		case !(at > 0):
			continue
		case a.Sessions < sessions:
			before = a
			continue
		case before == nil || a.Sessions == sessions:
			return at
		}
		part := apart(sessions, before.Sessions) / apart(a.Sessions, before.Sessions)
		return math.Exp((1-part)*math.Log(ratio(before)) + part*math.Log(at))
	}
	if before == nil {
		return 1
	}
	return ratio(before)
}

// anchored scales an outcome to the live run: queries per second and most latencies by what that answered, those of the slowest by its 99th percentile, which
// has in it what the operating system does.
func (x *prediction) anchored(o *simulate.Outcome, sessions int) {
	if len(x.anchors) == 0 || sessions <= 0 {
		return
	}
	by := x.scale(sessions, func(a *anchor) float64 { return a.MeasuredQPS / a.PredictedQPS })
	tail := x.scale(sessions, func(a *anchor) float64 {
		if a.PredictedP99 <= 0 {
			return 0
		}
		return float64(a.MeasuredP99) / float64(a.PredictedP99)
	})
	o.QPS, o.QPSLow, o.QPSHigh = o.QPS*by, o.QPSLow*by, o.QPSHigh*by
	for _, d := range []*time.Duration{&o.Mean, &o.Min, &o.P50, &o.P90, &o.SD, &o.MeanLow, &o.MeanHigh} {
		*d = times64(*d, 1/by)
	}
	least := o.P90
	for _, d := range []*time.Duration{&o.P95, &o.P99, &o.P999, &o.Max} {
		*d = max(times64(*d, tail), least)
		least = *d
	}
	o.P99Low, o.P99High = times64(o.P99Low, tail), times64(o.P99High, tail)
}

// calibrate chooses overheads.
func (x *prediction) calibrate(ctx context.Context, base *priced) (err error) {
	defer func() { x.report.Check.Overheads = x.views[0] }()
	x.views = assumedViews()
	if x.Calibration == nil {
		x.note("no live run given: assuming the server's own work, %s; trust gains more than absolute figures", x.views[0].text())
		return nil
	}
	list, err := x.Calibration.views(ctx, base, x.report.Load, x.ask.params.EF)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		x.note("%v: assuming the server's own work, %s", err, x.views[0].text())
		return nil
	}
	x.views = list
	x.report.Check.Calibrated = x.Calibration.Name
	x.note("the server's own work from %s: %s", list[0].From, list[0].text())
	return nil
}

func (o *Overheads) text() string {
	fine := func(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
	text := fmt.Sprintf("%v CPU per task, %v per segment, %.2g times the engine's CPU in segments", fine(o.Task), o.Segment.Round(time.Microsecond), o.factor())
	switch {
	case o.Growing > 0:
		text += fmt.Sprintf(" and %.2g times in growing ones", o.Growing)
	case o.Chunk > 0:
		text += fmt.Sprintf(", %v per chunk of a growing one", o.Chunk.Round(time.Microsecond))
	}
	if o.Front > 0 {
		text += fmt.Sprintf(", %v outside of query nodes on %.2g cores", fine(o.Front), o.FrontCores)
	}
	if o.Wire > 0 {
		text += fmt.Sprintf(", %v per hop", fine(o.Wire))
	}
	if o.Delay > 0 {
		text += fmt.Sprintf(", %v waiting", fine(o.Delay))
	}
	if o.Stretch > 0 {
		text += fmt.Sprintf(", %.0f%% more waiting that goes with the work", 100*o.Stretch)
	}
	return text
}
