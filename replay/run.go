package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"kitescope/engine"
	"kitescope/replay/load"
	"kitescope/replay/log"
)

// TruthFrom is what recall is measured against.
type TruthFrom uint8

// The truths.
const (
	NoTruth    TruthFrom = iota
	ExactTruth           // computed over all that was loaded
	LogTruth             // the log's own
)

// RunOptions say what is run.
type RunOptions struct {
	Loaded *Loaded // may be nil with a Target, if nothing is compared with the engine
	// Target is asked; nil is the engine over Loaded, as Engine says.
	Target load.Target
	Engine TargetOptions

	Log      *log.Log // is named in the result, and has its truth
	Requests []*load.Request
	Truth    TruthFrom
	// Differences compares a Target's answers with the engine's.
	Differences bool

	// Plan is the load. Sessions and EF, if there are any, make a sweep of all combinations, in place of Plan.Sessions and the ef of requests.
	Plan     load.Plan
	Sessions []int
	EF       []int
	// Rates, if there are any, are open loops, each with the first of Sessions, in place of closed ones.
	Rates   []float64
	Threads int // for what is computed before: 0 is one per CPU

	// Watch is called before each point, and what it returns after it: what the target's processes did meanwhile. nil for none.
	Watch func(ctx context.Context) func(ctx context.Context, p *load.Point)

	// Setup is what the caller knows of it: command, program, source, storage. The rest is filled in.
	Setup Setup
	// Progress is called before each stage and while points are measured; nil for none.
	Progress func(RunProgress)
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// RunProgress is how far a run is.
type RunProgress struct {
	Stage         string // "true neighbours", "answers", "load"
	Point, Points int
	Sessions, EF  int
	Load          load.Progress
}

// Run measures, and compares. A context that ends is no error: the result says "interrupted" and has what was done so far. An error is
// what makes a run senseless: no requests, a target that no session can be opened of.
func Run(ctx context.Context, o RunOptions) (*Result, error) {
	x, err := newRun(o)
	if err != nil {
		return nil, err
	}
	err = x.all(ctx)
	switch {
	case ctx.Err() != nil:
		x.result.Stopped = cmp.Or(x.result.Stopped, stopReason(ctx))
	case err != nil:
		return nil, err
	}
	return x.result, nil
}

func stopReason(ctx context.Context) string {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return "time is up"
	}
	return "interrupted"
}

// run is a Run under way.
type run struct {
	RunOptions
	engine  *Target     // nil of live targets
	target  load.Target // what is asked
	result  *Result
	truth   *Answers
	answers *Answers // of the parameters at hand
	points  int
}

