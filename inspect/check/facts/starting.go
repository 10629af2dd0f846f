package facts

import (
	"time"

	"kitescope/inspect/model"
)

// SettlesAfter is how long a process may take after its start until it is what it is meant to be: filled by the balancer, done with reading on
// from the checkpoints, fast. A query node of 2.3.5 under load was 38 s behind when it had just been restarted.
const SettlesAfter = 2 * time.Minute

// JustBefore reports whether something was less than SettlesAfter ago; it does not if nothing says what time it is.
func (f *Facts) JustBefore(at time.Time) bool {
	return !at.IsZero() && !f.Now.IsZero() && f.Now.Sub(at) < SettlesAfter
}

// Reading reports whether a process may be reading on from a checkpoint: it, or what it was given, is there for a moment.
func (f *Facts) Reading(n *model.LiveNode, given time.Time) bool {
	return f.JustBefore(n.StartedAt()) || f.JustBefore(given)
}
