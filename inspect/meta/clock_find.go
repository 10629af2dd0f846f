package meta

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kitescope/inspect/source"
	"kitescope/internal/hints"
)

// Point is a revision of a store and the time of its write, if known.
type Point struct {
	Revision int64
	Moment   Moment
	// Dated reports whether Moment is known.
	Dated bool
}

// HeaderAt returns the header of a snapshot of a Past at a moment. newest is the header of the present. The result
// counts as a file, so ages refer to the moment and not to the current time.
func HeaderAt(h, newest source.Header, m Moment) source.Header {
	h.Taken, h.FileDate, h.ByClock = m.Time, false, false
	if h.Origin.Kind != source.KindRecording { // a recording covers all its moments
		h.Origin.Kind = source.KindEtcdSnapshot
	}
	h.Omitted = newest.Omitted
	if h.Origin.Detail == "" {
		h.Origin.Detail = newest.Origin.Detail
	}
	return h
}

// errUndated means that a store has no times.
var errUndated = errors.New("its revisions have no times: Milvus has not reserved any timestamps in it")

// ErrBeforePast means that a time is before the oldest state of a store.
var ErrBeforePast = errors.New("is before the oldest state available")

const revisionHint = "name a revision: --at rev:N"

// maxTickGap is the longest distance of two ticks of a working Milvus.
const maxTickGap = reservedAhead + writeTime

// PointAt returns the state of a Past at a time: the last revision that was written no later. It reads only the
// allocator's keys, at about twenty-five revisions at most, regardless of the number of revisions. newest is the
// header of the present, or of the last moment of a file.
func PointAt(ctx context.Context, past source.Past, newest source.Header, at time.Time) (Point, error) {
	f := &finder{past: past, newest: newest, clock: newClock(newest), at: at}
	last, err := f.tick(ctx, newest.Revision)
	switch {
	case err != nil:
		return Point{}, err
	case last == nil:
		return Point{}, hints.Errorf(revisionHint, "read the past of %s: %w", newest.Origin.Location, errUndated)
	case last.at.After(at):
		err = f.bisect(ctx, 0, last.revision, func(t *tick) bool { return t.at.After(at) })
	default:
		err = f.tooNew(last)
	}
	if err != nil {
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
	// The tick before the revision may be present even though the revision itself was compacted.
	_, err = f.tick(ctx, revision)
	if errors.Is(err, source.ErrCompacted) {
		return Point{}, f.tooOld(ctx)
	}
	return f.clock.point(revision), err
}

// PointOf returns a revision and its time.
func PointOf(ctx context.Context, past source.Past, newest source.Header, revision int64) (Point, error) {
	f := &finder{past: past, newest: newest, clock: newClock(newest)}
	_, err := f.tick(ctx, revision)
	if last, _ := f.clock.around(newest.Revision); err == nil && last != nil {
		err = f.bisect(ctx, revision, last.revision, func(t *tick) bool { return t.revision > revision })
	}
	if err == nil {
		err = f.clock.fill(ctx, past, revision)
	}
	if err != nil {
		return Point{}, err
	}
	return f.clock.point(revision), nil
}

func (c *Clock) point(revision int64) Point {
	p := Point{Revision: revision}
	p.Moment, p.Dated = c.At(revision)
	return p
}

// finder reads the ticks of a Past around a time or a revision.
type finder struct {
	past   source.Past
	newest source.Header
	clock  *Clock
	at     time.Time
}

// bisect reads the ticks around the first tick after revision low that satisfies is, by binary search. high is the
// revision of a tick that satisfies it. Compacted revisions are skipped.
func (f *finder) bisect(ctx context.Context, low, high int64, is func(t *tick) bool) error {
	for low+1 < high {
		guess := low + (high-low)/2
		t, err := f.tick(ctx, guess)
		if gone, ok := errors.AsType[*source.RevisionError](err); ok && low < gone.Oldest && guess < gone.Oldest {
			if guess = gone.Oldest; guess >= high {
				return nil
			}
			t, err = f.tick(ctx, guess)
		}
		switch {
		case err != nil:
			return err
		case t != nil && is(t):
			high = t.revision
		default:
			low = guess
		}
	}
	return nil
}

// tick returns the newest tick up to a revision, nil if there is none.
func (f *finder) tick(ctx context.Context, revision int64) (*tick, error) {
	if err := f.clock.readTick(ctx, f.past, f.newest, revision); err != nil {
		return nil, err
	}
	before, _ := f.clock.around(revision)
	return before, nil
}

// tooNew returns an error if the time is after the end of the past.
func (f *finder) tooNew(last *tick) error {
	end, _, _ := f.clock.end(last, nil)
	if f.at.After(end) {
		return hints.Errorf("omit --at for the newest state", "read the past of %s: %s is after its end at %s",
			f.newest.Origin.Location, clockText(f.at), clockText(end))
	}
	return nil
}

// tooOld returns an error for a time before the past. The error names the oldest point.
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
	switch first := f.clock.ticks; { // rounded up to the next second, whose revision still exists
	case p.Dated:
		text = fmt.Sprintf("%s (--at rev:%d)", clockText(p.Moment.Time.Add(time.Second-1)), oldest)
	case len(first) > 0:
		text = fmt.Sprintf("%s (--at rev:%d)", clockText(first[0].at.Add(time.Second-1)), first[0].revision)
	}
	return hints.Errorf(advice, "read the past of %s: %s %w: %s", f.newest.Origin.Location, clockText(f.at),
		ErrBeforePast, text)
}

func clockText(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
