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

// easeStart makes an information of a finding about a process that started a moment ago, as what it does is that of a start; and of
// one that may have, where nothing says what time it is.
func easeStart(p *Facts, f *Finding, n *model.LiveNode, hint Hint) {
	at := n.StartedAt()
	switch {
	case at.IsZero(), !p.Now.IsZero() && !p.justBefore(at):
		return
	case p.Now.IsZero():
		f.Message += ", started at " + timeText(at)
	default:
		f.Message += ", started " + span(p.Now.Sub(at)) + " ago"
	}
	f.Severity, f.Cost, f.Hint = Info, 0, hint
}

// justBefore reports whether something was less than settlesAfter ago; it does not if nothing says what time it is.
func (p *Facts) justBefore(at time.Time) bool {
	return !at.IsZero() && !p.Now.IsZero() && p.Now.Sub(at) < settlesAfter
}

// easeReading does what easeStart does for a process that consumes a channel, and may have been given that a moment ago.
func easeReading(p *Facts, f *Finding, n *model.LiveNode, given time.Time) {
	if p.justBefore(given) && !p.justBefore(n.StartedAt()) {
		f.Severity, f.Cost, f.Hint = Info, 0, readsOn
		f.Message += ", which it was given " + span(p.Now.Sub(given)) + " ago"
		return
	}
	easeStart(p, f, n, readsOn)
}

// reading reports whether a process may be reading on from a checkpoint: it, or what it was given, is there for a moment.
func (p *Facts) reading(n *model.LiveNode, given time.Time) bool {
	return p.justBefore(n.StartedAt()) || p.justBefore(given)
}
