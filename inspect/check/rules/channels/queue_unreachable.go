package channels

import (
	"cmp"
	"fmt"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/words"
)

// queueUnreachable finds a message queue that does not answer.
var queueUnreachable = &check.Check{
	ID:       "queue-unreachable",
	Title:    "The message queue does not answer",
	Severity: check.Error,
	Since:    "0.3",
	Parts:    model.PartSessions,
	Needs:    check.NeedProcesses,
	Doc: `Looks at how asking the message queue ended, where it can be asked (Kafka). An error if it refused, timed out or could not be reached, and the nodes that consume it are at least 10 seconds behind: then it is down
for them too. If they keep up, or did not say how far they are, it is information: the queue may just not be reachable from where kitescope runs.

Without the queue nothing can be inserted or deleted, and consistent searches wait.`,
	Remedy: "Look at the brokers of the queue, their disks and their log. If the queue is well and only out of reach from here, an address map helps (`--map`).",
	Phases: []latency.Name{latency.WALAppend, latency.ConsistencyWait},
	Run:    runQueueUnreachable,
}

func runQueueUnreachable(p *check.Pass) error {
	if p.Runtime == nil || p.Runtime.Queue == nil || p.Runtime.Queue.Outcome == model.NotAsked {
		for _, s := range skipped(p.Runtime) {
			if s.What == "message queue" {
				return p.Skip("the message queue was not asked: " + s.Reason)
			}
		}
		return p.Skip("the message queue was not asked")
	}
	q := p.Runtime.Queue
	switch q.Outcome {
	case model.Refused, model.Unreachable, model.TimedOut, model.CutOff:
	case model.Answered:
		return nil
	default:
		return p.Skip("the message queue gave no usable answer: " + facts.OutcomeText(q.Outcome, q.Reason))
	}
	f := check.Finding{
		Severity: check.Info,
		Message:  fmt.Sprintf("the message queue (%s) at %s does not answer: %s", cmp.Or(q.Kind, "unknown"), cmp.Or(q.Address, "an unknown address"), facts.OutcomeText(q.Outcome, q.Reason)),
		Evidence: []check.Evidence{check.Fact("address", q.Address, ""), check.Fact("outcome", facts.OutcomeText(q.Outcome, q.Reason), "message queue")},
		Impact:   "None that shows: nodes keep up, or did not say.",
		Hint:     check.Advise("look whether %s can be reached from the nodes; if only kitescope cannot reach it, --map may lead there", check.Placed(q.Address, "the queue")),
	}
	list, asked := ticks(p)
	if len(list) > 0 {
		lag := asked.Sub(list[0].at)
		f.Evidence = append(f.Evidence, check.Measured("furthest behind", list[0].node.Name()+" GetMetrics", "%s: %s", list[0].node.Name(), check.Span(lag)))
		if newest := asked.Sub(list[len(list)-1].at); newest >= tickSuspect {
			f.Severity, f.Cost = check.Error, 1
			f.Message += fmt.Sprintf(", and all nodes are behind by %s and more", words.Span(newest))
			f.Impact = "Nothing can be inserted or deleted, and consistent searches wait or fail."
			f.Hint = check.Advise("look at the brokers at %s", check.Placed(q.Address, "its address"))
		}
	}
	p.Report(f)
	return nil
}

func skipped(r *model.Runtime) []model.Skipped {
	if r == nil {
		return nil
	}
	return r.Skipped
}
