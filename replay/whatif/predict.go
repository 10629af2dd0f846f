package whatif

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"kitescope/engine/dist"
	"kitescope/engine/segment"
	"kitescope/replay"
	"kitescope/replay/log"
	"kitescope/replay/simulate"
)

// Input is what is asked.
type Input struct {
	Loaded *replay.Loaded
	Log    *log.Log
	// Params are of all requests; of those that are 0, what most requests of the log say, else 10, ef 64, nprobe 8.
	Params  segment.Params
	Changes []Change
	// Likely tells that nobody named the changes: those without effect are left out, and no errors.
	Likely bool
	// Sessions of the curve: 1, 2, 4 to 64 if there are none. Load is that of Outcome: 16 sessions if it has neither those nor a rate.
	Sessions []int
	Load     simulate.Load
	// Calibration of a live run of the present cluster; nil: overheads are assumed, which notes say.
	Calibration *Calibration
	// Check is how long the engine is asked at each number of sessions, to hold the simulation against it: 0 is a second, less than 0 checks
	// nothing.
	Check time.Duration
	// CPU is what the process has used so far; nil where nobody knows. With it, what others do on this machine is not taken for cost.
	CPU    func() time.Duration
	Setup  replay.Setup
	Limits Limits
	Seed   uint64
	// Progress is told each step before it is made, from any goroutine, one call at a time; nil for none.
	Progress func(step string)
}

// Predict says what the log's queries would do on the present cluster and on each changed one. It measures the engine on this machine, so that
// figures of two calls differ as measurements do; what is simulated, and which segments are built, does not. The error names what
// cannot be measured at all, a change that makes no sense, or is ctx's.
func Predict(ctx context.Context, in Input) (*Report, error) {
	if in.Loaded == nil || in.Log == nil {
		return nil, errors.New("predict: nothing is loaded, or no log given")
	}
	if c := &in.Loaded.Layout.Collection; c.Element == dist.Sparse {
		return nil, fmt.Errorf("predict collection %s: %s has sparse vectors, whose searches are not modelled: replay run measures them", c.Name, c.VectorField)
	}
	for i := range in.Changes {
		if err := in.Changes[i].check(); err != nil {
			return nil, fmt.Errorf("change %q: %w", in.Changes[i].Name, err)
		}
	}
	x, err := newPrediction(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("predict collection %s: %w", in.Loaded.Layout.Collection.Name, err)
	}
	if err := x.all(ctx); err != nil {
		return nil, fmt.Errorf("predict collection %s: %w", in.Loaded.Layout.Collection.Name, err)
	}
	return x.report, nil
}

// prediction is one under way.
type prediction struct {
	Input
	report *Report
	layout *replay.Layout
	model  *model
	ask    *asked
	// views are ways to read what is known of the server, the likeliest first; baseReadings what they say of the present cluster.
	views        []Overheads
	baseReadings []reading
	anchors      []anchor // by sessions
}

func newPrediction(ctx context.Context, in Input) (*prediction, error) {
	x := &prediction{Input: in}
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
	if err := dims(in.Log.Vectors, in.Loaded.Parts[0].Data.Vectors, in.Log.Name); err != nil {
		return nil, err
	}
	x.report = &Report{Sessions: x.Sessions, Setup: in.Setup, Cover: in.Loaded.Coverage, Load: x.load()}
	var note string
	if x.layout, note = whole(in.Loaded.Layout, float64(runtime.GOMAXPROCS(0))); note != "" {
		x.note("%s", note)
	}
	if err := x.effects(); err != nil {
		return nil, err
	}
	x.model, err = newModel(ctx, newTable(in.Loaded, x.ask, x.Limits, x.Progress))
	return x, err
}

// effects looks at changes before anything is measured.
func (x *prediction) effects() error {
	var list []Change
	for _, c := range x.Changes {
		err := effect(apply(x.layout, c), c, x.ask)
		if err != nil && !x.Likely {
			return err
		}
		if err == nil {
			list = append(list, c)
		}
	}
	x.Changes = list
	return nil
}

func (x *prediction) note(format string, args ...any) {
	x.report.Notes = append(x.report.Notes, fmt.Sprintf(format, args...))
}

