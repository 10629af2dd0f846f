package replay

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"kitescope/engine"
	"kitescope/replay/load"
)

// calls asks the same requests once more, with a filter that no row passes: what is left of a request then is what the target's processes take for a
// call, and for opening each segment. Three loads tell how that changes with the rate: that of the closed loop of the fewest sessions, paced, and closed
// loops of the fewest and of the most sessions. Without a closed loop that answered there is nothing to pace by.
func (x *run) calls(ctx context.Context) error {
	if !x.Calls || x.Watch == nil || x.result.Stopped != "" {
		return ctx.Err()
	}
	var slow, fast *load.Point
	for i := range x.result.Points {
		p := &x.result.Points[i]
		if p.Rate != 0 || p.Timed || !(p.QPS > 0) || p.Queries == 0 {
			continue
		}
		if slow == nil || p.Sessions < slow.Sessions {
			slow = p
		}
		if fast == nil || p.Sessions > fast.Sessions {
			fast = p
		}
	}
	if slow == nil {
		return nil
	}
	x.say(RunProgress{Stage: "what a call costs that searches nothing"})
	requests := none(x.Requests)
	paced, one, most := x.Plan, x.Plan, x.Plan
	paced.Sessions, paced.Rate = fast.Sessions, slow.QPS*float64(slow.Asked-slow.Failed)/float64(slow.Queries)
	one.Sessions, most.Sessions = slow.Sessions, fast.Sessions
	for _, plan := range []load.Plan{paced, one, most} {
		plan.Rounds, plan.Progress, plan.Sink = 1, nil, nil
		watched := x.Watch(ctx)
		p, err := load.Run(ctx, x.target, requests, plan)
		if err != nil {
			return err
		}
		watched(ctx, p)
		if p.Served == nil || p.Failed > 0 || p.Stopped != "" {
			x.result.Notes = append(x.result.Notes, "what a call costs that searches nothing is unknown: "+unanswered(p))
			return nil
		}
		p.Plan.Progress, p.Recall = x.Plan.Progress, -1
		p.EF, p.NProbe, p.K = common(requests)
		x.result.Calls = append(x.result.Calls, *p)
	}
	x.tellCalls()
	return nil
}

// tellCalls says what calls take, where their CPU was counted.
func (x *run) tellCalls() {
	first, last := &x.result.Calls[0], &x.result.Calls[len(x.result.Calls)-1]
	if first.CPUPerQuery > 0 && last.CPUPerQuery > 0 {
		x.result.Notes = append(x.result.Notes, fmt.Sprintf("a query that searches nothing takes %v of CPU at %.0f QPS, %v at %.0f QPS: the cost of calls",
			first.CPUPerQuery.Round(10*time.Microsecond), first.QPS, last.CPUPerQuery.Round(10*time.Microsecond), last.QPS))
	}
}

// unanswered says why a point tells nothing of calls.
func unanswered(p *load.Point) string {
	switch {
	case p.Stopped != "":
		return p.Stopped
	case p.Failed > 0:
		text := fmt.Sprintf("%d of %d requests failed", p.Failed, p.Asked)
		for _, e := range slices.Sorted(maps.Keys(p.Errors)) {
			return text + ": " + e
		}
		return text
	}
	return "the processes did not tell"
}

// none are the same requests, none of whose hits may have any key.
func none(requests []*load.Request) []*load.Request {
	list := slices.Clone(requests)
	for i, r := range requests {
		one := *r
		one.Keys, one.Exclude, one.Expr = []engine.Key{}, false, ""
		list[i] = &one
	}
	return list
}
