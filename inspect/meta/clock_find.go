package meta

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kitescope/inspect/source"
	"kitescope/internal/hints"
)

// Point is a revision of a store, and when it was written as far as that is known.
type Point struct {
	Revision int64
	Moment   Moment
	// Dated says that Moment is known.
	Dated bool
}

// HeaderAt is the header of a snapshot of a Past that was written at a moment; newest is that of the present. It is no more live than
// a file is: ages count to the moment, and not to now.
func HeaderAt(h, newest source.Header, m Moment) source.Header {
	h.Taken, h.FileDate, h.ByClock = m.Time, false, false
	if h.Origin.Kind != source.KindRecording { // which is one of all its moments
		h.Origin.Kind = source.KindEtcdSnapshot
	}
	h.Lacks = newest.Lacks
	if h.Origin.Detail == "" {
		h.Origin.Detail = newest.Origin.Detail
	}
	return h
}

// errUndated says that no times are known of a store.
var errUndated = errors.New("its revisions have no times: Milvus has reserved no timestamps in it")

// ErrBeforePast says that a time is before all that a store still knows.
var ErrBeforePast = errors.New("is before the oldest that there is")

const revisionHint = "name a revision: --at rev:N"

// tickPace is at most what lies between two ticks of a Milvus that works.
const tickPace = reservedAhead + writeTime

// PointAt is the state of a Past at a time: the last revision that was not written after it. Only the key of the clock is read, at
// some twenty revisions at most, however many there are. newest is the header of the present, or of the last moment of a file.
func PointAt(ctx context.Context, past source.Past, newest source.Header, at time.Time) (Point, error) {
	f := &finder{past: past, newest: newest, clock: newClock(newest), at: at}
	if err := f.search(ctx); err != nil {
		return Point{}, err
	}
	revision, known := f.clock.Revision(at)
	if !known {
		return Point{}, f.tooOld(ctx)
	}
	if err := f.clock.fill(ctx, past, revision); err != nil {
		return Point{}, err
	}
	revision, _ = f.clock.Revision(at)
	// A tick is in the store behind the compaction too that was written before it.
	_, err := f.tick(ctx, revision)
	if errors.Is(err, source.ErrCompacted) {
		return Point{}, f.tooOld(ctx)
	}
	return f.clock.point(revision), err
}

// PointOf is a revision with its time.
func PointOf(ctx context.Context, past source.Past, newest source.Header, revision int64) (Point, error) {
	c, err := NewClock(ctx, past, newest, revision)
	if err == nil {
		err = c.lookBehind(ctx, past, newest, revision)
	}
	if err == nil {
		err = c.fill(ctx, past, revision)
	}
	if err != nil {
		return Point{}, err
	}
	return c.point(revision), nil
}

// lookBehind reads the first tick behind a revision, if there is one.
func (c *Clock) lookBehind(ctx context.Context, past source.Past, newest source.Header, revision int64) error {
	// The tick behind it is near: what is looked at gets twice as far with each step.
	for step := int64(16); ; step *= 2 {
		look := min(revision+step, newest.Revision)
		if err := c.look(ctx, past, newest, look); err != nil {
			return err
		}
		if _, after := c.around(revision); after != nil && after.revision <= look || look >= newest.Revision {
			break
		}
	}
	for { // and back to the first one
		_, after := c.around(revision)
		if after == nil || after.revision-1 <= revision {
			return nil
		}
		known := after.revision
		if err := c.look(ctx, past, newest, known-1); err != nil {
			return err
		}
		if _, after := c.around(revision); after.revision == known {
			return nil
		}
	}
}

func (c *Clock) point(revision int64) Point {
	p := Point{Revision: revision}
	p.Moment, p.Dated = c.At(revision)
	return p
}

// finder looks for the two ticks around a time.
type finder struct {
	past   source.Past
	newest source.Header
	clock  *Clock
	at     time.Time
	// low is a revision of which the last tick is not behind the time, or the oldest that there is. high is the first one that
	// is known to be behind it.
	low  int64
	from *tick // the tick of low, nil where it is not known to be before the time
	high tick
}

