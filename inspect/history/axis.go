package history

import (
	"slices"
	"sort"
	"time"
)

// Axis is a line on which everything has a place that happened: by its time, in Unix nanoseconds, or in a store in which nothing dates
// the revisions, by its revision. It does not change.
type Axis struct {
	*History
	// Dated says that places are times.
	Dated bool
	// From and To are the places of the first revision and of the last.
	From, To int64
	places   []int64 // of the events, none before the one of the event before it
}

// NewAxis places the events of a history.
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

// Place is where a revision is, on the axis.
func (x *Axis) Place(revision int64) int64 { return min(max(x.place(revision), x.From), x.To) }

// Of is the place of the i-th event.
func (x *Axis) Of(i int) int64 { return x.places[i] }

// Before is how many events are before a place.
func (x *Axis) Before(place int64) int {
	n, _ := slices.BinarySearch(x.places, place)
	return n
}

// Revision is the last revision that is not behind a place, one of those that there are.
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

// When is when a revision was written, zero where nothing dates it, and by how much that may be wrong.
func (h *History) When(revision int64) (at time.Time, wrong time.Duration) {
	return dated(h.clock, revision)
}

// UpTo is how many events began at a revision or before it: the last one of them is what led to its state.
func (h *History) UpTo(revision int64) int {
	return sort.Search(len(h.entries.list), func(i int) bool { return h.entries.list[i].at > revision })
}
