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

func (p *Pass) justStarted(n *model.LiveNode) bool {
	at := n.StartedAt()
	return !at.IsZero() && p.Now.Sub(at) < settlesAfter
}
