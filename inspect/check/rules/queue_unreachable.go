package rules

import (
	"cmp"
	"fmt"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// queueUnreachable reports a message queue that does not respond.
var queueUnreachable = &check.Check{
	ID:       "queue-unreachable",
	Title:    "The message queue does not respond",
	Severity: check.Error,
	Symptoms: []string{check.WritesFail},
	Starts:   "config_changed | checkpoint_stopped",
	Parts:    model.PartSessions,
	Needs:    check.NeedProcesses,
	Doc: `Kafka is down: nothing can be inserted or deleted, and consistent searches wait. The check looks at how
kitescope's own query of the message queue ended, if it can be queried (Kafka). Error if it refused, timed out or was
unreachable and the nodes that consume it are at least 10 seconds behind: it is down for them too. Info if they keep
up, or did not report their lag: the queue may be unreachable only from kitescope's network.`,
	Remedy: `Look at the queue's brokers, their disks and logs. If the queue is fine and only unreachable from here,
pass an address map (` + "`--map`" + `).`,
	Phases: []latency.Name{latency.WALAppend, latency.ConsistencyWait},
	Run:    runQueueUnreachable,
}

func runQueueUnreachable(p *check.Pass) {
	if p.Runtime == nil || p.Runtime.Queue == nil || p.Runtime.Queue.Outcome == model.NotAsked {
		for _, s := range skipped(p.Runtime) {
			if s.What == "message queue" {
				p.Skip("the message queue was not queried: " + s.Reason)
				return
			}
		}
		p.Skip("the message queue was not queried")
		return
	}
	q := p.Runtime.Queue
	switch q.Outcome {
	case model.Refused, model.Unreachable, model.TimedOut, model.CutOff:
	case model.Answered:
		return
	default:
		if q.Topics != nil {
			p.NoteUnseen("some topics of the message queue: " + q.Outcome.With(q.Reason))
			return
		}
		p.Skip("no usable response from the message queue: " + q.Outcome.With(q.Reason))
		return
	}
	f := check.Finding{
		Severity: check.Info,
		Message: fmt.Sprintf("the message queue (%s) at %s is not responding: %s",
			cmp.Or(q.Kind, "unknown"), cmp.Or(q.Address, "an unknown address"), q.Outcome.With(q.Reason)),
		Evidence: []check.Evidence{
			check.Fact("address", q.Address, ""), check.Fact("outcome", q.Outcome.With(q.Reason), "message queue"),
		},
		Impact: "None visible: the nodes keep up, or did not report their lag.",
		Fix: check.Fix(
			check.Do("check whether %s can be reached from the hosts of the nodes",
				check.AddressHint(q.Address, "the queue")),
			check.Do("if it can, only this machine cannot reach it: pass --map with an address that works from here"),
		),
	}
	list, asked := ticks(p)
	if len(list) > 0 {
		lag := asked.Sub(list[0].at)
		f.Evidence = append(f.Evidence,
			check.Factf("furthest behind", list[0].node.Name()+" GetMetrics", "%s: %s", list[0].node.Name(),
				check.Span(lag)))
		if newest := asked.Sub(list[len(list)-1].at); newest >= tickSuspect {
			f.Severity, f.Cost = check.Error, 1
			f.Message += fmt.Sprintf(", and all nodes are at least %s behind", words.Span(newest))
			f.Impact = "Nothing can be inserted or deleted, and consistent searches wait or fail."
			f.Fix = check.Fix(
				check.Do("start the brokers at %s, or make room on their disks: their logs show why they are down",
					check.AddressHint(q.Address, "its address")).
					Interrupting(2*time.Minute, "nothing"),
				check.Shell(check.Kitescope("diagnose --only queue-unreachable,timetick-lag")).
					Does("reports ok once the queue responds and the nodes have caught up"),
			)
		}
	}
	p.Report(f)
}

func skipped(r *model.Runtime) []model.Skipped {
	if r == nil {
		return nil
	}
	return r.Skipped
}
