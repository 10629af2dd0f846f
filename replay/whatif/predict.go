package whatif

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"kitescope/engine/dist"
	"kitescope/engine/segment"
	"kitescope/replay"
	"kitescope/replay/log"
)

// Input is what is predicted, and of what.
type Input struct {
	Loaded *replay.Loaded
	Log    *log.Log
	// Params are of all requests; of those that are 0, what most requests of the log have, else 10, ef 64, nprobe 8.
	Params  segment.Params
	Changes []Change
	// Likely says that nobody named the changes: those without effect are left out, and no errors.
	Likely bool
	// Sessions of the curve: 1, 2, 4 to 64 if there are none. Load is that of Outcome: 16 sessions if it has neither those nor a rate.
	Sessions []int
	Load     Load
	// Calibration of a live run of the present cluster; nil: overheads are assumed.
	Calibration *Calibration
	// Check is how long the engine runs at each number of sessions to check the simulation: 0 is a second, less than 0 checks nothing.
	Check time.Duration
	// CPU is what the process has used so far; nil where nobody knows. With it, what others do on this machine is not taken for cost.
	CPU    func() time.Duration
	Setup  replay.Setup
	Limits Limits
	Seed   uint64
	// Progress is called with each step before it is made; nil for none.
	Progress func(step string)
}

