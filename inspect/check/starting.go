package check

import (
	"time"

	"kitescope/inspect/model"
)

// settlesAfter is how long a process may take after its start until it is what it is meant to be: filled by the balancer, done with reading on
// from the checkpoints, fast. A query node of 2.3.5 under load was 38 s behind when it had just been restarted.
const settlesAfter = 2 * time.Minute

// readsOn is what to do about a process that consumes a channel, as long as it has not caught up after its start.
const readsOn Hint = "nothing yet: it reads on from the checkpoints"

// easeStart makes an information of a finding about a process that started a moment ago, as what it does is that of a start.
func (p *Pass) easeStart(f *Finding, n *model.LiveNode, hint Hint) {
	if !p.justStarted(n) {
		return
	}
	f.Severity, f.Cost = Info, 0
	f.Message += ", started " + span(p.Now.Sub(n.StartedAt())) + " ago"
	f.Hint = hint
}

func (p *Pass) justStarted(n *model.LiveNode) bool { return p.justBefore(n.StartedAt()) }

func (p *Pass) justBefore(at time.Time) bool { return !at.IsZero() && p.Now.Sub(at) < settlesAfter }

// easeReading does the same for a process that consumes a channel, and may have been given that a moment ago.
func (p *Pass) easeReading(f *Finding, n *model.LiveNode, given time.Time) {
	if why := p.readingOn(n, given); why != "" {
		f.Severity, f.Cost, f.Hint = Info, 0, readsOn
		f.Message += why
	}
}

// readingOn is since when a process may be reading on from a checkpoint, "" if it has had the time to catch up.
func (p *Pass) readingOn(n *model.LiveNode, given time.Time) string {
	switch {
	case p.justStarted(n):
		return ", started " + span(p.Now.Sub(n.StartedAt())) + " ago"
	case p.justBefore(given):
		return ", which it was given " + span(p.Now.Sub(given)) + " ago"
	}
	return ""
}
