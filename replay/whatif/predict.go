package whatif

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"kitescope/engine/dist"
	"kitescope/engine/segment"
	"kitescope/replay"
	"kitescope/replay/log"
)

// Input holds the arguments of Predict.
type Input struct {
	Loaded *replay.Loaded
	Log    *log.Log
	// Params applies to all requests. A zero value defaults to the value of most requests of the log, or else to k 10,
	// ef 64 and nprobe 8.
	Params  segment.Params
	Changes []Change
	// SkipInvalid marks the changes as guesses (see Causes). Guesses that are impossible or have no effect are omitted
	// instead of returned as errors.
	SkipInvalid bool
	// Load is the load to simulate. The default is 16 sessions if it has neither sessions nor a rate.
	Load Load
	// Calibration is a live run of the present cluster; if nil, overheads are assumed.
	Calibration *Calibration
	Setup       replay.Setup
	Limits      Limits
	Seed        uint64
	// Progress is called before each step, unless it is nil.
	Progress func(step string)
}

// Predict returns predictions for the log's queries on the present cluster and on each changed one. It measures
// the engine on this machine, so results of two calls differ by the scatter of measurements.
func Predict(ctx context.Context, in Input) (*Report, error) {
	c := &in.Loaded.Layout.Collection
	if c.Element == dist.Sparse {
		return nil,
			fmt.Errorf("predict collection %s: %s has sparse vectors, whose searches are not modelled: replay run "+
				"measures them",
				c.Name, c.VectorField)
	}
	x, err := newPrediction(in)
	if err == nil {
		err = x.run(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("predict collection %s: %w", c.Name, err)
	}
	return x.report, nil
}

// prediction is the state of a call of Predict.
type prediction struct {
	Input
	report   *Report
	layout   *replay.Layout
	variants []*variant // parallel to Changes
	costs    *costs
	sample   *sample
	points   []calibratedLoad // loads of the live run; a single one with 0 sessions without a live run
	base     *pricedVariant
	before   []float64 // queries per second of the present cluster in each reading
}

func newPrediction(in Input) (*prediction, error) {
	x := &prediction{Input: in}
	if x.Progress == nil {
		x.Progress = func(string) {}
	}
	x.Limits = x.Limits.withDefaults()
	var err error
	if x.sample, err = sampleOf(in.Log, x.Limits.Queries, in.Params); err != nil {
		return nil, err
	}
	if len(in.Loaded.Parts) == 0 {
		return nil, errors.New("no segments loaded, nothing to measure")
	}
	v, own := x.sample.requests[0].Vectors, in.Loaded.Parts[0].Data.Vectors
	if v.Dim != own.Dim || v.Element != own.Element {
		return nil, fmt.Errorf("log %s has vectors of %d dimensions of %s, the collection of %d of %s",
			in.Log.Name, v.Dim, v.Element, own.Dim, own.Element)
	}
	l := in.Load
	if l.Rate == 0 && l.Sessions == 0 {
		l.Sessions = 16
	}
	l.NQ = cmp.Or(l.NQ, max(1, mode(in.Log, func(r *log.Request) int { return r.NQ })))
	l.K, l.Seed = cmp.Or(l.K, x.sample.params.K), cmp.Or(l.Seed, in.Seed)
	x.report = &Report{Setup: in.Setup, Cover: in.Loaded.Coverage, Load: l}
	x.layout = x.withSingleNode(in.Loaded.Layout)
	x.Changes = nil
	for _, c := range in.Changes {
		v, err := apply(x.layout, c)
		if err == nil && c.EF > 0 {
			err = x.efEffect(v, c)
		}
		switch {
		case err != nil && !x.SkipInvalid:
			return nil, fmt.Errorf("change %q: %w", c.Name, err)
		case err == nil:
			x.Changes, x.variants = append(x.Changes, c), append(x.variants, v)
		}
	}
	x.costs = newCosts(in.Loaded, x.sample, x.Limits, x.Progress)
	return x, nil
}

// efEffect returns an error if the ef of a change has no effect.
func (x *prediction) efEffect(v *variant, c Change) error {
	graphs := slices.ContainsFunc(v.Segments, func(s replay.Segment) bool {
		return s.State == replay.Indexed && s.Index.Type == typeHNSW
	})
	switch ef := x.sample.withEF(c.EF).params.EF; {
	case !graphs:
		return errors.New("ef has no effect: no segment has an HNSW index")
	case ef == x.sample.params.EF && c.Type == "":
		return fmt.Errorf("ef has no effect: searches already use %d", ef)
	}
	return nil
}

// withSingleNode adds a node that serves all segments to a layout without nodes or replicas, because such a layout
// cannot be simulated.
func (x *prediction) withSingleNode(l *replay.Layout) *replay.Layout {
	served := slices.ContainsFunc(l.Segments, func(s replay.Segment) bool {
		return slices.ContainsFunc(s.On, func(n int64) bool { return n != 0 })
	})
	c := clone(l)
	if served && len(l.Nodes) > 0 && len(l.Replicas) > 0 {
		return c
	}
	cores := float64(runtime.GOMAXPROCS(0))
	c.Nodes = []replay.Node{{ID: 1, Name: "querynode-1", Cores: cores}}
	c.Replicas = []replay.Replica{{ID: 1, Nodes: []int64{1}, Leaders: map[string]int64{}}}
	for i := range c.Segments {
		c.Segments[i].On = []int64{1}
		c.Replicas[0].Leaders[c.Segments[i].Channel] = 1
	}
	x.note("no node reports serving the collection: assuming one node of %g cores serves all of it", cores)
	return c
}

func (x *prediction) note(format string, args ...any) {
	x.report.Notes = append(x.report.Notes, fmt.Sprintf(format, args...))
}

func (x *prediction) run(ctx context.Context) (err error) {
	if x.base, err = x.costs.price(ctx, &variant{Layout: x.layout}, x.sample); err != nil {
		return err
	}
	if err := x.calibrate(ctx); err != nil {
		return err
	}
	r := x.report
	if r.Base, err = x.predict(ctx, x.base, Change{Name: "as it is"}); err != nil {
		return err
	}
	if x.before, err = x.rates(ctx, x.base); err != nil {
		return err
	}
	r.Base.Gain, r.Base.GainAtLoad = 1, 1
	for i, c := range x.Changes {
		x.Progress("change: " + c.Name)
		p, err := x.costs.price(ctx, x.variants[i], x.sample.withEF(c.EF))
		if err != nil {
			return err
		}
		out, err := x.predict(ctx, p, c)
		if err != nil {
			return fmt.Errorf("change %q: %w", c.Name, err)
		}
		if err := x.gains(ctx, p, &out); err != nil {
			return fmt.Errorf("change %q: %w", c.Name, err)
		}
		r.Others = append(r.Others, out)
	}
	x.addNotes()
	return nil
}

// calibrate selects the overheads.
func (x *prediction) calibrate(ctx context.Context) (err error) {
	x.points = []calibratedLoad{{estimates: assumedEstimates()}}
	c := &x.report.Check
	var list []calibratedLoad
	if x.Calibration != nil {
		list, err = x.Calibration.calibrate(ctx, x.base, x.report.Load, x.sample.params.EF)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case x.Calibration == nil:
		x.note("no live run given: assuming the server's own work, %s; trust gains more than absolute figures",
			x.points[0].estimates[0].text())
	case err != nil:
		x.note("%v: assuming the server's own work, %s", err, x.points[0].estimates[0].text())
	default:
		x.points, c.Calibrated = list, x.Calibration.Name
		for i := range list {
			c.Live = append(c.Live, list[i].live)
		}
		o := &x.point().estimates[0]
		x.note("the server's own work from %s: %s", o.From, o.text())
	}
	c.Overheads = x.point().estimates[0]
	return nil
}

// point returns the load of the live run with the nearest number of sessions. If the load of the report is a
// rate, it returns the last one, at which nodes are busy.
func (x *prediction) point() *calibratedLoad {
	sessions := x.report.Load.Sessions
	best := &x.points[len(x.points)-1]
	apart := func(p *calibratedLoad) float64 {
		return math.Abs(math.Log(float64(max(1, p.sessions)) / float64(sessions)))
	}
	for i := range x.points {
		if p := &x.points[i]; sessions > 0 && apart(p) < apart(best) {
			best = p
		}
	}
	return best
}

// predict simulates one cluster at the load of the report, and with enough sessions to keep all cores busy.
func (x *prediction) predict(ctx context.Context, p *pricedVariant, c Change) (out Prediction, err error) {
	out = Prediction{
		Change: c, Layout: segmentsOf(p.Layout), Cost: p.cost(), Recall: p.recall, Modelled: p.computedShare(),
		EF:    p.sample.params.EF,
		Notes: append(p.notes, p.reasons()...),
	}
	out.Measured = out.Modelled == 0
	cluster, notes := p.cluster(&x.point().estimates[0])
	if p == x.base {
		x.report.Notes = append(x.report.Notes, notes...)
	}
	x.Progress("simulate: " + c.Name)
	if out.Outcome, err = x.outcome(ctx, cluster, x.report.Load); err != nil {
		return out, err
	}
	l := x.report.Load
	l.Rate, l.Sessions = 0, saturatingSessions(cluster)
	most, err := x.outcome(ctx, cluster, l)
	if err != nil {
		return out, err
	}
	out.Most = most.QPS
	if x.report.Load.Rate == 0 {
		out.Most = max(out.Most, out.Outcome.QPS)
	}
	return out, nil
}

// outcome simulates a cluster at a load and scales queries per second and latencies by the ratio of the live run
// to the simulation of the present cluster.
func (x *prediction) outcome(ctx context.Context, c *cluster, l Load) (*Outcome, error) {
	o, err := c.simulate(ctx, l)
	if live := &x.point().live; err == nil && l.Sessions > 0 && live.MeasuredQPS > 0 && live.PredictedQPS > 0 {
		by := live.MeasuredQPS / live.PredictedQPS
		o.QPS *= by
		o.Mean, o.P50, o.P95, o.P99 = scaled(o.Mean, 1/by), scaled(o.P50, 1/by), scaled(o.P95, 1/by),
			scaled(o.P99, 1/by)
	}
	return o, err
}

// saturatingSessions returns a number of sessions that keeps all cores busy and that can be simulated.
func saturatingSessions(c *cluster) int {
	cores := 0.0
	for i := range c.nodes {
		if c.nodes[i].segments > 0 {
			cores += c.nodes[i].cores
		}
	}
	return int(min(max(32, min(6*cores, 8192)), max(1, float64(maxConcurrentJobs/2/c.jobs()))))
}

// rates returns the queries per second of a cluster in each reading of the live run. If the load is a rate, it
// returns the capacity.
func (x *prediction) rates(ctx context.Context, p *pricedVariant) (list []float64, err error) {
	l := x.report.Load
	for i := range x.point().estimates {
		c, _ := p.cluster(&x.point().estimates[i])
		if l.Rate > 0 {
			most, _ := c.capacity(l.NQ)
			list = append(list, most)
			continue
		}
		l.Requests = min(2000+int64(20*l.Sessions), max(200, maxJobs/50/c.jobs()))
		o, err := c.simulate(ctx, l)
		if err != nil {
			return nil, err
		}
		list = append(list, o.QPS)
	}
	return list, nil
}

// gains computes the gains of a changed cluster over the present one. The range of AtLoad spans the gains under all
// estimates that fit the live run, widened by the uncertainty.
func (x *prediction) gains(ctx context.Context, p *pricedVariant, out *Prediction) error {
	base := &x.report.Base
	out.Gain = ratio(out.Most, base.Most)
	out.GainAtLoad = out.Gain
	if x.report.Load.Rate == 0 {
		out.GainAtLoad = ratio(out.Outcome.QPS, base.Outcome.QPS)
	}
	after, err := x.rates(ctx, p)
	if err != nil {
		return err
	}
	var list []float64
	for i, before := range x.before {
		gain := ratio(after[i], before)
		if gain == 0 {
			return nil
		}
		list = append(list, gain)
	}
	wide := math.Exp(x.uncertainty(out))
	out.AtLoad = Range{Gain: list[0], Low: slices.Min(list) / wide, High: slices.Max(list) * wide}
	return nil
}

// ratio returns a/b, or 0 if that is not a finite positive number.
func ratio(a, b float64) float64 {
	if r := a / b; r > 0 && !math.IsInf(r, 0) {
		return r
	}
	return 0
}

// uncertainty returns the uncertainty of a gain that no reading covers, as an exponent of e. It is the root of the sum
// of the squares of: half of the simulation's error against the live run at that load, the scatter of the live run
// (twice), the error of computed costs, and 15% for everything else.
func (x *prediction) uncertainty(out *Prediction) float64 {
	square := func(x float64) float64 { return x * x }
	sum := square(0.15)
	if out.Modelled > 0 {
		median, _ := medianAndWorst(x.costs.errors)
		sum += square(out.Modelled * max(median, 0.1))
	}
	point := x.point()
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

// addNotes adds notes about the whole report, and moves notes that all predictions share to the report.
func (x *prediction) addNotes() {
	r := x.report
	if r.Check.FitMedian, r.Check.FitWorst = medianAndWorst(x.costs.errors); r.Check.FitMedian < 0 {
		x.note("cost model error unknown: too little could be measured")
	}
	if x.costs.rows > 0 {
		x.note("costs are measured with the log's filters, which leave out %.0f%% of the rows on average",
			100*x.costs.excluded/x.costs.rows)
	}
	if missing := len(x.layout.Segments) - len(x.Loaded.Parts); missing > 0 {
		x.note("%d segments are not loaded: their cost comes from the model, recall is unknown", missing)
	}
	if n := x.countInterim(); n > 0 && r.Check.Calibrated == "" {
		x.note("%d segments without index have %d rows or more: assuming row-by-row search; they cost about an "+
			"eighth of that if the "+
			"node builds an interim index (queryNode.segcore.interimIndex, from a tenth of a full segment)", n,
			minInterimRows)
	}
	for _, p := range x.Loaded.Parts {
		if p.State != p.Info.State {
			x.note("segment %d is %s in the cluster but %s here: its index could not be read", p.Info.ID, p.Info.State,
				p.State)
		}
	}
	common := slices.DeleteFunc(slices.Clone(r.Base.Notes), func(n string) bool {
		return len(r.Others) == 0 ||
			slices.ContainsFunc(r.Others, func(p Prediction) bool { return !slices.Contains(p.Notes, n) })
	})
	own := func(n string) bool { return slices.Contains(common, n) }
	r.Base.Notes = slices.DeleteFunc(r.Base.Notes, own)
	for i := range r.Others {
		r.Others[i].Notes = slices.DeleteFunc(r.Others[i].Notes, own)
	}
	r.Notes = append(r.Notes, common...)
}

// minInterimRows is the minimum number of rows for which Milvus 2.3 and later may build an interim index on a segment
// without an index. The interim index has 128 lists, and a search reads 16 lists
// (VecIndexConfig::GetBuildThreshold, internal/core/src/segcore/IndexConfigGenerator.cpp).
const minInterimRows = 39 * 128

// countInterim counts the segments that may have an interim index.
func (x *prediction) countInterim() (n int) {
	var major, minor int
	if _, err := fmt.Sscanf(x.layout.Version, "%d.%d", &major, &minor); err != nil || major == 2 && minor < 3 {
		return 0
	}
	for i := range x.layout.Segments {
		if s := &x.layout.Segments[i]; s.State != replay.Indexed && s.Rows >= minInterimRows {
			n++
		}
	}
	return n
}