func newRun(o RunOptions) (*run, error) {
	if len(o.Requests) == 0 {
		return nil, errors.New("no requests to send")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if len(o.Sessions) == 0 {
		o.Sessions = []int{max(o.Plan.Sessions, 1)}
	}
	if len(o.EF) == 0 {
		o.EF = []int{0} // as requests say
	}
	x := &run{RunOptions: o, target: o.Target}
	x.points = len(x.plans()) * len(o.EF)
	needs := o.Target == nil || o.Truth == ExactTruth || o.Differences
	if needs && o.Loaded == nil {
		return nil, errors.New("no segments are loaded: the engine has nothing to search")
	}
	if o.Target == nil {
		t, err := NewTarget(o.Loaded, o.Engine)
		if err != nil {
			return nil, err
		}
		x.engine, x.target = t, t
	}
	x.result = &Result{Version: ResultVersion, Kind: "run", Taken: o.Now().UTC(), Setup: x.setup()}
	if x.points > 1 {
		x.result.Kind = "sweep"
	}
	if o.Loaded != nil {
		x.result.Cover = o.Loaded.Coverage
		x.result.Notes = slices.Clone(o.Loaded.Layout.Notes)
	}
	if x.engine != nil && x.engine.Left > 0 {
		x.result.Notes = append(x.result.Notes, fmt.Sprintf("skipped %d segments the replica does not serve", x.engine.Left))
	}
	return x, nil
}

// setup fills in what is known here.
func (x *run) setup() Setup {
	s := x.Setup
	s.Target, s.Machine = x.target.Name(), ThisMachine()
	if l := x.Log; l != nil {
		s.Log, s.LogFormat, s.LogDigest = l.Name, l.Format, l.Digest
	}
	s.Queries = 0
	for _, r := range x.Requests {
		s.Queries += r.Vectors.Rows
	}
	v := x.Requests[0].Vectors
	s.Dim, s.Element = v.Dim, v.Element.String()
	if x.Loaded == nil {
		return s
	}
	l := x.Loaded.Layout
	s.Source, s.Collection, s.Milvus = cmp.Or(s.Source, l.Source), l.Collection.Name, cmp.Or(s.Milvus, l.Version)
	s.Metric = x.Loaded.metric().String()
	if i := x.Engine.Replica; x.engine != nil && i < len(l.Replicas) {
		s.Replica = l.Replicas[i].ID
	}
	return s
}

// all measures each combination.
func (x *run) all(ctx context.Context) error {
	if err := x.findTruth(ctx); err != nil {
		return err
	}
	for _, ef := range x.EF {
		requests := withEF(x.Requests, ef)
		if err := x.answer(ctx, requests, ef); err != nil {
			return err
		}
		for _, plan := range x.plans() {
			if err := x.point(ctx, requests, plan, ef); err != nil {
				return err
			}
			if ctx.Err() != nil || x.result.Stopped != "" {
				return ctx.Err()
			}
		}
	}
	return ctx.Err()
}

// plans are the loads of one ef.
func (x *run) plans() (list []load.Plan) {
	plan := x.Plan
	if len(x.Rates) > 0 {
		plan.Sessions, plan.Timed = x.Sessions[0], false
		for _, plan.Rate = range x.Rates {
			list = append(list, plan)
		}
		return list
	}
	for _, plan.Sessions = range x.Sessions {
		list = append(list, plan)
	}
	return list
}

func (x *run) findTruth(ctx context.Context) (err error) {
	switch x.Truth {
	case ExactTruth:
		x.say(RunProgress{Stage: "true neighbours"})
		x.truth, err = Exact(ctx, x.Loaded, x.Requests, x.Engine.Options, x.Threads)
	case LogTruth:
		if x.Log == nil {
			return errors.New("the truth is to come from a log, but there is no log")
		}
		x.truth, err = truth(x.Log)
	default:
	}
	return err
}

// withEF is the same requests with another ef; 0 leaves it.
func withEF(requests []*load.Request, ef int) []*load.Request {
	if ef == 0 {
		return requests
	}
	list := make([]*load.Request, len(requests))
	for i, r := range requests {
		one := *r
		one.EF = ef
		list[i] = &one
	}
	return list
}

// answer asks the engine each request once, if somebody wants to compare: what is measured later asks the same, as often as it has time.
func (x *run) answer(ctx context.Context, requests []*load.Request, ef int) error {
	x.answers = nil
	own := x.engine != nil && x.truth != nil
	if !own && !x.Differences {
		return nil
	}
	x.say(RunProgress{Stage: "answers", EF: ef})
	t := x.engine
	if t == nil {
		var err error
		if t, err = NewTarget(x.Loaded, x.Engine); err != nil {
			return err
		}
	}
	answers, failed, err := AskAll(ctx, t, requests, x.Threads)
	if err != nil {
		return err
	}
	if failed > 0 {
		x.result.Notes = append(x.result.Notes, fmt.Sprintf("the engine rejects %d of %d requests", failed, len(requests)))
	}
	x.answers = answers
	return nil
}

// point measures one combination.
func (x *run) point(ctx context.Context, requests []*load.Request, plan load.Plan, ef int) error {
	now := RunProgress{Stage: "load", Point: len(x.result.Points), Points: x.points, Sessions: plan.Sessions, EF: ef}
	x.say(now)
	if x.engine != nil {
		x.engine.ResetCosts() // each point counts for itself
		plan.Began = x.engine.ResetCosts
	}
	plan.Progress = func(p load.Progress) {
		now.Load = p
		x.say(now)
		if x.Plan.Progress != nil {
			x.Plan.Progress(p)
		}
	}
	target := x.target
	var recorder *Recorder
	if x.engine == nil && (x.truth != nil || x.Differences) {
		recorder = Record(target, requests)
		target = recorder
	}
	watched := func(context.Context, *load.Point) {}
	if x.Watch != nil {
		watched = x.Watch(ctx)
	}
	p, err := load.Run(ctx, target, requests, plan)
	if err != nil {
		return err
	}
	watched(ctx, p)
	p.Plan.Progress, p.Plan.Began = x.Plan.Progress, x.Plan.Began
	p.EF, p.NProbe, p.K = common(requests)
	x.compare(p, recorder, requests)
	x.result.Points = append(x.result.Points, *p)
	x.result.Stopped = cmp.Or(x.result.Stopped, p.Stopped)
	if x.engine != nil {
		x.result.Costs = addCosts(x.result.Costs, x.engine.Costs())
		x.result.Slowest = addSlowest(x.result.Slowest, x.engine.Slowest(), max(x.engine.options.Slowest, 0))
	}
	return nil
}

// compare says how good a point's answers were. The result has the recall and the differences of the last one.
func (x *run) compare(p *load.Point, recorder *Recorder, requests []*load.Request) {
	got := x.answers
	if recorder != nil {
		got = recorder.Answers()
	}
	p.Recall = -1
	if x.truth != nil && got != nil {
		if r := RecallOf(requests, got, x.truth, x.recallMetric()); r != nil {
			if x.Truth == ExactTruth {
				r.Unseen = x.Loaded.Coverage.unseen()
			}
			p.Recall, p.RecallLow, p.RecallHigh, x.result.Recall = r.Mean, r.Low, r.High, r
		}
	}
	if recorder != nil && x.Differences {
		x.result.Differences = Differ(x.answers, got, x.Loaded)
	}
}

// recallMetric is what nearer means; a log's truth, which is all that there is without segments, does not ask.
func (x *run) recallMetric() (m engine.Metric) {
	if x.Loaded != nil {
		m = x.Loaded.metric()
	}
	return m
}

func (x *run) say(p RunProgress) {
	if x.Progress != nil {
		x.Progress(p)
	}
}

// common are the parameters that all requests have; 0 where they differ.
func common(requests []*load.Request) (ef, nprobe, k int) {
	ef, nprobe, k = requests[0].EF, requests[0].NProbe, requests[0].K
	for _, r := range requests {
		if r.EF != ef {
			ef = 0
		}
		if r.NProbe != nprobe {
			nprobe = 0
		}
		if r.K != k {
			k = 0
		}
	}
	return ef, nprobe, k
}
