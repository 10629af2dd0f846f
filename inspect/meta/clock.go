package meta

import (
	"cmp"
	"context"
	"slices"
	"time"

	"kitescope/inspect/source"
)

// etcd keeps no times. What dates its revisions is the allocator of timestamps in RootCoord (internal/tso/tso.go): when the ones that
// it has reserved run out, it takes the time, adds three seconds, and writes that. So each of its values is the time at which it was
// written, plus three seconds: a tick. It never goes back: where the clock of the machine did, or where RootCoord started anew before
// what it had reserved was over, it goes on behind the last value, and a tick may be ahead of the clock by what is left of those
// three seconds.
const (
	reservedAhead = 3 * time.Second
	// reservedGuard is by how much a tick is behind the last one then, to the nanosecond: else it comes from a clock.
	reservedGuard = time.Millisecond
	// writeTime is what etcd may take to write a tick; if it takes longer, all of Milvus stands still.
	writeTime = 100 * time.Millisecond
)

// Moment is a time as far as it is known.
type Moment struct {
	// Time is off by no more than Error, to either side.
	Time  time.Time
	Error time.Duration
	// Open says that there was no tick behind it any more. Error is then that of a Milvus that works: of one whose RootCoord is
	// down, it may be any time later.
	Open bool
}

// Clock dates the revisions of a store by the ticks in it.
type Clock struct {
	keys  [2]string
	ticks []tick
	// kept are the keys that the store has, once that was asked: nobody deletes one, so what it lacks now it always did, and a file
	// would be read from end to end each time for it.
	kept  []string
	asked bool
	// newest is the last revision of the store, and when it was seen to be.
	newest int64
	seen   time.Time
}

// tick is when a revision was written.
type tick struct {
	revision int64
	at       time.Time
	// ahead is by how much it may have been earlier.
	ahead time.Duration
}

// ClockOf is a clock that knows no tick yet of a store below a root; Put tells it.
func ClockOf(root string) *Clock { return &Clock{keys: source.AllocatorKeys(root)} }

func newClock(newest source.Header) *Clock {
	c := ClockOf(newest.Root)
	c.newest = newest.Revision
	if newest.ByClock {
		c.seen = newest.Taken
	}
	return c
}

// UpTo is a copy of the clock as it is, of a store of which a revision is the newest; seen is when that was by a clock, zero if nobody
// looked.
func (c *Clock) UpTo(newest int64, seen time.Time) *Clock {
	copied := *c
	copied.ticks, copied.newest, copied.seen = slices.Clone(c.ticks), newest, seen
	return &copied
}

// look reads the newest tick up to a revision.
func (c *Clock) look(ctx context.Context, past source.Past, h source.Header, revision int64) error {
	if !c.asked {
		for _, key := range c.keys {
			kv, err := past.GetAt(ctx, h, h.Revision, key)
			if err != nil {
				return err
			}
			if kv != nil {
				c.kept = append(c.kept, key)
				c.Put(*kv)
			}
		}
		c.asked = true
	}
	if revision == h.Revision {
		return nil
	}
	for _, key := range c.kept {
		kv, err := past.GetAt(ctx, h, revision, key)
		if err != nil {
			return err
		}
		if kv != nil {
			c.Put(*kv)
		}
	}
	return nil
}

// Put takes a change of any key. They come in order of revision, but for those of the state that changes are followed from.
func (c *Clock) Put(kv source.KV) {
	value := source.Reservation(kv.Value)
	if value.IsZero() || !slices.Contains(c.keys[:], string(kv.Key)) {
		return
	}
	t := tick{revision: kv.ModRevision, at: value.Add(-reservedAhead)}
	i := len(c.ticks)
	if i > 0 && c.ticks[i-1].revision >= t.revision {
		var known bool
		i, known = slices.BinarySearchFunc(c.ticks, t.revision, func(t tick, r int64) int { return cmp.Compare(t.revision, r) })
		if known {
			return
		}
	}
	if len(c.ticks) == cap(c.ticks) { // large slices grow by a quarter otherwise, and are copied as often
		c.ticks = slices.Grow(c.ticks, len(c.ticks)+1)
	}
	c.ticks = slices.Insert(c.ticks, i, t)
	for ; i < min(i+2, len(c.ticks)); i++ { // itself, and the one behind it
		c.ticks[i].ahead = 0
		if i > 0 && c.ticks[i].at.Sub(c.ticks[i-1].at) == reservedAhead+reservedGuard {
			c.ticks[i].ahead = reservedAhead
		}
	}
}

