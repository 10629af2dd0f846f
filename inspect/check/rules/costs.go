package rules

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	budget "kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

const (
	// minRequests is the minimum number of requests for a mean. With fewer, the slowest one dominates, and a finding is
	// only info.
	minRequests = 30
	// minCostMs is the minimum cost for a finding, in milliseconds per request: clients on the same network do not
	// notice less.
	minCostMs = 5
	// findingShare is the share of a request from which a phase is a finding; warningShare is the share from which it
	// is a warning.
	findingShare, warningShare = 0.2, 0.5
	// roundingError is the error of a mean, in milliseconds, from durations in whole milliseconds.
	roundingError = 1
)

// cost is the time that a phase takes of the mean request of a budget, in milliseconds; low is its lower bound.
//
// A check takes the budgets of a kind of request (budgets), of single collections if the metrics separate them. For
// each it takes the cost of the phases that it covers: the measured time, less the rounding error of whole
// milliseconds (costOf). Costs that matter become a finding about a collection, a process or the cluster (withCosts);
// it is info if there were few requests.
type cost struct {
	budget  *budget.Budget
	phase   budget.Name
	ms, low float64
	gain    budget.Interval
	parts   []check.SlowPart // by phase, if there are several
}

// costOf returns the total cost of phases of a budget, named after the first one. ok is false if no phase is known.
func costOf(b *budget.Budget, names ...budget.Name) (c cost, ok bool) {
	c = cost{budget: b, phase: names[0]}
	b.Root.Walk(func(x *budget.Phase, _ int) {
		if len(x.Children) > 0 || !x.Known || !slices.Contains(names, x.Name) {
			return
		}
		ok = true
		c.add(x, x.Ms)
		c.low += lowerBound(x)
	})
	c.gain = budget.Interval{Low: c.low, High: c.ms}
	return c, ok
}

// add adds ms milliseconds of a phase.
func (c *cost) add(x *budget.Phase, ms float64) {
	c.ms += ms
	if ms > 0 {
		c.parts = append(c.parts, check.SlowPart{Phase: x.Name, Parent: x.Parent, Ms: ms})
	}
}

// scale multiplies a cost by part, which is less than one.
func (c *cost) scale(part float64) {
	c.ms, c.low, c.gain = c.ms*part, c.low*part, budget.Interval{Low: c.gain.Low * part, High: c.gain.High * part}
	for i := range c.parts {
		c.parts[i].Ms *= part
	}
}

// lowerBound returns the lower bound of a phase. The bounds of an estimate hold for one phase with all others free,
// which is too wide here, so only the rounding error of whole milliseconds is subtracted.
func lowerBound(x *budget.Phase) float64 {
	if x.Estimate {
		return max(x.Mean.Low, x.Ms-roundingError, 0)
	}
	return x.Mean.Low
}

// share returns the lower bound of the share of the request that the cost takes.
func (c *cost) share() float64 {
	if whole := max(c.budget.Ms, c.budget.Mean.High); whole > 0 {
		return min(1, c.low/whole)
	}
	return 0
}

// matters reports whether a cost takes at least the given share of the request, and is large enough to be noticed.
func (c *cost) matters(part float64) bool { return c.low >= minCostMs && c.share() >= part }

// severity returns Warning if the cost is most of the request, and Info if it is less or if there were few
// requests.
func (c *cost) severity() check.Severity {
	if c.budget.Requests < minRequests || c.share() < warningShare {
		return check.Info
	}
	return check.Warning
}

// budgets returns the budgets of some kinds of requests: those of single collections if there are any, otherwise
// that of all collections.
func budgets(p *check.Pass, kinds ...budget.Request) []*budget.Budget {
	var list []*budget.Budget
	for _, kind := range kinds {
		alone := len(list)
		var all *budget.Budget
		for _, b := range p.Latency().Budgets {
			switch {
			case b.Request != kind || b.Ms <= 0:
			case b.Name != "":
				list = append(list, b)
			default:
				all = b
			}
		}
		if len(list) == alone && all != nil {
			list = append(list, all)
		}
	}
	return list
}

// separateBudgets returns the budgets of single collections if their phases are measured separately, otherwise that of
// all collections, so that a finding is no narrower than its evidence.
func separateBudgets(p *check.Pass, kinds ...budget.Request) []*budget.Budget {
	var list []*budget.Budget
	for _, kind := range kinds {
		of := budgets(p, kind)
		if slices.ContainsFunc(of, func(b *budget.Budget) bool { return b.Scope == budget.Shared }) {
			of = []*budget.Budget{overall(p, kind)}
		}
		list = append(list, of...)
	}
	return list
}

// overall returns the budget of all collections for a kind of request, nil if there were no requests.
func overall(p *check.Pass, kind budget.Request) *budget.Budget {
	for _, b := range p.Latency().Budgets {
		if b.Request == kind && b.Ms > 0 {
			return b
		}
	}
	return nil
}

