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
	// enough is how many requests a mean must be of: of fewer the slowest one decides, and a finding is an information.
	enough = 30
	// worth is from how many milliseconds of a request on a phase is worth a finding: a client on the same network feels less not at all.
	worth = 5
	// much is the part of a request from which on a phase is a finding, most that from which on it is a warning.
	much, most = 0.2, 0.5
	// cut is what whole milliseconds may hide of a mean.
	cut = 1
)

// cost is what a phase takes of the mean request of a budget, in milliseconds: low is what it takes at least.
//
//  1. A check takes the budgets of a kind of request (budgets), of single collections where the metrics tell them apart.
//  2. Of each it takes the phases that are its subject as a cost: what is measured, less what whole milliseconds may hide (costOf).
//  3. What is worth it (matters) becomes a finding about a collection, a process or the cluster (found): of few requests an information.
type cost struct {
	of      *budget.Budget
	phase   budget.Name
	ms, low float64
	gain    budget.Interval
	parts   []check.SlowPart // by phase, where it is of several
}

// costOf is that of phases of a budget together, the first one named; ok is false if none of them is known.
func costOf(b *budget.Budget, names ...budget.Name) (c cost, ok bool) {
	c = cost{of: b, phase: names[0]}
	b.Root.Walk(func(x *budget.Phase, _ int) {
		if len(x.Children) > 0 || !x.Known || !slices.Contains(names, x.Name) {
			return
		}
		ok = true
		c.add(x, x.Ms)
		c.low += lowOf(x)
	})
	c.gain = budget.Interval{Low: c.low, High: c.ms}
	return c, ok
}

// add adds so much of a phase.
func (c *cost) add(x *budget.Phase, ms float64) {
	c.ms += ms
	if ms > 0 {
		c.parts = append(c.parts, check.SlowPart{Phase: x.Name, Parent: x.Parent, Ms: ms})
	}
}

// times makes a cost that many times as much, which is less than one.
func (c *cost) times(part float64) {
	c.ms, c.low, c.gain = c.ms*part, c.low*part, budget.Interval{Low: c.gain.Low * part, High: c.gain.High * part}
	for i := range c.parts {
		c.parts[i].Ms *= part
	}
}

// lowOf is what a phase takes at least. An estimate's bounds are those of one phase with all others free, which are no measure
// of it: of that only is taken what whole milliseconds may hide.
func lowOf(x *budget.Phase) float64 {
	if x.Estimate {
		return max(x.Mean.Low, x.Ms-cut, 0)
	}
	return x.Mean.Low
}

// share is the part of the request that a cost is at least.
func (c *cost) share() float64 {
	if whole := max(c.of.Ms, c.of.Mean.High); whole > 0 {
		return min(1, c.low/whole)
	}
	return 0
}

// matters reports whether a cost is such a part of the request at least, and more than a client does not feel.
func (c *cost) matters(part float64) bool { return c.low >= worth && c.share() >= part }

// severity is the one that a cost is worth: a warning if it is most of the request; of few requests an information.
func (c *cost) severity() check.Severity {
	if c.of.Requests < enough || c.share() < most {
		return check.Info
	}
	return check.Warning
}

// budgets are those of some kinds of requests: of each collection where there are such, else of all together.
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

