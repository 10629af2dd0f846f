package meta

import (
	"cmp"
	"context"
	"slices"
	"time"

	"kitescope/inspect/source"
)

// etcd stores no times. Revisions are dated by RootCoord's timestamp allocator (internal/tso/tso.go). When
// its reserved timestamps run out, it takes the current time, adds three seconds and writes the sum. So each
// value is the time of its write plus three seconds: a tick. Values never decrease. If the machine's clock
// was set back, or RootCoord restarted before its reservation was over, the allocator continues after the
// last value. Such a tick may be ahead of the clock by the remainder of the three seconds.
const (
	reservedAhead = 3 * time.Second
	// reservedGuard is the distance, beyond reservedAhead, of such a tick to the one before it. It is exact to the
	// nanosecond; any other distance means that the tick is from a clock.
	reservedGuard = time.Millisecond
	// writeTime is the time that etcd may take to write a tick. If it takes longer, all of Milvus is blocked.
	writeTime = 100 * time.Millisecond
)

// Moment is a time and its error bound.
type Moment struct {
	// Time is off by at most Error in either direction.
	Time  time.Time
	Error time.Duration
	// Open means that no tick follows. Error then assumes a working Milvus; if RootCoord is down, the real time
	// may be any amount later.
	Open bool
}

// Clock dates the revisions of a store by its ticks.
type Clock struct {
	keys  [2]string
	ticks []tick
	// existing are the allocator keys that exist, after a single lookup (lookedUp). These keys are never deleted, so a
	// missing key never existed. Looking it up again would read a file from end to end.
	existing []string
	lookedUp bool
	// newest is the last revision of the store, and seen the time when it was observed to be the newest.
	newest int64
	seen   time.Time
}

// tick is the time at which a revision was written.
type tick struct {
	revision int64
	at       time.Time
	// uncertainty is how much earlier the revision may have been written.
	uncertainty time.Duration
}

// ClockOf returns a clock without ticks for the store below root. Put adds ticks.
func ClockOf(root string) *Clock { return &Clock{keys: source.AllocatorKeys(root)} }

func newClock(newest source.Header) *Clock {
	c := ClockOf(newest.Root)
	c.newest = newest.Revision
	if newest.ByClock {
		c.seen = newest.Taken
	}
	return c
}

// UpTo returns a copy of the clock with another newest revision. seen is the time, by a clock, at which that
// revision was the newest, or zero if unknown.
func (c *Clock) UpTo(newest int64, seen time.Time) *Clock {
	copied := *c
	copied.ticks, copied.newest, copied.seen = slices.Clone(c.ticks), newest, seen
	return &copied
}

// readTick reads the newest tick up to a revision.
func (c *Clock) readTick(ctx context.Context, past source.Past, h source.Header, revision int64) error {
	if !c.lookedUp {
		for _, key := range c.keys {
			kv, err := past.GetAt(ctx, h, h.Revision, key)
			if err != nil {
				return err
			}
			if kv != nil {
				c.existing = append(c.existing, key)
				c.Put(*kv)
			}
		}
		c.lookedUp = true
	}
	if revision == h.Revision {
		return nil
	}
	for _, key := range c.existing {
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

// Put adds a tick if kv is a key of the allocator. Changes come in order of revision, except those of the initial
// state.
func (c *Clock) Put(kv source.KV) {
	value := source.Reservation(kv.Value)
	if value.IsZero() || !slices.Contains(c.keys[:], string(kv.Key)) {
		return
	}
	t := tick{revision: kv.ModRevision, at: value.Add(-reservedAhead)}
	i := len(c.ticks)
	if i > 0 && c.ticks[i-1].revision >= t.revision {
		var known bool
		i, known = slices.BinarySearchFunc(c.ticks, t.revision, func(t tick, r int64) int {
			return cmp.Compare(t.revision, r)
		})
		if known {
			return
		}
	}
	if len(c.ticks) == cap(c.ticks) { // append grows large slices only by a quarter, which copies more often
		c.ticks = slices.Grow(c.ticks, len(c.ticks)+1)
	}
	c.ticks = slices.Insert(c.ticks, i, t)
	for ; i < min(i+2, len(c.ticks)); i++ { // this tick and the next
		c.ticks[i].uncertainty = 0
		if i > 0 && c.ticks[i].at.Sub(c.ticks[i-1].at) == reservedAhead+reservedGuard {
			c.ticks[i].uncertainty = reservedAhead
		}
	}
}

// fill dates the revisions between the two ticks around revision by their recorded times, if the gap is longer
// than that of a working RootCoord (RootCoord or etcd was down). The recorder's clock is a different one, so
// recorded times outside the ticks are dropped.
func (c *Clock) fill(ctx context.Context, past source.Past, revision int64) error {
	recorded, ok := past.(source.Timestamped)
	before, after := c.around(revision)
	if !ok || before == nil {
		return nil
	}
	first := before.at
	end, behind, _ := c.end(before, after)
	if end.Sub(first) <= 2*maxTickGap {
		return nil
	}
	var found []tick
	err := recorded.WriteTimes(ctx, before.revision, behind-1, func(revision int64, at time.Time) {
		if at.After(first) && at.Before(end) {
			found = append(found, tick{revision, at, at.Sub(first)})
			first = at
		}
	})
	i, _ := slices.BinarySearchFunc(c.ticks, behind, func(t tick, r int64) int { return cmp.Compare(t.revision, r) })
	c.ticks = slices.Insert(c.ticks, i, found...)
	return err
}

// FillAll fills all gaps between the clock's ticks from a recording. It does nothing if past is not source.Timestamped.
func (c *Clock) FillAll(ctx context.Context, past source.Past) error {
	if _, ok := past.(source.Timestamped); !ok {
		return nil
	}
	for _, t := range slices.Clone(c.ticks) {
		if err := c.fill(ctx, past, t.revision); err != nil {
			return err
		}
	}
	return nil
}

// around returns the last tick up to a revision and the first tick after it, nil if there is none.
func (c *Clock) around(revision int64) (before, after *tick) {
	i, exact := slices.BinarySearchFunc(c.ticks, revision, func(t tick, r int64) int {
		return cmp.Compare(t.revision, r)
	})
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

// At returns the time at which a revision was written. known is false if the revision precedes all ticks.
func (c *Clock) At(revision int64) (m Moment, known bool) {
	before, after := c.around(revision)
	if before == nil {
		return Moment{}, false
	}
	m.Time = before.at
	first, last := before.at.Add(-before.uncertainty), before.at.Add(writeTime)
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

// end returns the latest time of the revisions after a tick, and the first revision past them. open means that the
// time is an estimate.
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

// First returns the time of the first tick, zero if there is none.
func (c *Clock) First() time.Time {
	if len(c.ticks) == 0 {
		return time.Time{}
	}
	return c.ticks[0].at
}

// Last returns the time of the last tick, zero if there is none.
func (c *Clock) Last() time.Time {
	if len(c.ticks) == 0 {
		return time.Time{}
	}
	return c.ticks[len(c.ticks)-1].at
}

// Revision returns the last revision whose At is not after a time. known is false if the time precedes all
// ticks.
func (c *Clock) Revision(at time.Time) (revision int64, known bool) {
	// If the clock was set back, ticks are not in order of time. The last tick that is not after the time counts.
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
