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

// TruthFrom is the source of the truth for recall.
type TruthFrom uint8

// The sources of truth.
const (
	NoTruth    TruthFrom = iota
	ExactTruth           // computed over all loaded rows
	LogTruth             // from the log
)

// RunOptions are the options of Run.
type RunOptions struct {
	Loaded *Loaded // may be nil with a Target, if nothing is compared with the engine
	// Target receives the requests; nil: the engine over Loaded, with the options Engine.
	Target load.Target
	Engine TargetOptions

	Log      *log.Log // source of the result's log fields and of LogTruth
	Requests []*load.Request
	Truth    TruthFrom
	// Differences enables the comparison of a Target's answers with the engine's.
	Differences bool

	// Plan is the load. If Sessions or EF is set, all their combinations are measured in a sweep, instead of
	// Plan.Sessions and the ef of the requests.
	Plan     load.Plan
	Sessions []int
	EF       []int
	// Rates, if set, are measured as open loops, each with the first of Sessions, instead of closed loops.
	Rates   []float64
	Threads int // for the truth and the answers; 0: one per CPU

	// Watch is called before each point, and the function that it returns after the point. It records the activity
	// of the target's processes. It may be nil.
	Watch func(ctx context.Context) func(ctx context.Context, p *load.Point)

	// Setup holds the fields that Run cannot determine: command, program, source, storage. Run fills in the rest.
	Setup Setup
	// Progress is called before each stage and during the measurement of points; it may be nil.
	Progress func(RunProgress)
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// RunProgress is the progress of a run.
type RunProgress struct {
	Stage         string // "true neighbours", "answers", "load"
	Point, Points int
	Sessions, EF  int
	Load          load.Progress
}

// Run measures a load and compares the answers. If ctx ends, Run returns no error but a result with the work so
// far, whose Stopped is "interrupted" or "time is up". It returns an error if the run is impossible, e.g. if there
// are no requests or no session can be opened.
func Run(ctx context.Context, o RunOptions) (*Result, error) {
	x, err := newRun(o)
	if err != nil {
		return nil, err
	}
	err = x.measureAll(ctx)
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

// run is the state of Run.
type run struct {
	RunOptions
	engine  *Target     // nil for live targets
	target  load.Target // target of the load
	result  *Result
	truth   *Answers
	answers *Answers // for the current parameters
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
		o.EF = []int{0} // the ef of the requests
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
	if x.engine != nil && x.engine.Unserved > 0 {
		x.result.Notes = append(x.result.Notes,
			fmt.Sprintf("skipped %d segments the replica does not serve", x.engine.Unserved))
	}
	return x, nil
}

// setup returns Setup with all fields that are known here.
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

// measureAll measures each combination.
func (x *run) measureAll(ctx context.Context) error {
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

// plans returns the loads to measure for one ef.
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
		x.report(RunProgress{Stage: "true neighbours"})
		x.truth, err = Exact(ctx, x.Loaded, x.Requests, x.Engine.Options, x.Threads)
	case LogTruth:
		if x.Log == nil {
			return errors.New("truth from a log was requested, but there is no log")
		}
		x.truth, err = truth(x.Log)
	default:
	}
	return err
}

// withEF returns the requests with another ef; 0 keeps theirs.
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

// answer sends each request to the engine once if its answers are to be compared. The measurement sends the same
// requests, as often as time allows.
func (x *run) answer(ctx context.Context, requests []*load.Request, ef int) error {
	x.answers = nil
	own := x.engine != nil && x.truth != nil
	if !own && !x.Differences {
		return nil
	}
	x.report(RunProgress{Stage: "answers", EF: ef})
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
		x.result.Notes = append(x.result.Notes,
			fmt.Sprintf("the engine rejects %d of %d requests", failed, len(requests)))
	}
	x.answers = answers
	return nil
}

// point measures one combination.
func (x *run) point(ctx context.Context, requests []*load.Request, plan load.Plan, ef int) error {
	now := RunProgress{Stage: "load", Point: len(x.result.Points), Points: x.points, Sessions: plan.Sessions, EF: ef}
	x.report(now)
	if x.engine != nil {
		x.engine.ResetCosts() // each point has its own costs
		plan.Began = x.engine.ResetCosts
	}
	plan.Progress = func(p load.Progress) {
		now.Load = p
		x.report(now)
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

// compare computes the recall and the differences of a point. The result holds the recall and the differences of
// the last point.
func (x *run) compare(p *load.Point, recorder *Recorder, requests []*load.Request) {
	got := x.answers
	if recorder != nil {
		got = recorder.Answers()
	}
	p.Recall = -1
	if x.truth != nil && got != nil {
		if r := RecallOf(requests, got, x.truth, x.recallMetric()); r != nil {
			if x.Truth == ExactTruth {
				r.Unseen = x.Loaded.Coverage.missingShare()
			}
			p.Recall, p.RecallLow, p.RecallHigh, x.result.Recall = r.Mean, r.Low, r.High, r
		}
	}
	if recorder != nil && x.Differences {
		x.result.Differences = Differ(x.answers, got, x.Loaded)
	}
}

// recallMetric returns the metric of the loaded segments, or 0 if none are loaded. In that case the true neighbors
// come from a log, which has ids but no distances, so no metric is needed.
func (x *run) recallMetric() (m engine.Metric) {
	if x.Loaded != nil {
		m = x.Loaded.metric()
	}
	return m
}

func (x *run) report(p RunProgress) {
	if x.Progress != nil {
		x.Progress(p)
	}
}

// common returns the ef, nprobe and k that all requests share. A parameter that differs between requests is 0.
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