func (f *finder) search(ctx context.Context) error {
	last, err := f.tick(ctx, f.newest.Revision)
	switch {
	case err != nil:
		return err
	case last == nil:
		return hints.Errorf(revisionHint, "read the past of %s: %w", f.newest.Origin.Location, errUndated)
	case !last.at.After(f.at):
		return f.tooNew(last)
	}
	f.high = *last
	for step := 1; f.low+1 < f.high.revision; step++ {
		guess := f.guess(step)
		t, err := f.tick(ctx, guess)
		if gone, ok := errors.AsType[*source.RevisionError](err); ok && guess < gone.Oldest && f.low < gone.Oldest {
			if guess = gone.Oldest; guess >= f.high.revision {
				return nil
			}
			t, err = f.tick(ctx, guess)
		}
		switch {
		case err != nil:
			return err
		case t == nil:
			f.low = guess // Milvus was not there yet
		case t.at.After(f.at):
			if t.revision >= f.high.revision {
				return fmt.Errorf("read the history of %s: revision %d has a later time", f.newest.Origin.Location, guess)
			}
			f.high = *t
		default:
			f.low, f.from = guess, t
		}
	}
	return nil
}

// guess is the next revision to look at: the one before the tick behind the time where that is near, else one at the pace of those that
// are known, and every third time the one in the middle, as a pace may change.
func (f *finder) guess(step int) int64 {
	first, last := f.low+1, f.high.revision-1
	away := f.high.at.Sub(f.at)
	middle := first + (last-first)/2
	var pace float64 // revisions in a nanosecond
	switch before, _ := f.clock.around(last); {
	case step == 1 || away <= tickPace:
		return last
	case f.from != nil && f.high.at.After(f.from.at):
		pace = float64(f.high.revision-f.from.revision) / float64(f.high.at.Sub(f.from.at))
	case before != nil && f.high.at.After(before.at):
		pace = float64(f.high.revision-before.revision) / float64(f.high.at.Sub(before.at))
	}
	if step%3 == 0 || pace == 0 {
		return middle
	}
	back := min(pace*float64(away), float64(last-first))
	return last - int64(back)
}

// tick is the newest one of a revision, nil if there is none.
func (f *finder) tick(ctx context.Context, revision int64) (*tick, error) {
	if err := f.clock.look(ctx, f.past, f.newest, revision); err != nil {
		return nil, err
	}
	before, _ := f.clock.around(revision)
	return before, nil
}

// tooNew refuses a time that is behind all of which something is known.
func (f *finder) tooNew(last *tick) error {
	end, _, _ := f.clock.end(last, nil)
	if f.at.After(end) {
		return hints.Errorf("omit --at for the newest state", "read the past of %s: %s is behind its end at %s",
			f.newest.Origin.Location, clockText(f.at), clockText(end))
	}
	return nil
}

// tooOld refuses a time from which nothing is left, and says what is the oldest.
func (f *finder) tooOld(ctx context.Context) error {
	const advice = "older history is only in files saved then; etcd keeps as much as --auto-compaction-retention sets"
	oldest, err := f.past.Oldest(ctx, f.newest)
	if err != nil {
		return err
	}
	p, err := PointOf(ctx, f.past, f.newest, oldest)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("revision %d", oldest)
	switch first := f.clock.ticks; { // the next second, of which the revision is there
	case p.Dated:
		text = fmt.Sprintf("%s (--at rev:%d)", clockText(p.Moment.Time.Add(time.Second-1)), oldest)
	case len(first) > 0:
		text = fmt.Sprintf("%s (--at rev:%d)", clockText(first[0].at.Add(time.Second-1)), first[0].revision)
	}
	return hints.Errorf(advice, "read the past of %s: %s %w: %s", f.newest.Origin.Location, clockText(f.at), ErrBeforePast, text)
}

func clockText(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
