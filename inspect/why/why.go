// Package why says why requests take as long as they do: it joins where their time goes with what is wrong with the cluster. What
// enters is a Latency and the Report of the checks on the same cluster, and the profiles of its processes where there are some; what
// leaves is an Answer a budget.
//
//  1. Each budget with requests in it becomes an Answer, with its part of the time of all requests.
//  2. Its phases without parts that a client feels are Reasons, the longest first. What no metric explains is among them.
//  3. A Reason takes the finding that explains it: one that says itself what it costs this kind of request in this phase, a warning
//     before an information; else one of a check that is about the phase or one that it is part of, of this collection or of a process
//     that the client waits for there. A finding that follows from another one gives way to it: that is what is to be cured.
//  4. What the cure gives is what the finding says, of all phases that it costs time in; else only a bound is known: a phase cannot
//     take less than nothing.
//  5. The frames are those that the processes burn most processor time on that the client waits for longest in the phase.
//
// It dates findings, too (onset.go): a finding began with the event that its check names (check.CauseOf), unless it was there before that;
// else at the first of some moments of the past that has it, judged forward; else with the last change of its object. Otherwise it is
// unknown, with the reason.
package why

import (
	"cmp"
	"slices"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
)

// Answer says why a kind of request takes as long as it does, of one collection or of all.
type Answer struct {
	Budget *latency.Budget
	// Weight is its part of the time of all requests that were asked about, 0 to 1.
	Weight float64
	// Reasons are the phases that a client feels, the longest first.
	Reasons []Reason
}

// Reason is a phase and what explains it.
type Reason struct {
	Phase *latency.Phase
	// Finding explains it; nil: no check does.
	Finding *check.Finding
	// Effect is what follows from the finding and takes the time, where the finding itself does not say what it costs; else nil.
	Effect *check.Finding
	// Gain is how much less the mean would be, in milliseconds, were that cured. Bound: nothing says how much, but not more than that.
	Gain  latency.Interval
	Bound bool
	// With are the other phases that the gain is of as well.
	With []latency.Name
	// Frames are what the processes spend their processor time on that the client waits for there; nil: they were not profiled.
	Frames []Frames
}

// Frames are those of one process, the hottest first.
type Frames struct {
	Process string
	Hottest []model.HotFrame
}

// felt is the share of a request below which a phase is none that a client feels.
const felt = 0.05

// Of answers for each budget. The report's findings explain phases where they can; report may be nil.
func Of(budgets []*latency.Budget, report *check.Report) []*Answer {
	var list []*Answer
	asked := requestsOf(budgets)
	for _, b := range budgets {
		if b.Root == nil || b.Ms <= 0 {
			continue
		}
		a := &Answer{Budget: b}
		var way []*latency.Phase
		b.Root.Walk(func(p *latency.Phase, depth int) {
			way = append(way[:depth], p)
			if len(p.Children) == 0 && p.Share >= felt {
				a.Reasons = append(a.Reasons, asked.reason(b, way, report))
			}
		})
		slices.SortStableFunc(a.Reasons, func(x, y Reason) int { return cmp.Compare(y.Phase.Ms, x.Phase.Ms) })
		list = append(list, a)
	}
	weigh(list)
	return list
}

// weigh tells each answer its weight: of each kind of requests the largest budget is that of all of them.
func weigh(list []*Answer) {
	all := map[latency.Request]float64{}
	for _, a := range list {
		all[a.Budget.Request] = max(all[a.Budget.Request], a.Budget.Ms*a.Budget.Requests)
	}
	total := 0.0
	for _, ms := range all {
		total += ms
	}
	for _, a := range list {
		if total > 0 {
			a.Weight = a.Budget.Ms * a.Budget.Requests / total
		}
	}
}

// requests are how many of a kind each collection has.
type requests map[requested]float64

type requested struct {
	kind       latency.Request
	collection model.CollectionID
}

func requestsOf(budgets []*latency.Budget) requests {
	all := requests{}
	for _, b := range budgets {
		all[requested{b.Request, b.Collection}] += b.Requests
	}
	return all
}

