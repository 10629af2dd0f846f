// Package why explains the latency of requests. It joins the latency budgets of a cluster with the findings
// of the checks on the same cluster and, if they were taken, the profiles of its processes. It returns an
// Answer for each budget.
//
//  1. Each budget with a mean above 0 becomes an Answer, weighted by its share of the time of all requests.
//  2. The leaf phases with at least 5 % of a request become the Reasons of the Answer, the longest first. The
//     unexplained time, which no metric covers, can be a Reason.
//  3. A Reason gets the finding that explains it. It prefers findings with a cost (check.Slowdown) for this
//     kind of request in this phase, warnings before infos. The next choice is a finding whose check is about
//     the phase or one of its parents, and which concerns this collection or a process that the client waits
//     for in the phase. If a finding follows from another one, its cause replaces it, because the cause is what
//     an operator has to fix.
//  4. The gain of a fix is the gain that the finding states, over all phases that it slows. If no gain is
//     stated, only an upper bound is known: the length of the phase.
//  5. The frames are the hottest ones, by processor time, of the processes that the client waits for longest in
//     the phase.
//
// The package also dates findings (onset.go). A finding began with the event that its check names
// (check.Starts), unless it existed before that event. Otherwise it began at the first judged moment of the
// past since which it exists. Without such a moment it began with the last change of its object. If nothing
// dates it, its onset is unknown, with the reason.
package why

import (
	"cmp"
	"slices"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
)

// Answer explains the latency of a kind of request to one collection or to all collections.
type Answer struct {
	Budget *latency.Budget
	// Weight is the share of the budget in the total time of all requests, from 0 to 1.
	Weight float64
	// Reasons holds the leaf phases with at least 5 % of the request, the longest first.
	Reasons []Reason
}

// Reason is a phase of a request and the finding that explains it.
type Reason struct {
	Phase *latency.Phase
	// Finding explains the phase. It is nil if no finding does.
	Finding *check.Finding
	// Effect is the finding that follows from Finding and slows the phase. It is nil if Finding itself explains
	// the phase.
	Effect *check.Finding
	// Gain is the reduction of the mean latency, in milliseconds, if the finding were fixed. Bound means that no
	// finding states a gain; Gain.High is then only an upper bound.
	Gain  latency.Interval
	Bound bool
	// OtherPhases holds the other phases that contribute to Gain.
	OtherPhases []latency.Name
	// Frames holds the hottest frames of the processes that the client waits for in the phase. It is nil without
	// profiles of these processes.
	Frames []Frames
}

// Frames holds the frames of a process, the hottest first.
type Frames struct {
	Process string
	Hottest []model.HotFrame
}

// minShare is the smallest share of a request that a phase needs to become a Reason. A client does not notice less.
const minShare = 0.05

// Explain returns an Answer for each budget whose mean is above 0, in the order of budgets. The findings of report
// explain the phases. report may be nil.
func Explain(budgets []*latency.Budget, report *check.Report) []*Answer {
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
			if len(p.Children) == 0 && p.Share >= minShare {
				a.Reasons = append(a.Reasons, asked.reason(b, way, report))
			}
		})
		slices.SortStableFunc(a.Reasons, func(x, y Reason) int { return cmp.Compare(y.Phase.Ms, x.Phase.Ms) })
		list = append(list, a)
	}
	setWeights(list)
	return list
}

