package history

import (
	"cmp"
	"slices"
	"time"
)

// reserveAhead is how far ahead of its clock Milvus reserves timestamps (internal/tso/tso.go): what it writes is the time of the
// write and so much more.
const reserveAhead = 3 * time.Second

// Clock dates revisions: those between two reservations of timestamps were written between their times.
type Clock struct{ ticks []tick }

// tick says that a revision was written at a time.
type tick struct {
	revision int64
	at       int64 // Unix nanoseconds
}

// Reserved takes a reservation. Revisions come in order.
func (c *Clock) Reserved(revision int64, until time.Time) {
	c.ticks = append(c.ticks, tick{revision, until.Add(-reserveAhead).UnixNano()})
}

// UnknownError is that of a time of which one side is known alone: before the first reservation or after the last one.
const UnknownError = time.Duration(-1)

// At is when a revision was written, and by how much that may be wrong. The time is zero where nothing dates it.
func (c *Clock) At(revision int64) (at time.Time, wrong time.Duration) {
	if len(c.ticks) == 0 {
		return time.Time{}, 0
	}
	i, exact := slices.BinarySearchFunc(c.ticks, revision, func(t tick, r int64) int { return cmp.Compare(t.revision, r) })
	switch {
	case exact:
		return c.ticks[i].time(), writeTime
	case i == 0:
		return c.ticks[0].time(), UnknownError
	case i == len(c.ticks):
		return c.ticks[i-1].time(), UnknownError
	}
	before, after := c.ticks[i-1], c.ticks[i]
	half := time.Duration(after.at-before.at) / 2
	if half < 0 { // Milvus's clock was set back
		return after.time(), max(-2*half, writeTime)
	}
	return before.time().Add(half), half + writeTime
}

// sort puts reservations in order that came in none.
func (c *Clock) sort() {
	slices.SortFunc(c.ticks, func(a, b tick) int { return cmp.Compare(a.revision, b.revision) })
}

// writeTime is what lies between a reservation's own time and its write, as a rule: etcd's fsync and Milvus's tick of 50 ms.
const writeTime = 100 * time.Millisecond

func (t tick) time() time.Time { return time.Unix(0, t.at).UTC() }

// now is the time of the newest reservation, 0 if there is none.
func (c *Clock) now() int64 {
	if len(c.ticks) == 0 {
		return 0
	}
	return c.ticks[len(c.ticks)-1].at
}