// of is what a slowdown is to a request of a budget, 0 of another's: one of a single collection is a part of the mean of all, and one of
// all is as much more or less of a collection's as that spends in its phases.
func (r requests) of(s check.Slowdown, b *latency.Budget) check.Slowdown {
	if !s.Of(b) {
		return check.Slowdown{}
	}
	var part float64
	own, told := r[requested{s.Request, s.Collection}]
	switch {
	case s.Collection == b.Collection:
		return s
	case s.Collection == 0 && s.Within > 0:
		part = s.Phases(b) / s.Within
	case s.Collection == 0 || !told || b.Requests <= 0:
		return s
	default:
		part = min(1, own/b.Requests)
	}
	s.Ms, s.Gain = s.Ms*part, latency.Interval{Low: s.Gain.Low * part, High: s.Gain.High * part}
	s.Parts = slices.Clone(s.Parts)
	for i := range s.Parts {
		s.Parts[i].Ms *= part
	}
	return s
}

// reason finds what explains the last phase of the way to it from the whole request.
func (r requests) reason(b *latency.Budget, way []*latency.Phase, report *check.Report) Reason {
	p := way[len(way)-1]
	x := Reason{Phase: p, Gain: latency.Interval{High: p.Ms}, Bound: true}
	if report == nil {
		return x
	}
	f, s := r.costing(b, way, report)
	known := f != nil
	if !known {
		f = r.about(b, way, report)
	}
	x.Finding = f
	if f != nil {
		for _, cause := range causes(f, report) {
			x.Finding = cause
			if of := r.costs(cause, b, s); of != nil {
				f, s = cause, *of
			}
		}
	}
	if x.Finding != f {
		x.Effect = f
	}
	if known {
		x.Gain, x.Bound, x.With = latency.Interval{Low: min(s.Gain.Low, s.Gain.High, b.Ms), High: min(s.Gain.High, b.Ms)}, false, with(b, p, &s)
	}
	x.Frames = frames(report.Cluster, p)
	return x
}

// design is the part of a phase from which on a warning goes before an information: that is what is meant to be so.
const design = 0.25

// costing is the finding that says itself that it costs the most of the phase, with what it says: of the phase itself, else of one that
// it is part of, and the time of which it has the largest part.
func (r requests) costing(b *latency.Budget, way []*latency.Phase, report *check.Report) (best *check.Finding, costs check.Slowdown) {
	for at := len(way) - 1; at > 0 && best == nil; at-- {
		most, warns := 0.0, false
		for _, f := range report.Findings {
			for _, s := range f.Slows {
				s = r.of(s, b)
				ms := s.In(way[at])
				if ms <= 0 {
					continue
				}
				warning := f.Severity > check.Info && ms >= design*way[at].Ms
				if warning && !warns || warning == warns && ms > most {
					best, costs, most, warns = f, s, ms, warning
				}
			}
		}
		if way[at-1].Ms > 2*way[at].Ms { // of the whole above it is not what counts
			break
		}
	}
	return best, costs
}

// causes are the finding that another one follows from, the one that this follows from, and so on; none of a circle.
func causes(f *check.Finding, report *check.Report) (list []*check.Finding) {
	for range report.Findings {
		i := slices.IndexFunc(report.Findings, func(x *check.Finding) bool { return f.Cause != "" && x.Key() == f.Cause })
		if i < 0 {
			return list
		}
		f = report.Findings[i]
		list = append(list, f)
	}
	return nil
}

// costs is what a cause says that it costs a request itself, in phases where its effect does; nil if it says nothing of these.
func (r requests) costs(root *check.Finding, b *latency.Budget, effect check.Slowdown) *check.Slowdown {
	for i := range root.Slows {
		s := r.of(root.Slows[i], b)
		for _, p := range b.Root.Leaves() {
			if s.In(p) > 0 && effect.In(p) > 0 {
				return &s
			}
		}
	}
	return nil
}

// with are the other phases that a client feels, and that a slowdown is of beside one.
func with(b *latency.Budget, p *latency.Phase, s *check.Slowdown) (list []latency.Name) {
	for _, x := range b.Root.Leaves() {
		if x != p && s.In(x) >= felt*b.Ms/2 && !slices.Contains(list, x.Name) {
			list = append(list, x.Name)
		}
	}
	return list
}

