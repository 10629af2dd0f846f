package check

import (
	"time"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// DowngradeStarting turns a finding into an Info if its process just started, because such behavior is normal after a
// start. If the current time is unknown, every process may have just started.
func DowngradeStarting(p *facts.Facts, f *Finding, n *model.LiveNode, todo stringConstant) {
	at := n.StartedAt()
	switch {
	case at.IsZero(), !p.Now.IsZero() && !p.InWarmup(at):
		return
	case p.Now.IsZero():
		f.Message += ", started at " + facts.TimeText(at)
	default:
		f.Message += ", started " + words.Span(p.Now.Sub(at)) + " ago"
	}
	f.Severity, f.Cost, f.Fix = Info, 0, Fix(Do(todo))
}

// DowngradeCatchingUp is like DowngradeStarting for a process that consumes a channel. It also applies if the process
// was just assigned the channel.
func DowngradeCatchingUp(p *facts.Facts, f *Finding, n *model.LiveNode, assigned time.Time) {
	if p.InWarmup(assigned) && !p.InWarmup(n.StartedAt()) {
		f.Severity, f.Cost, f.Fix = Info, 0, Fix(Do(catchUpAdvice))
		f.Message += ", assigned " + words.Span(p.Now.Sub(assigned)) + " ago"
		return
	}
	DowngradeStarting(p, f, n, catchUpAdvice)
}

// catchUpAdvice is the advice for a consumer of a channel that is still catching up after its start.
const catchUpAdvice stringConstant = "wait: it is still catching up from its checkpoints"
