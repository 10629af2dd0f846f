package check

import (
	"time"

	"kitescope/inspect/model"
)

// settlesAfter is how long a process may take after its start until it is what it is meant to be: filled by the balancer, done with reading on
// from the checkpoints, fast. A query node of 2.3.5 under load was 38 s behind when it had just been restarted.
const settlesAfter = 2 * time.Minute

// justBefore reports whether something was less than settlesAfter ago; it does not if nothing says what time it is.
func (p *Facts) justBefore(at time.Time) bool {
	return !at.IsZero() && !p.Now.IsZero() && p.Now.Sub(at) < settlesAfter
}

// reading reports whether a process may be reading on from a checkpoint: it, or what it was given, is there for a moment.
func (p *Facts) reading(n *model.LiveNode, given time.Time) bool {
	return p.justBefore(n.StartedAt()) || p.justBefore(given)
}