// weight returns the share of the total time of all requests that the requests of a budget take.
func weight(p *check.Pass, b *budget.Budget) float64 {
	total := 0.0
	for _, kind := range []budget.Request{budget.Search, budget.Query, budget.Insert, budget.Upsert, budget.Delete} {
		if all := overall(p, kind); all != nil {
			total += all.Ms * all.Requests
		}
	}
	if total <= 0 {
		return 0
	}
	return min(1, b.Ms*b.Requests/total)
}

// costGroup is the object of a finding and its costs.
type costGroup struct {
	object model.Ref
	costs  []cost
}

// gather groups costs by object. In each group the cost with the most total time over all requests comes first.
func gather(p *check.Pass, costs []cost) []costGroup {
	var list []costGroup
	for _, c := range costs {
		object := subject(p, c.budget)
		i := slices.IndexFunc(list, func(a costGroup) bool { return a.object == object })
		if i < 0 {
			i = len(list)
			list = append(list, costGroup{object: object})
		}
		list[i].costs = append(list[i].costs, c)
	}
	for i := range list {
		list[i].sort()
	}
	return list
}

// gatherAs groups costs that all belong to one object.
func gatherAs(object model.Ref, costs []cost) (list []costGroup) {
	if len(costs) == 0 {
		return nil
	}
	a := costGroup{object: object, costs: costs}
	a.sort()
	return []costGroup{a}
}

func (a *costGroup) sort() {
	slices.SortStableFunc(a.costs, func(x, y cost) int {
		return cmp.Compare(y.ms*y.budget.Requests, x.ms*x.budget.Requests)
	})
}

// subject returns a reference to the collection of a budget, empty for the budget of all collections.
func subject(p *check.Pass, b *budget.Budget) model.Ref {
	if b.Collection == 0 {
		return model.Ref{}
	}
	return facts.RefCollection(p.Cluster, b.Collection)
}

// withCosts completes a finding of costs: it adds the cost, the slowdowns and the figures of the requests. If there
// were few requests, it sets the severity to info.
func withCosts(p *check.Pass, f check.Finding, costs ...cost) check.Finding {
	for i := range costs {
		c := &costs[i]
		b := c.budget
		f.Cost = min(1, f.Cost+c.share()*weight(p, b))
		s := check.Slowdown{
			Collection: b.Collection, Request: b.Request, Phase: c.phase, Ms: c.ms, Mean: b.Ms, Parts: c.parts,
			Gain: c.gain,
		}
		s.Within = s.Phases(b)
		f.Slows = append(f.Slows, s)
		if b.PerSecond.Known {
			f.Evidence = append(f.Evidence,
				check.Factf("mean "+budget.Requests(b), "proxies /metrics", "%s, %s per second", millis(b.Ms),
					rateFigure(b.PerSecond.Value)))
		} else {
			f.Evidence = append(f.Evidence,
				check.Factf("mean "+budget.Requests(b), "proxies /metrics", "%s", millis(b.Ms)))
		}
	}
	first := costs[0].budget
	if why := p.Latency().Window.Why; why != "" {
		f.Evidence = append(f.Evidence, check.Fact("window", why, ""))
	}
	if first.Requests < minRequests {
		f.Severity = check.Info
		f.Message += fmt.Sprintf(" (only %s)", words.Plural(int64(first.Requests), "request"))
	}
	return f
}

// requestPhrase returns budget.Requests with its article: "a search of docs", "an insert", "a search (7 collections)".
func requestPhrase(b *budget.Budget) string {
	text := "a " + budget.Requests(b)
	if b.Request == budget.Insert || b.Request == budget.Upsert {
		text = "an " + budget.Requests(b)
	}
	if b.Collections > 0 {
		text += " (" + words.Plural(int64(b.Collections), "collection") + ")"
	}
	return text
}

// shareText formats a cost with the mean request: "239 of 257 ms", or "~239 of 257 ms" if the collection is inferred.
func (c *cost) shareText() string {
	if c.budget.Scope != budget.Exact {
		return "~" + c.plainShareText()
	}
	return c.plainShareText()
}

// plainShareText is like shareText, for texts that do not name a collection.
func (c *cost) plainShareText() string {
	return fmt.Sprintf("%s of %s", budget.Milliseconds(c.ms), budget.Milliseconds(c.budget.Ms))
}

// rate formats a number per second.
func rate(perSecond float64) string {
	if perSecond >= 100 {
		return words.Number(int64(perSecond + 0.5))
	}
	return words.ThreeDigits(perSecond)
}

// rateFigure returns a rate as a figure.
func rateFigure(perSecond float64) check.Figure {
	return check.Figure{Value: perSecond, Unit: "per second", Text: rate(perSecond)}
}

// millis returns a number of milliseconds as a figure.
func millis(ms float64) check.Figure {
	return check.Figure{Value: ms / 1000, Unit: "seconds", Text: budget.Milliseconds(ms)}
}

// durationFigure returns a duration as a figure, with the text of brief.
func durationFigure(d time.Duration) check.Figure {
	return millis(float64(d) / float64(time.Millisecond))
}

// brief formats a duration of up to some seconds.
func brief(d time.Duration) string { return durationFigure(d).Text }

// remainingMs returns the mean request in milliseconds without the cost.
func (c *cost) remainingMs() float64 { return max(0, c.budget.Ms-c.gain.High) }