// load is the one that was asked for, with the log's shape.
func (x *prediction) load() simulate.Load {
	l := x.Load
	if l.Rate == 0 && l.Sessions == 0 {
		l.Sessions = 16
	}
	if l.NQ == 0 {
		l.NQ = max(1, commonest(x.Log, func(r *log.Request) int { return r.NQ }))
	}
	l.K = cmp.Or(l.K, x.ask.params.K)
	l.Seed = cmp.Or(l.Seed, x.Seed)
	return l
}

func (x *prediction) all(ctx context.Context) error {
	base, err := price(ctx, x.model, &variant{Layout: x.layout, from: map[int64][]span{}}, x.ask)
	if err != nil {
		return err
	}
	if err := x.calibrate(ctx, base); err != nil {
		return err
	}
	if err := x.live(ctx, base); err != nil {
		return err
	}
	if x.report.Base, err = x.predict(ctx, base, Change{Name: "as it is"}); err != nil {
		return err
	}
	x.report.Base.Gain = 1
	if x.baseReadings, err = x.read(ctx, base); err != nil {
		return err
	}
	for _, c := range x.Changes {
		x.Progress("change: " + c.Name)
		p, err := price(ctx, x.model, apply(x.layout, c), x.ask.with(c.EF))
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
		list, err := x.read(ctx, p)
		if err != nil {
			return fmt.Errorf("change %q: %w", c.Name, err)
		}
		x.ranges(&out, list)
		x.report.Others = append(x.report.Others, out)
	}
	if err := x.check(ctx, base); err != nil {
		return err
	}
	x.remarks()
	x.report.gather()
	return nil
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

// predict simulates one cluster: the load that was asked for, the curve, and what it can do at most.
func (x *prediction) predict(ctx context.Context, p *priced, c Change) (Prediction, error) {
	out := Prediction{Change: c, Layout: p.Layout, Recall: p.recall, Modelled: p.share(), EF: p.ask.params.EF, Notes: p.notes}
	out.Measured = out.Modelled == 0
	out.Cost, out.Nodes = p.cost()
	cluster, notes, err := p.simulatedIn(ctx, &x.views[0], x.report.Load.NQ)
	if err != nil {
		return out, err
	}
	if x.report.Base.Outcome == nil { // the present cluster, which says it for all
		x.report.Notes = append(x.report.Notes, notes...)
	}
	x.Progress("simulate: " + c.Name)
	if len(cluster.Collections[0].Replicas) == 0 {
		return out, errors.New("no node serves any segment")
	}
	most, err := simulate.Capacity(ctx, cluster, x.report.Load.NQ)
	if err != nil {
		return out, err
	}
	lone := most.Alone
	if out.Outcome, err = run(ctx, cluster, x.report.Load, lone); err != nil {
		return out, err
	}
	x.anchored(out.Outcome, x.report.Load.Sessions)
	curve := simulate.Load{NQ: x.report.Load.NQ, K: x.report.Load.K, Seed: x.report.Load.Seed}
	for _, n := range append(slices.Clone(x.Sessions), enough(cluster)) {
		l := curve
		l.Sessions = n
		o, err := run(ctx, cluster, l, lone)
		if err != nil {
			return out, err
		}
		x.anchored(o, n)
		out.Most = max(out.Most, o.QPS)
		if len(out.Curve) < len(x.Sessions) {
			out.Curve = append(out.Curve, *o)
		}
	}
	out.Notes = append(out.Notes, p.reasons(&out)...)
	return out, nil
}

// enough sessions keep all cores busy, and are not more than can be simulated: each asks all nodes of a replica. Nodes that search nothing do not
// count: with more sessions more requests are merged, which is no merit of theirs.
func enough(c *simulate.Cluster) int {
	serves := make([]bool, len(c.Nodes))
	for _, replica := range c.Collections[0].Replicas {
		for i := range replica {
			for j := range replica[i].Segments {
				serves[replica[i].Segments[j].Node] = true
			}
		}
	}
	cores := 0.0
	for i := range c.Nodes {
		if serves[i] {
			cores += c.Nodes[i].Cores()
		}
	}
	return int(min(max(32, min(6*cores, 8192)), max(1, float64(simulate.MostTasks/2/tasks(c)))))
}

// run simulates long enough for a lone query to be asked some hundred times, and no longer.
func run(ctx context.Context, c *simulate.Cluster, l simulate.Load, lone time.Duration) (*simulate.Outcome, error) {
	if l.Duration == 0 {
		l.Duration = max(10*time.Second, 500*lone)
	}
	if l.Warmup == 0 {
		l.Warmup = max(time.Second, 20*lone)
	}
	if l.Requests == 0 {
		l.Requests = max(int64(1000+4*l.Sessions), min(20_000+20*int64(l.Sessions), mostTasks/tasks(c)))
	}
	return simulate.Run(ctx, c, l)
}

// mostTasks bounds one simulation: some seconds of it.
const mostTasks = 10_000_000

// reasons are what the figures come from, in plain words.
func (p *priced) reasons(out *Prediction) (list []string) {
	for i := range out.Nodes {
		n := &out.Nodes[i]
		share := 1 / float64(max(1, p.peers(n.ID)))
		if n.Part < 0.3 || n.Part < 1.3*share || share == 1 {
			continue
		}
		text := fmt.Sprintf("%s does %.0f%% of the work", n.Name, 100*n.Part)
		if n.Growing > 0 && out.Cost.Growing > out.Cost.CPU/3 {
			text += fmt.Sprintf(": %d growing segments, compared row by row", n.Growing)
		} else {
			text += fmt.Sprintf(": %d segments, %d rows", n.Segments, n.Rows)
		}
		list = append(list, text)
	}
	if c := out.Cost; c.CPU > 0 && c.Growing > c.CPU/10 {
		list = append(list, fmt.Sprintf("growing segments take %.0f%% of a query's CPU", 100*float64(c.Growing)/float64(c.CPU)))
	}
	if out.Modelled > 0 {
		text := []string{fmt.Sprintf("the cost of %.0f%% of the rows is computed from the model", 100*out.Modelled)}
		for _, why := range slices.Sorted(maps.Keys(p.why)) {
			text = append(text, fmt.Sprintf("%d segments: %s", p.why[why], why))
		}
		list = append(list, strings.Join(text, "; "))
	}
	return append(list, p.guesses...)
}

// peers is how many nodes the replica of a node has.
func (p *priced) peers(node int64) int {
	for _, r := range p.Replicas {
		if slices.Contains(r.Nodes, node) {
			return len(r.Nodes)
		}
	}
	return 0
}

// remarks are notes of the whole report.
func (x *prediction) remarks() {
	c := &x.report.Check
	c.FitMedian, c.FitWorst = medianAndWorst(x.model.errors)
	if c.FitMedian < 0 {
		x.note("cost model error unknown: too little could be measured")
	}
	if f := x.ask.filters; f != nil {
		x.note("costs are measured with the log's filters, which leave out %.0f%% of the rows on average", 100*f.share())
	}
	if missing := len(x.layout.Segments) - len(x.Loaded.Parts); missing > 0 {
		x.note("%d segments are not loaded: their cost comes from the model, recall is unknown", missing)
	}
	if scan, walk := x.model.memory.most(); math.Max(scan, walk) > 1.1 {
		x.note("vectors in memory cost %.1f times those in a cache, %.1f times in graphs: measured here, on %s", scan, walk,
			cmp.Or(x.Setup.Machine.CPU, "this machine"))
	}
	x.interim()
	for i := range x.Loaded.Parts {
		if p := x.Loaded.Parts[i]; p.State != p.Info.State {
			x.note("segment %d is %s in the cluster but %s here: its index could not be read", p.Info.ID, p.Info.State, p.State)
		}
	}
}

// interim says where Milvus may do better than row by row. From 2.3 on a query node gives segments without index an interim one, of 128 lists of which
// 16 are read (queryNode.segcore.interimIndex of configs/milvus.yaml), once they have 39 rows for each list and a tenth
// of a full segment's (VecIndexConfig::GetBuildThreshold, internal/core/src/segcore/IndexConfigGenerator.cpp).
func (x *prediction) interim() {
	if !since23(x.layout.Version) || x.views[0].Growing > 0 { // measured, whatever they have
		return
	}
	n := 0
	for i := range x.layout.Segments {
		if s := &x.layout.Segments[i]; s.State != replay.Indexed && s.Rows >= interimRows {
			n++
		}
	}
	if n > 0 {
		x.note("%d segments without index have %d rows or more: assuming row-by-row search; they cost about an eighth of that if the node "+
			"builds an interim index (queryNode.segcore.interimIndex, from a tenth of a full segment)", n, interimRows)
	}
}

const interimRows = 39 * 128
