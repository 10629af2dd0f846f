package check

import (
	"time"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// EaseStart turns a finding into an Info if its process just started, because such behavior is normal after a
// start. If the current time is unknown, every process may have just started.
func EaseStart(p *facts.Facts, f *Finding, n *model.LiveNode, todo ours) {
	at := n.StartedAt()
	switch {
	case at.IsZero(), !p.Now.IsZero() && !p.JustBefore(at):
		return
	case p.Now.IsZero():
		f.Message += ", started at " + facts.TimeText(at)
	default:
		f.Message += ", started " + words.Span(p.Now.Sub(at)) + " ago"
	}
	f.Severity, f.Cost, f.Fix = Info, 0, Fix(Do(todo))
}

// EaseReading is like EaseStart for a process that consumes a channel. It also applies if the process was
// just assigned the channel.
func EaseReading(p *facts.Facts, f *Finding, n *model.LiveNode, given time.Time) {
	if p.JustBefore(given) && !p.JustBefore(n.StartedAt()) {
		f.Severity, f.Cost, f.Fix = Info, 0, Fix(Do(readsOn))
		f.Message += ", assigned " + words.Span(p.Now.Sub(given)) + " ago"
		return
	}
	EaseStart(p, f, n, readsOn)
}

// readsOn is the advice for a consumer of a channel that is still catching up after its start.
const readsOn ours = "wait: it is still catching up from its checkpoints"
