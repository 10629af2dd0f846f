package history

import (
	"slices"
	"sort"
	"time"
)

// Axis assigns each event of a History a position: its time in Unix nanoseconds, or its revision if the store has
// no times. It is immutable.
type Axis struct {
	*History
	// Dated means that positions are times.
	Dated bool
	// From and To are the positions of the first and of the last revision.
	From, To int64
	places   []int64 // of the events, never decreasing
}

// NewAxis computes the positions of a history's events.
func NewAxis(h *History) *Axis {
	x := &Axis{History: h, Dated: !h.First.IsZero(), places: make([]int64, len(h.entries.list))}
	x.From, x.To = x.place(h.From), x.place(h.To)
	x.To = max(x.To, x.From)
	last := x.From
	for i := range h.entries.list {
		last = max(last, min(x.place(h.entries.list[i].at), x.To)) // a clock may have been set back
		x.places[i] = last
	}
	return x
}

func (x *Axis) place(revision int64) int64 {
	if !x.Dated {
		return revision
	}
	at, _ := dated(x.clock, revision)
	return at.UnixNano()
}

// Place returns the position of a revision.
func (x *Axis) Place(revision int64) int64 { return min(max(x.place(revision), x.From), x.To) }

// Of returns the position of the i-th event.
func (x *Axis) Of(i int) int64 { return x.places[i] }

// Before returns the number of events before a position.
func (x *Axis) Before(place int64) int {
	n, _ := slices.BinarySearch(x.places, place)
	return n
}

// Revision returns the last revision at or before a position, within the revisions of the history.
func (x *Axis) Revision(place int64) int64 {
	revision := place
	if x.Dated {
		var known bool
		if revision, known = x.clock.Revision(time.Unix(0, place).UTC()); !known {
			revision = x.History.From
		}
	}
	return min(max(revision, x.History.From), x.History.To)
}

// When returns the time at which a revision was written, zero if unknown, and the bound of its error.
func (h *History) When(revision int64) (at time.Time, wrong time.Duration) {
	return dated(h.clock, revision)
}

// UpTo returns the number of events that began at or before a revision. The last event counted led to the
// state at the revision.
func (h *History) UpTo(revision int64) int {
	return sort.Search(len(h.entries.list), func(i int) bool { return h.entries.list[i].at > revision })
}