// elsewhere reports whether a finding is about a collection of which nobody makes such requests, whatever processes it speaks of.
func (r requests) elsewhere(c *model.Cluster, f *check.Finding, b *latency.Budget) bool {
	id, ok := check.CollectionOf(c, f.Object)
	if !ok || b.Collection != 0 {
		return ok && id != b.Collection
	}
	told := false
	for x := range r {
		told = told || x.kind == b.Request && x.collection != 0
	}
	_, asked := r[requested{b.Request, id}]
	return told && !asked
}

// about is the finding that ranks highest of those whose check is about the phase, or one that it is part of, and which speak of the
// collection or of a process that the client waits for there.
func (r requests) about(b *latency.Budget, way []*latency.Phase, report *check.Report) *check.Finding {
	for _, f := range report.Findings {
		x := checkOf(report, f.Check)
		if f.Severity == check.Info || x == nil || r.elsewhere(report.Cluster, f, b) {
			continue
		}
		for _, p := range way[1:] {
			if !slices.Contains(x.Phases, p.Name) {
				continue
			}
			for _, ref := range append([]model.Ref{f.Object}, f.Objects...) {
				if concerns(report.Cluster, ref, b, p) {
					return f
				}
			}
		}
	}
	return nil
}

// concerns reports whether an object is what a budget is of, or part of it, or a process that is waited for in a phase.
func concerns(c *model.Cluster, ref model.Ref, b *latency.Budget, p *latency.Phase) bool {
	if ref.Resource == "nodes" {
		return slices.ContainsFunc(p.Of, func(n latency.NodePhase) bool { return ref.ID == n.Node.Name(n.Role) })
	}
	id, ok := check.CollectionOf(c, ref)
	return ok && (b.Collection == 0 || id == b.Collection)
}

// checkOf is the check that a finding is of.
func checkOf(report *check.Report, id string) *check.Check {
	for _, x := range report.Results {
		if x.Check.ID == id {
			return x.Check
		}
	}
	return nil
}

// most is how many processes' frames are told.
const most = 2

// frames are those of the processes that the client waits for longest in a phase.
func frames(c *model.Cluster, p *latency.Phase) []Frames {
	if c.Profiles == nil {
		return nil
	}
	var list []Frames
	for _, n := range p.Of {
		for _, x := range c.Profiles.Processes {
			if len(list) < most && x.CPU != nil && len(x.CPU.Hottest) > 0 && x.Has(n.Role) && slices.Contains(x.Nodes, n.Node) {
				list = append(list, Frames{x.Name, x.CPU.Hottest})
			}
		}
	}
	return list
}

// Verdict is the answer in a sentence, which names the requests: where the time goes, and the finding that explains the largest part
// that has one. Where a larger part has none, the sentence says so.
func (a *Answer) Verdict() string {
	for i := range a.Reasons {
		r := &a.Reasons[i]
		if r.Finding == nil || r.Phase.Ms < a.Reasons[0].Phase.Ms/2 {
			continue
		}
		says := r.says()
		if i > 0 {
			says = r.Finding.Message
		}
		if !r.Bound {
			says += a.without(r.Gain)
		}
		switch {
		case i > 0:
			return latency.Verdict(a.Budget) + "; the largest part with a finding: " + says
		case r.Bound:
			return latency.Verdict(a.Budget) + ": " + says
		case !strings.Contains(says, latency.Requests(a.Budget)):
			return latency.Requests(a.Budget) + " " + latency.Milliseconds(a.Budget.Ms) + ": " + says
		}
		return says
	}
	return latency.Verdict(a.Budget)
}

// says is what the finding says, and what follows from it.
func (r *Reason) says() string {
	if r.Effect == nil {
		return r.Finding.Message
	}
	return r.Finding.Message + ": " + r.Effect.Message
}

// without says how long a request takes once so much is gained, "" if that is about what it takes now.
func (a *Answer) without(gain latency.Interval) string {
	least, most := max(0, a.Budget.Ms-gain.High), max(0, a.Budget.Ms-gain.Low)
	switch much := a.Budget.Ms / 10; { //nolint:mnd // a tenth is no difference that counts
	case gain.High < much:
		return ""
	case most-least > much:
		return "; without that " + latency.Milliseconds(least) + " to " + latency.Milliseconds(most)
	}
	return "; without that about " + latency.Milliseconds(least)
}
