package facts

import (
	"time"

	"kitescope/inspect/model"
)

// WarmupPeriod is the time that a process may take after its start until it works normally: it is filled by the
// balancer, has caught up from the checkpoints, and is fast. A query node of 2.3.5 under load was 38 s behind right
// after a restart.
const WarmupPeriod = 2 * time.Minute

// InWarmup reports whether at is less than WarmupPeriod ago. It returns false if either time is unknown.
func (f *Facts) InWarmup(at time.Time) bool {
	return !at.IsZero() && !f.Now.IsZero() && f.Now.Sub(at) < WarmupPeriod
}

// CatchingUp reports whether a process may still be catching up from a checkpoint, because it just started or just got
// its channel.
func (f *Facts) CatchingUp(n *model.LiveNode, assigned time.Time) bool {
	return f.InWarmup(n.StartedAt()) || f.InWarmup(assigned)
}