// separate are budgets of the requests of single collections if the metrics of phases are theirs alone, else of all together: what
// a check says of a collection is no narrower than its evidence.
func separate(p *check.Pass, kinds ...budget.Request) []*budget.Budget {
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

// overall is the budget of all collections together of a kind of request, nil if there were none.
func overall(p *check.Pass, kind budget.Request) *budget.Budget {
	for _, b := range p.Latency().Budgets {
		if b.Request == kind && b.Ms > 0 {
			return b
		}
	}
	return nil
}

// weight is the part of the time of all requests that those of a budget take.
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

// about is what a finding is about and all that it costs there.
type about struct {
	object model.Ref
	costs  []cost
}

// gather puts costs together that are of one object, the one that takes most time of all its requests first.
func gather(p *check.Pass, costs []cost) []about {
	var list []about
	for _, c := range costs {
		object := subject(p, c.of)
		i := slices.IndexFunc(list, func(a about) bool { return a.object == object })
		if i < 0 {
			i = len(list)
			list = append(list, about{object: object})
		}
		list[i].costs = append(list[i].costs, c)
	}
	for i := range list {
		list[i].sort()
	}
	return list
}

// gatherAs puts costs together that are all of one object.
func gatherAs(object model.Ref, costs []cost) (list []about) {
	if len(costs) == 0 {
		return nil
	}
	a := about{object: object, costs: costs}
	a.sort()
	return []about{a}
}

func (a *about) sort() {
	slices.SortStableFunc(a.costs, func(x, y cost) int { return cmp.Compare(y.ms*y.of.Requests, x.ms*x.of.Requests) })
}

// subject is the collection of a budget, the cluster where it is of all.
func subject(p *check.Pass, b *budget.Budget) model.Ref {
	if b.Collection == 0 {
		return model.Ref{}
	}
	return facts.RefCollection(p.Cluster, b.Collection)
}

// found fills in what every finding of costs has: what it costs, the figures of the requests and, of few of them, that it is no more
// than an information.
func found(p *check.Pass, f check.Finding, costs ...cost) check.Finding {
	for i := range costs {
		c := &costs[i]
		b := c.of
		f.Cost = min(1, f.Cost+c.share()*weight(p, b))
		s := check.Slowdown{Collection: b.Collection, Request: b.Request, Phase: c.phase, Ms: c.ms, Mean: b.Ms, Parts: c.parts, Gain: c.gain}
		s.Within = s.Phases(b)
		f.Slows = append(f.Slows, s)
		if b.PerSecond.Known {
			f.Evidence = append(f.Evidence, check.Measured("mean "+budget.Requests(b), "proxies /metrics", "%s, %s per second", millis(b.Ms), often(b.PerSecond.Value)))
		} else {
			f.Evidence = append(f.Evidence, check.Measured("mean "+budget.Requests(b), "proxies /metrics", "%s", millis(b.Ms)))
		}
	}
	first := costs[0].of
	if why := p.Latency().Window.Why; why != "" {
		f.Evidence = append(f.Evidence, check.Fact("window", why, ""))
	}
	if first.Requests < enough {
		f.Severity = check.Info
		f.Message += fmt.Sprintf(" (only %s)", words.Plural(int64(first.Requests), "request"))
	}
	return f
}

// an is budget.Requests with its article: "a search of docs", "an insert", "a search (7 collections)".
func an(b *budget.Budget) string {
	text := "a " + budget.Requests(b)
	if b.Request == budget.Insert || b.Request == budget.Upsert {
		text = "an " + budget.Requests(b)
	}
	if b.Collections > 0 {
		text += " (" + words.Plural(int64(b.Collections), "collection") + ")"
	}
	return text
}

// ofWhole returns a cost of the requests that an names: "239 of 257 ms", "~239 of 257 ms" if the collection is inferred.
func (c *cost) ofWhole() string {
	if c.of.Scope != budget.Exact {
		return "~" + c.ofAny()
	}
	return c.ofAny()
}

// ofAny is ofWhole where no collection is named.
func (c *cost) ofAny() string {
	return fmt.Sprintf("%s of %s", budget.Milliseconds(c.ms), budget.Milliseconds(c.of.Ms))
}

// rate is a number a second, in words.
func rate(perSecond float64) string {
	if perSecond >= 100 {
		return words.Number(int64(perSecond + 0.5))
	}
	return words.ThreeDigits(perSecond)
}

// often is a rate as a figure.
func often(perSecond float64) check.Figure {
	return check.Figure{Value: perSecond, Unit: "per second", Text: rate(perSecond)}
}

// millis is a number of milliseconds as a figure.
func millis(ms float64) check.Figure {
	return check.Figure{Value: ms / 1000, Unit: "seconds", Text: budget.Milliseconds(ms)}
}

// lasts is a duration as a figure, brief as text.
func lasts(d time.Duration) check.Figure { return millis(float64(d) / float64(time.Millisecond)) }

// brief is a duration of up to some seconds.
func brief(d time.Duration) string { return lasts(d).Text }

// without is what a request would take without a cost.
func (c *cost) without() float64 { return max(0, c.of.Ms-c.gain.High) }