// fill dates what lies between the two ticks around a revision by when it was recorded, where that is longer than a RootCoord that works
// takes: it, or etcd, was down. The recorder's clock is another, so that no time is beyond those of the ticks.
func (c *Clock) fill(ctx context.Context, past source.Past, revision int64) error {
	recorded, ok := past.(source.Dated)
	before, after := c.around(revision)
	if !ok || before == nil {
		return nil
	}
	first := before.at
	end, behind, _ := c.end(before, after)
	if end.Sub(first) <= 2*tickPace {
		return nil
	}
	var found []tick
	err := recorded.Recorded(ctx, before.revision, behind-1, func(revision int64, at time.Time) {
		if at.After(first) && at.Before(end) {
			found = append(found, tick{revision, at, at.Sub(first)})
			first = at
		}
	})
	i, _ := slices.BinarySearchFunc(c.ticks, behind, func(t tick, r int64) int { return cmp.Compare(t.revision, r) })
	c.ticks = slices.Insert(c.ticks, i, found...)
	return err
}

// FillAll dates what a recording has where ticks are missing, between all that a clock knows.
func (c *Clock) FillAll(ctx context.Context, past source.Past) error {
	if _, ok := past.(source.Dated); !ok {
		return nil
	}
	for _, t := range slices.Clone(c.ticks) {
		if err := c.fill(ctx, past, t.revision); err != nil {
			return err
		}
	}
	return nil
}

// around are the last tick up to a revision, and the first behind it; nil where there is none.
func (c *Clock) around(revision int64) (before, after *tick) {
	i, exact := slices.BinarySearchFunc(c.ticks, revision, func(t tick, r int64) int { return cmp.Compare(t.revision, r) })
	if exact {
		i++
	}
	if i > 0 {
		before = &c.ticks[i-1]
	}
	if i < len(c.ticks) {
		after = &c.ticks[i]
	}
	return before, after
}

// At is when a revision was written. known is false where no tick is before it.
func (c *Clock) At(revision int64) (m Moment, known bool) {
	before, after := c.around(revision)
	if before == nil {
		return Moment{}, false
	}
	m.Time = before.at
	first, last := before.at.Add(-before.ahead), before.at.Add(writeTime)
	if revision > before.revision {
		var end time.Time
		end, _, m.Open = c.end(before, after)
		m.Time, last = middle(before.at, end), end.Add(writeTime)
	}
	if last.Before(first) { // the clock was set back
		first, last = last, first
	}
	m.Error = max(m.Time.Sub(first), last.Sub(m.Time))
	return m, true
}

// end is when the revisions behind a tick were written at the latest, and which is the first that was not.
func (c *Clock) end(before, after *tick) (end time.Time, revision int64, open bool) {
	switch {
	case after != nil:
		return after.at, after.revision, false
	case !c.seen.IsZero():
		return c.seen, c.newest + 1, false
	}
	return before.at.Add(reservedAhead), c.newest + 1, true
}

func middle(a, b time.Time) time.Time { return a.Add(b.Sub(a) / 2) }

// First is the first tick; zero where there is none.
func (c *Clock) First() time.Time {
	if len(c.ticks) == 0 {
		return time.Time{}
	}
	return c.ticks[0].at
}

// Last is the last tick; zero where there is none.
func (c *Clock) Last() time.Time {
	if len(c.ticks) == 0 {
		return time.Time{}
	}
	return c.ticks[len(c.ticks)-1].at
}

// Revision is the last one of which At is not behind a time. known is false where no tick is before it.
func (c *Clock) Revision(at time.Time) (revision int64, known bool) {
	// Ticks of a clock that was set back are not in order of time: the last that is not behind it counts.
	for i, t := range slices.Backward(c.ticks) {
		if t.at.After(at) {
			continue
		}
		var after *tick
		if i+1 < len(c.ticks) {
			after = &c.ticks[i+1]
		}
		if end, behind, _ := c.end(&t, after); !middle(t.at, end).After(at) {
			return behind - 1, true
		}
		return t.revision, true
	}
	return 0, false
}
