package facts

import (
	"time"

	"kitescope/inspect/model"
)

// SettlesAfter is the time that a process may take after its start until it works normally: it is filled by the
// balancer, has caught up from the checkpoints, and is fast. A query node of 2.3.5 under load was 38 s behind right
// after a restart.
const SettlesAfter = 2 * time.Minute

// JustBefore reports whether at is less than SettlesAfter ago. It returns false if either time is unknown.
func (f *Facts) JustBefore(at time.Time) bool {
	return !at.IsZero() && !f.Now.IsZero() && f.Now.Sub(at) < SettlesAfter
}

// Reading reports whether a process may still be catching up from a checkpoint, because it just started or just got
// its channel.
func (f *Facts) Reading(n *model.LiveNode, given time.Time) bool {
	return f.JustBefore(n.StartedAt()) || f.JustBefore(given)
}
