// Package hindsight looks at the past behind the screen, for pages of the moment that is shown. What enters are the past of a source and
// what a page wants to know (tui.Wish); what leaves are when findings began, and curves of figures.
//
//  1. Onsets (onsets.go) have inspect/onset look for the findings of the report that is shown, as long as a page shows them: who leaves it
//     ends that.
//  2. Curves (curves.go) look at some moments, evenly over the time, one after the other, and keep the figures of columns that are Curved;
//     they rest while no page shows any.
package hindsight

import (
	"kitescope/inspect/check"
	"kitescope/inspect/news"
	"kitescope/tui"
)

// Hindsight is what was found out of a past.
type Hindsight struct {
	of     news.Past
	onsets onsets
	curves curves
}

var _ tui.Hindsight = (*Hindsight)(nil)

// New is one that knows nothing yet.
func New() *Hindsight { return &Hindsight{} }

// Look implements tui.Hindsight.
func (h *Hindsight) Look(m *tui.Model, wish tui.Wish) tui.Cmd {
	past := m.Past()
	if past != h.of {
		h.onsets.stop()
		h.of, h.onsets.known, h.curves.axis = past, nil, nil
	}
	axis, _ := m.Axis()
	if past == nil || axis == nil {
		return nil
	}
	return tui.Batch(h.onsets.look(m, past, axis, wish.Report), h.curves.look(m, past, axis, wish))
}

// Began implements tui.Hindsight.
func (h *Hindsight) Began(f *check.Finding) (short string, facts []tui.Fact) {
	return h.onsets.began(f)
}

// Curves implements tui.Hindsight.
func (h *Hindsight) Curves(resource string) []tui.Curve { return h.curves.list(resource) }
