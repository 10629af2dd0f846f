package check

import (
	"time"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// EaseStart makes an information of a finding about a process that started a moment ago, as what it does is that of a start; and of
// one that may have, where nothing says what time it is.
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

// EaseReading does what EaseStart does for a process that consumes a channel, and may have been given that a moment ago.
func EaseReading(p *facts.Facts, f *Finding, n *model.LiveNode, given time.Time) {
	if p.JustBefore(given) && !p.JustBefore(n.StartedAt()) {
		f.Severity, f.Cost, f.Fix = Info, 0, Fix(Do(readsOn))
		f.Message += ", which it was given " + words.Span(p.Now.Sub(given)) + " ago"
		return
	}
	EaseStart(p, f, n, readsOn)
}

// readsOn is what to do about a process that consumes a channel, as long as it has not caught up after its start.
const readsOn ours = "wait: it is still catching up from its checkpoints"