// Predict returns what the log's queries would do on the present cluster and on each changed one. It measures the engine on this machine, so that
// figures of two calls differ as measurements do. The error names what cannot be measured at all, a change that makes no sense, or is ctx's.
func Predict(ctx context.Context, in Input) (*Report, error) {
	if in.Loaded == nil || in.Log == nil {
		return nil, errors.New("predict: nothing is loaded, or no log given")
	}
	c := &in.Loaded.Layout.Collection
	if c.Element == dist.Sparse {
		return nil, fmt.Errorf("predict collection %s: %s has sparse vectors, whose searches are not modelled: replay run measures them", c.Name, c.VectorField)
	}
	for i := range in.Changes {
		if err := in.Changes[i].check(); err != nil {
			return nil, fmt.Errorf("change %q: %w", in.Changes[i].Name, err)
		}
	}
	x, err := newPrediction(in)
	if err == nil {
		err = x.all(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("predict collection %s: %w", c.Name, err)
	}
	return x.report, nil
}

// prediction is one under way.
type prediction struct {
	Input
	report *Report
	layout *replay.Layout
	costs  *costs
	ask    *asked
	// points are the loads of the live run; one of 0 sessions where there is none.
	points []calibrated
	base   *priced
	before map[int][]float64 // queries per second of the present cluster in each reading, by sessions
}

func newPrediction(in Input) (*prediction, error) {
	x := &prediction{Input: in, before: map[int][]float64{}}
	if x.Progress == nil {
		x.Progress = func(string) {}
	}
	if len(x.Sessions) == 0 {
		x.Sessions = []int{1, 2, 4, 8, 16, 32, 64}
	}
	x.Limits = x.Limits.withDefaults()
	var err error
	if x.ask, err = sample(in.Log, x.Limits.Queries, in.Params); err != nil {
		return nil, err
	}
	x.ask.cpu = fine(in.CPU)
	if len(in.Loaded.Parts) == 0 {
		return nil, errors.New("no segments loaded, nothing to measure")
	}
	if err := dims(x.ask, in.Loaded.Parts[0].Data, in.Log.Name); err != nil {
		return nil, err
	}
	l := in.Load
	if l.Rate == 0 && l.Sessions == 0 {
		l.Sessions = 16
	}
	if l.NQ == 0 {
		l.NQ = max(1, commonest(in.Log, func(r *log.Request) int { return r.NQ }))
	}
	l.K, l.Seed = cmp.Or(l.K, x.ask.params.K), cmp.Or(l.Seed, in.Seed)
	x.report = &Report{Sessions: x.Sessions, Setup: in.Setup, Cover: in.Loaded.Coverage, Load: l}
	var note string
	if x.layout, note = whole(in.Loaded.Layout, float64(runtime.GOMAXPROCS(0))); note != "" {
		x.note("%s", note)
	}
	x.Changes = nil
	for _, c := range in.Changes {
		err := effect(apply(x.layout, c), c, x.ask)
		if err != nil && !x.Likely {
			return nil, err
		}
		if err == nil {
			x.Changes = append(x.Changes, c)
		}
	}
	x.costs = newCosts(in.Loaded, x.ask, x.Limits, x.Progress)
	return x, nil
}

// whole gives a layout that names no nodes or replicas one node of all segments: what nobody serves cannot be simulated.
func whole(l *replay.Layout, cores float64) (*replay.Layout, string) {
	served := slices.ContainsFunc(l.Segments, func(s replay.Segment) bool {
		return slices.ContainsFunc(s.On, func(n int64) bool { return n != 0 })
	})
	if served && len(l.Nodes) > 0 && len(l.Replicas) > 0 {
		return l, ""
	}
	c := clone(l)
	c.Nodes = []replay.Node{{ID: 1, Name: "querynode-1", Cores: cores}}
	c.Replicas = []replay.Replica{{ID: 1, Nodes: []int64{1}, Leaders: map[string]int64{}}}
	for i := range c.Segments {
		c.Segments[i].On = []int64{1}
		c.Replicas[0].Leaders[c.Segments[i].Channel] = 1
	}
	return c, fmt.Sprintf("no node reports serving the collection: assuming one node of %g cores serves all of it", cores)
}

func (x *prediction) note(format string, args ...any) {
	x.report.Notes = append(x.report.Notes, fmt.Sprintf(format, args...))
}

func (x *prediction) all(ctx context.Context) (err error) {
	if x.base, err = x.costs.price(ctx, &variant{Layout: x.layout}, x.ask); err != nil {
		return err
	}
	if err := x.calibrate(ctx); err != nil {
		return err
	}
	if x.report.Base, err = x.predict(ctx, x.base, Change{Name: "as it is"}); err != nil {
		return err
	}
	x.report.Base.Gain = 1
	for _, c := range x.Changes {
		x.Progress("change: " + c.Name)
		p, err := x.costs.price(ctx, apply(x.layout, c), x.ask.with(c.EF))
		if err != nil {
			return err
		}
		out, err := x.predict(ctx, p, c)
		if err != nil {
			return fmt.Errorf("change %q: %w", c.Name, err)
		}
		if x.report.Base.Most > 0 {
			out.Gain = out.Most / x.report.Base.Most
		}
		if err := x.ranges(ctx, p, &out); err != nil {
			return fmt.Errorf("change %q: %w", c.Name, err)
		}
		x.report.Others = append(x.report.Others, out)
	}
	if err := x.check(ctx); err != nil {
		return err
	}
	x.remarks()
	x.report.gather()
	return nil
}

// calibrate chooses overheads.
func (x *prediction) calibrate(ctx context.Context) error {
	x.points = []calibrated{{readings: assumedReadings()}}
	c := &x.report.Check
	switch list, notes, err := x.calibration(ctx); {
	case ctx.Err() != nil:
		return ctx.Err()
	case x.Calibration == nil:
		x.note("no live run given: assuming the server's own work, %s; trust gains more than absolute figures", x.points[0].readings[0].text())
	case err != nil:
		x.note("%v: assuming the server's own work, %s", err, x.points[0].readings[0].text())
	default:
		x.points, c.Calibrated = list, x.Calibration.Name
		worst := 0.0
		for i := range list {
			p := &list[i].live
			c.Live = append(c.Live, *p)
			worst = max(worst, math.Abs(p.PredictedQPS/p.MeasuredQPS-1))
		}
		o := &x.at(x.report.Load.Sessions).readings[0]
		x.note("the server's own work from %s: %s", o.From, o.text())
		x.note("the simulation of the present cluster is off by up to %.0f%% in queries per second, against %s", 100*worst, c.Calibrated)
		x.report.Notes = append(x.report.Notes, notes...)
	}
	c.Overheads = x.at(x.report.Load.Sessions).readings[0]
	return nil
}

func (x *prediction) calibration(ctx context.Context) ([]calibrated, []string, error) {
	if x.Calibration == nil {
		return nil, nil, nil
	}
	return x.Calibration.calibrate(ctx, x.base, x.report.Load, x.ask.params.EF)
}

// at is the point of the live run that is nearest to so many sessions; the last one for a rate, at which nodes are asked without pause.
func (x *prediction) at(sessions int) *calibrated {
	if sessions <= 0 {
		return &x.points[len(x.points)-1]
	}
	best := &x.points[0]
	apart := func(p *calibrated) float64 {
		return math.Abs(math.Log(float64(max(1, p.sessions)) / float64(sessions)))
	}
	for i := range x.points {
		if p := &x.points[i]; apart(p) < apart(best) {
			best = p
		}
	}
	return best
}

// outcome simulates a cluster at a load. Figures are in the scale of the live run: its queries per second and latencies, times what the simulation says
// changes.
func (x *prediction) outcome(ctx context.Context, p *priced, l Load) (*Outcome, error) {
	point := x.at(l.Sessions)
	o, err := simulateIn(ctx, p, &point.readings[0], l)
	if live := &point.live; err == nil && l.Sessions > 0 && live.MeasuredQPS > 0 && live.PredictedQPS > 0 {
		by := live.MeasuredQPS / live.PredictedQPS
		tail := float64(live.MeasuredP99) / max(1, float64(live.PredictedP99))
		o.QPS, o.QPSLow, o.QPSHigh = o.QPS*by, o.QPSLow*by, o.QPSHigh*by
		for _, d := range []*time.Duration{&o.Mean, &o.Min, &o.P50, &o.P90, &o.SD} {
			*d = scaled(*d, 1/by)
		}
		least := o.P90
		for _, d := range []*time.Duration{&o.P95, &o.P99, &o.P999, &o.Max} {
			*d = max(scaled(*d, cmp.Or(tail, 1/by)), least)
			least = *d
		}
	}
	return o, err
}

// predict simulates one cluster: the load, the curve, and what it can do at most.
func (x *prediction) predict(ctx context.Context, p *priced, c Change) (out Prediction, err error) {
	out = Prediction{Change: c, Layout: p.Layout, Recall: p.recall, Modelled: p.share(), EF: p.ask.params.EF, Notes: p.notes}
	out.Measured = out.Modelled == 0
	out.Cost, out.Nodes = p.cost()
	cluster, notes := p.cluster(&x.at(x.report.Load.Sessions).readings[0])
	if p == x.base {
		x.report.Notes = append(x.report.Notes, notes...)
	}
	x.Progress("simulate: " + c.Name)
	if out.Outcome, err = x.outcome(ctx, p, x.report.Load); err != nil {
		return out, err
	}
	l := x.report.Load
	l.Rate = 0
	for _, n := range append(slices.Clone(x.Sessions), enough(cluster)) {
		l.Sessions = n
		o, err := x.outcome(ctx, p, l)
		if err != nil {
			return out, err
		}
		out.Most = max(out.Most, o.QPS)
		if len(out.Curve) < len(x.Sessions) {
			out.Curve = append(out.Curve, *o)
		}
	}
	out.Notes = append(append(out.Notes, p.busy(&out)...), p.reasons()...)
	return out, nil
}

// enough sessions keep all cores busy, and are not more than can be simulated.
func enough(c *cluster) int {
	cores := 0.0
	for i := range c.nodes {
		if c.nodes[i].segments > 0 {
			cores += c.nodes[i].cores
		}
	}
	return int(min(max(32, min(6*cores, 8192)), max(1, float64(mostAtOnce/2/c.jobs()))))
}

// ranges are the gains of a changed cluster at the load and along the curve.
func (x *prediction) ranges(ctx context.Context, p *priced, out *Prediction) (err error) {
	if out.AtLoad, err = x.gains(ctx, p, out, x.report.Load.Sessions); err != nil {
		return err
	}
	for _, n := range x.Sessions {
		g, err := x.gains(ctx, p, out, n)
		if err != nil {
			return err
		}
		out.Ranges = append(out.Ranges, g)
	}
	return nil
}

// gains are what a change gives in all readings of the live run; 0 sessions is a rate, where the most that clusters can do is compared.
func (x *prediction) gains(ctx context.Context, p *priced, out *Prediction, sessions int) (Range, error) {
	point := x.at(sessions)
	qps := func(p *priced) ([]float64, error) {
		var list []float64
		for i := range point.readings {
			c, _ := p.cluster(&point.readings[i])
			if sessions == 0 {
				most, _ := c.capacity(x.report.Load.NQ, c.warm())
				list = append(list, most)
				continue
			}
			l := Load{Sessions: sessions, NQ: x.report.Load.NQ, K: x.report.Load.K, Seed: x.report.Load.Seed}
			l.Requests = min(2000+int64(20*sessions), max(200, mostJobs/50/c.jobs()))
			o, err := c.simulate(ctx, l)
			if err != nil {
				return nil, err
			}
			list = append(list, o.QPS)
		}
		return list, nil
	}
	if x.before[sessions] == nil {
		list, err := qps(x.base)
		if err != nil {
			return Range{}, err
		}
		x.before[sessions] = list
	}
	after, err := qps(p)
	if err != nil {
		return Range{}, err
	}
	g := Range{Low: math.Inf(1)}
	for i, before := range x.before[sessions] {
		gain := after[i] / before
		if !(gain > 0) || math.IsInf(gain, 0) {
			return Range{}, nil
		}
		if i == 0 {
			g.Gain = gain
		}
		g.Low, g.High = min(g.Low, gain), max(g.High, gain)
	}
	wide := math.Exp(x.doubt(out, point))
	return Range{Gain: g.Gain, Low: g.Low / wide, High: g.High * wide}, nil
}

// doubt is by what power of e a gain may be off for reasons that no reading has: half of what the simulation is off from the live run at that
// load, the scatter of that run, of two of them, the error of costs that were computed, and 15% for what is in none of these.
func (x *prediction) doubt(out *Prediction, point *calibrated) float64 {
	square := func(x float64) float64 { return x * x }
	sum := square(0.15)
	if out.Modelled > 0 {
		median, _ := medianAndWorst(x.costs.errors)
		sum += square(out.Modelled * max(median, 0.1))
	}
	if p := &point.live; p.MeasuredQPS > 0 && p.PredictedQPS > 0 {
		sum += square(math.Log(p.PredictedQPS/p.MeasuredQPS) / 2)
		if point.high > point.low && point.low > 0 {
			sum += 2 * square((point.high-point.low)/2/p.MeasuredQPS)
		}
	}
	return math.Sqrt(sum)
}

func medianAndWorst(list []float64) (median, worst float64) {
	if len(list) == 0 {
		return -1, -1
	}
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2], list[len(list)-1]
}

