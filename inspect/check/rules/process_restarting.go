package rules

import (
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// restartsMany is the number of starts within model.StartsWindow that is a finding.
const restartsMany = 3

// processRestarting finds processes that die and restart repeatedly.
var processRestarting = &check.Check{
	ID:       "process-restarting",
	Title:    "A process keeps restarting",
	Severity: check.Error,
	Symptoms: []string{check.SearchesFail, check.WritesFail, check.LoadsHang, check.MemoryFull},
	Starts:   "node_lost node_left | node_joined",
	Parts:    model.PartSessions,
	Doc: `A process dies and restarts again and again, each time with a new id. The check looks at sessions registered
in the last 10 minutes, in etcd's past revisions. Reported: three of one role at one address. The impact is worst
right after a start, when it has nothing in memory and others send it work.

etcd has these revisions until it is compacted. They are read from a live etcd, its snapshots, and bundles with a
history, unless more than 200 are written in a second. Without them the check uses the current sessions: those of dead
processes stay for half a minute.`,
	Remedy: `Read the log from before each start for the reason: a panic, a dependency that it cannot reach, or
nothing at all, if the kernel killed it for its memory (` + "`dmesg`" + `; in Kubernetes ` + "`kubectl describe pod`" +
		`
shows OOMKilled, ` + "`kubectl logs -p`" + ` the log).`,
	Run:         runProcessRestarting,
	FollowsFrom: []check.Cause{{Check: "etcd-no-leader"}, {Check: "etcd-alarm"}, {Check: "queue-unreachable"}},
}

func runProcessRestarting(p *check.Pass) {
	known := p.Starts
	if known == nil {
		for _, s := range p.Sessions {
			known = model.AddStart(known, s, time.Time{})
		}
	}
	type place struct{ role, address string }
	starts := make(map[place][]model.Start)
	var places []place
	for _, s := range known {
		at := place{s.Role, s.Address}
		if s.Address == "" {
			continue
		}
		if starts[at] == nil {
			places = append(places, at)
		}
		starts[at] = append(starts[at], s)
	}
	for _, at := range places {
		if list := starts[at]; len(list) >= restartsMany {
			reportRestarts(p, list)
		}
	}
}

// reportRestarts reports the starts of one process. list is in chronological order.
func reportRestarts(p *check.Pass, list []model.Start) {
	last := list[len(list)-1]
	f := check.Finding{
		Severity: check.Error, Object: facts.RefNode(last.Role, last.Node),
		Message: fmt.Sprintf("%s at %s started %d times in %s", facts.RoleLabel(last.Role), last.Address, len(list),
			words.Span(startsSpan(list))),
		Evidence: []check.Evidence{
			check.Count("starts", len(list), "etcd"), check.Fact("last start", facts.TimeText(last.At), "etcd"),
		},
		Impact: "Its data is moved or reloaded each time, and requests to it fail.",
		Fix: check.Fix(
			check.Do("read the end of its log from before each start: a panic, or a dependency that it cannot reach"),
			check.Do("if there is nothing, look in the kernel log of its host for \"Out of memory\", or in the "+
				"description of its pod for OOMKilled: then give it more memory"),
		),
	}
	for _, s := range slices.Backward(list) {
		f.Objects = append(f.Objects, facts.RefNode(s.Role, s.Node))
	}
	p.Report(f)
}

// startsSpan returns the time between the first and the last start, or model.StartsWindow if one of them has no time.
func startsSpan(list []model.Start) time.Duration {
	first, last := list[0].At, list[len(list)-1].At
	if first.IsZero() || last.IsZero() {
		return model.StartsWindow
	}
	return last.Sub(first)
}