// setWeights sets the weights of the answers. The total time of the requests of a kind is taken from the largest
// budget of the kind, because the budget of all collections includes the budgets of single collections.
func setWeights(list []*Answer) {
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

// requests holds the number of requests by kind and collection.
type requests map[requestKey]float64

type requestKey struct {
	kind       latency.Request
	collection model.CollectionID
}

func requestsOf(budgets []*latency.Budget) requests {
	all := requests{}
	for _, b := range budgets {
		all[requestKey{b.Request, b.Collection}] += b.Requests
	}
	return all
}

// scale scales a slowdown to the requests of a budget. It returns the zero Slowdown if the slowdown does not
// apply to the budget. The slowdown of one collection is scaled to the mean of all requests by the
// collection's share of the requests. The slowdown of all collections is scaled to one collection by the time
// that the collection spends in its phases. If the scale is unknown, it returns s unchanged.
func (r requests) scale(s check.Slowdown, b *latency.Budget) check.Slowdown {
	if !s.Matches(b) {
		return check.Slowdown{}
	}
	var part float64
	own, told := r[requestKey{s.Request, s.Collection}]
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

// reason returns the Reason for the last phase of way, which is the path from the whole request to the phase.
func (r requests) reason(b *latency.Budget, way []*latency.Phase, report *check.Report) Reason {
	p := way[len(way)-1]
	x := Reason{Phase: p, Gain: latency.Interval{High: p.Ms}, Bound: true}
	if report == nil {
		return x
	}
	f, s := r.highestCost(b, way, report)
	known := f != nil
	if !known {
		f = r.findingFor(b, way, report)
	}
	x.Finding = f
	if f != nil {
		for _, cause := range causes(f, report) {
			x.Finding = cause
			if of := r.rootSlowdown(cause, b, s); of != nil {
				f, s = cause, *of
			}
		}
	}
	if x.Finding != f {
		x.Effect = f
	}
	if known {
		x.Gain, x.Bound, x.OtherPhases = latency.Interval{
			Low: min(s.Gain.Low, s.Gain.High, b.Ms), High: min(s.Gain.High, b.Ms),
		}, false, otherPhases(b, p, &s)
	}
	x.Frames = frames(report.Cluster, p)
	return x
}

// minWarningShare is the minimum share of a phase at which the cost of a warning is preferred to that of an info,
// because an info describes intended behavior.
const minWarningShare = 0.25

// highestCost returns the finding that states the highest cost for the last phase of way, and its slowdown. If no
// finding states a cost for the phase, it tries the parents, from the nearest up. It stops before the root,
// and before a parent that takes more than twice the time of its child.
func (r requests) highestCost(
	b *latency.Budget, way []*latency.Phase, report *check.Report,
) (best *check.Finding, costs check.Slowdown) {
	for at := len(way) - 1; at > 0 && best == nil; at-- {
		most, warns := 0.0, false
		for _, f := range report.Findings {
			for _, s := range f.Slows {
				s = r.scale(s, b)
				ms := s.PhaseMs(way[at])
				if ms <= 0 {
					continue
				}
				warning := f.Severity > check.Info && ms >= minWarningShare*way[at].Ms
				if warning && !warns || warning == warns && ms > most {
					best, costs, most, warns = f, s, ms, warning
				}
			}
		}
		if way[at-1].Ms > 2*way[at].Ms { // the phase has less than half of its parent's time
			break
		}
	}
	return best, costs
}

// causes returns the chain of causes of a finding, the direct cause first. It returns nil if the chain is
// circular.
func causes(f *check.Finding, report *check.Report) (list []*check.Finding) {
	for range report.Findings {
		i := slices.IndexFunc(report.Findings, func(x *check.Finding) bool {
			return f.Cause != "" && x.Key() == f.Cause
		})
		if i < 0 {
			return list
		}
		f = report.Findings[i]
		list = append(list, f)
	}
	return nil
}

// rootSlowdown returns the slowdown that root states for the requests of a budget, if it shares a phase with the
// slowdown of its effect. It returns nil without such a slowdown.
func (r requests) rootSlowdown(root *check.Finding, b *latency.Budget, effect check.Slowdown) *check.Slowdown {
	for i := range root.Slows {
		s := r.scale(root.Slows[i], b)
		for _, p := range b.Root.Leaves() {
			if s.PhaseMs(p) > 0 && effect.PhaseMs(p) > 0 {
				return &s
			}
		}
	}
	return nil
}

// otherPhases returns the leaf phases other than p in which a slowdown costs at least felt/2 of the request.
func otherPhases(b *latency.Budget, p *latency.Phase, s *check.Slowdown) (list []latency.Name) {
	for _, x := range b.Root.Leaves() {
		if x != p && s.PhaseMs(x) >= minShare*b.Ms/2 && !slices.Contains(list, x.Name) {
			list = append(list, x.Name)
		}
	}
	return list
}

// otherCollection reports whether a finding is about a collection that gets no requests of the budget, even if the
// finding names processes that do. For a budget of all collections it returns false if the requests of single
// collections are unknown.
func (r requests) otherCollection(c *model.Cluster, f *check.Finding, b *latency.Budget) bool {
	id, ok := check.CollectionOf(c, f.Object)
	if !ok || b.Collection != 0 {
		return ok && id != b.Collection
	}
	told := false
	for x := range r {
		told = told || x.kind == b.Request && x.collection != 0
	}
	_, asked := r[requestKey{b.Request, id}]
	return told && !asked
}

// findingFor returns the highest-ranking finding that is not an info, whose check is about the last phase of way
// or one of its parents, and which names the collection or a process that the client waits for in that phase.
// It returns nil if no finding matches.
func (r requests) findingFor(b *latency.Budget, way []*latency.Phase, report *check.Report) *check.Finding {
	for _, f := range report.Findings {
		x := checkOf(report, f.Check)
		if f.Severity == check.Info || x == nil || r.otherCollection(report.Cluster, f, b) {
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

// concerns reports whether an object is a process that the client waits for in a phase, or belongs to the
// collection of a budget. If the budget is for all collections, the object may belong to any.
func concerns(c *model.Cluster, ref model.Ref, b *latency.Budget, p *latency.Phase) bool {
	if ref.Resource == "nodes" {
		return slices.ContainsFunc(p.Nodes, func(n latency.NodePhase) bool { return ref.ID == n.Node.Name(n.Role) })
	}
	id, ok := check.CollectionOf(c, ref)
	return ok && (b.Collection == 0 || id == b.Collection)
}

// checkOf returns the check with an id, or nil if the report does not have it.
func checkOf(report *check.Report, id string) *check.Check {
	for _, x := range report.Results {
		if x.Check.ID == id {
			return x.Check
		}
	}
	return nil
}

// maxProcesses is the maximum number of processes in Reason.Frames.
const maxProcesses = 2

// frames returns the frames of the profiled processes that the client waits for longest in a phase.
func frames(c *model.Cluster, p *latency.Phase) []Frames {
	if c.Profiles == nil {
		return nil
	}
	var list []Frames
	for _, n := range p.Nodes {
		for _, x := range c.Profiles.Processes {
			if len(list) < maxProcesses && x.CPU != nil && len(x.CPU.Hottest) > 0 && x.Has(n.Role) &&
				slices.Contains(x.Nodes, n.Node) {
				list = append(list, Frames{x.Name, x.CPU.Hottest})
			}
		}
	}
	return list
}

// Verdict returns the answer as a sentence that names the requests, the largest phase and the finding that
// explains this phase. If the largest phase has no finding, the sentence mentions this and names the next
// phase with a finding, if that phase is at least half as long.
func (a *Answer) Verdict() string {
	for i := range a.Reasons {
		r := &a.Reasons[i]
		if r.Finding == nil || r.Phase.Ms < a.Reasons[0].Phase.Ms/2 {
			continue
		}
		says := r.message()
		if i > 0 {
			says = r.Finding.Message
		}
		if !r.Bound {
			says += a.gainClause(r.Gain)
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

// message returns the message of the finding, followed by the message of its effect, if any.
func (r *Reason) message() string {
	if r.Effect == nil {
		return r.Finding.Message
	}
	return r.Finding.Message + ": " + r.Effect.Message
}

// gainClause returns a clause with the latency after a gain, e.g. "; without that about 50 ms". It returns "" if
// the gain is less than a tenth of the latency.
func (a *Answer) gainClause(gain latency.Interval) string {
	least, most := max(0, a.Budget.Ms-gain.High), max(0, a.Budget.Ms-gain.Low)
	switch much := a.Budget.Ms / 10; { //nolint:mnd // a tenth is no difference that counts
	case gain.High < much:
		return ""
	case most-least > much:
		return "; without that " + latency.Milliseconds(least) + " to " + latency.Milliseconds(most)
	}
	return "; without that about " + latency.Milliseconds(least)
}