// gather makes notes of the report of those that all predictions have.
func (r *Report) gather() {
	if len(r.Others) == 0 {
		return
	}
	var all []string
	for _, n := range r.Base.Notes {
		if !slices.ContainsFunc(r.Others, func(p Prediction) bool { return !slices.Contains(p.Notes, n) }) {
			all = append(all, n)
		}
	}
	of := func(list []string) []string {
		return slices.DeleteFunc(list, func(n string) bool { return slices.Contains(all, n) })
	}
	r.Base.Notes = of(r.Base.Notes)
	for i := range r.Others {
		r.Others[i].Notes = of(r.Others[i].Notes)
	}
	r.Notes = append(r.Notes, all...)
}

// remarks are notes of the whole report.
func (x *prediction) remarks() {
	c := &x.report.Check
	c.FitMedian, c.FitWorst = medianAndWorst(x.costs.errors)
	if c.FitMedian < 0 {
		x.note("cost model error unknown: too little could be measured")
	}
	if f := x.ask.filters; f != nil {
		x.note("costs are measured with the log's filters, which leave out %.0f%% of the rows on average", 100*f.share())
	}
	if missing := len(x.layout.Segments) - len(x.Loaded.Parts); missing > 0 {
		x.note("%d segments are not loaded: their cost comes from the model, recall is unknown", missing)
	}
	if n := x.interim(); n > 0 && c.Calibrated == "" {
		x.note("%d segments without index have %d rows or more: assuming row-by-row search; they cost about an eighth of that if the node "+
			"builds an interim index (queryNode.segcore.interimIndex, from a tenth of a full segment)", n, interimRows)
	}
	for i := range x.Loaded.Parts {
		if p := x.Loaded.Parts[i]; p.State != p.Info.State {
			x.note("segment %d is %s in the cluster but %s here: its index could not be read", p.Info.ID, p.Info.State, p.State)
		}
	}
}

// interimRows is from how many rows on Milvus 2.3 and later may give a segment without index an interim one, of 128 lists of which 16 are read
// (VecIndexConfig::GetBuildThreshold, internal/core/src/segcore/IndexConfigGenerator.cpp).
const interimRows = 39 * 128

// interim is how many segments may have an interim index.
func (x *prediction) interim() (n int) {
	if !since23(x.layout.Version) {
		return 0
	}
	for i := range x.layout.Segments {
		if s := &x.layout.Segments[i]; s.State != replay.Indexed && s.Rows >= interimRows {
			n++
		}
	}
	return n
}
