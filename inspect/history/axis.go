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
	From, To  int64
	positions []int64 // of the events, never decreasing
}

// NewAxis computes the positions of a history's events.
func NewAxis(h *History) *Axis {
	x := &Axis{History: h, Dated: !h.FromTime.IsZero(), positions: make([]int64, len(h.entries.list))}
	x.From, x.To = x.position(h.From), x.position(h.To)
	x.To = max(x.To, x.From)
	last := x.From
	for i := range h.entries.list {
		last = max(last, min(x.position(h.entries.list[i].at), x.To)) // a clock may have been set back
		x.positions[i] = last
	}
	return x
}

func (x *Axis) position(revision int64) int64 {
	if !x.Dated {
		return revision
	}
	at, _ := revisionTime(x.clock, revision)
	return at.UnixNano()
}

// Position returns the position of a revision.
func (x *Axis) Position(revision int64) int64 { return min(max(x.position(revision), x.From), x.To) }

// EventPosition returns the position of the i-th event.
func (x *Axis) EventPosition(i int) int64 { return x.positions[i] }

// CountBefore returns the number of events before a position.
func (x *Axis) CountBefore(position int64) int {
	n, _ := slices.BinarySearch(x.positions, position)
	return n
}

// Revision returns the last revision at or before a position, within the revisions of the history.
func (x *Axis) Revision(position int64) int64 {
	revision := position
	if x.Dated {
		var known bool
		if revision, known = x.clock.Revision(time.Unix(0, position).UTC()); !known {
			revision = x.History.From
		}
	}
	return min(max(revision, x.History.From), x.History.To)
}

// When returns the time at which a revision was written, zero if unknown, and the bound of its error.
func (h *History) When(revision int64) (at time.Time, maxError time.Duration) {
	return revisionTime(h.clock, revision)
}

// CountUpTo returns the number of events that began at or before a revision. The last event counted led to the
// state at the revision.
func (h *History) CountUpTo(revision int64) int {
	return sort.Search(len(h.entries.list), func(i int) bool { return h.entries.list[i].at > revision })
}
