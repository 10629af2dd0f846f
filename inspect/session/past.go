package session

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"kitescope/inspect/history"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// Past reads the history of a source. Its methods may be called concurrently, but read one at a time.
type Past struct {
	source    source.Past
	want      meta.Want
	addStored addStateFunc
	// reading is the snapshot being read, or nil.
	reading atomic.Pointer[Reading]

	mu     sync.Mutex
	newest source.Header // as of the last call of pin
	reader *history.Reader
	last   int64 // the last revision applied to the reader
	known  *history.History
}

var _ history.Past = (*Past)(nil)

// PastOf returns the history of a source. It returns an error if the source has none.
func PastOf(src source.Source, want meta.Want) (*Past, error) {
	of, err := source.PastOf(src)
	if err != nil {
		return nil, err
	}
	return &Past{source: of, want: want, addStored: addPastState}, nil
}

// mostEvents is the maximum number of events kept of a source that changes. Beyond it, the history is read again
// from the revisions that etcd still has.
const mostEvents = 500_000

// momentError wraps an error for a requested moment that is not available.
type momentError struct{ error }

// pastOf returns the history of a source, or nil if the source has no history or WithHistory is not set. It returns
// an error if At is set and the source has no history.
func (f *Feed) pastOf(src source.Source, want meta.Want) (*Past, error) {
	if !f.WithHistory {
		return nil, nil //nolint:nilnil // nobody asks
	}
	p, err := PastOf(src, want)
	switch {
	case err != nil && !f.At.IsZero():
		return nil, &momentError{err}
	case err != nil:
		return nil, nil //nolint:nilnil,nilerr // most sources have none
	}
	return p, nil
}

// first returns the cluster at the requested moment. Separate recordings are assumed to be from that moment.
func (f *Feed) first(ctx context.Context, p *Past) (*model.Cluster, error) {
	lay := p.addStored
	if _, isBundle := p.source.(*source.Bundle); f.AddStored != nil && !isBundle {
		lay = f.AddStored
	}
	return p.load(ctx, f.At, lay)
}

// addStateFunc is a function that adds stored process state to a cluster.
type addStateFunc = func(context.Context, source.Source, *model.Cluster) (*model.Cluster, error)

// addPastState adds the process state of a past moment to its cluster. A bundle that is not a chunk of a recording has
// only the state at its end, so c is returned unchanged.
func addPastState(ctx context.Context, src source.Source, c *model.Cluster) (*model.Cluster, error) {
	if b, ok := src.(*source.Bundle); ok && !b.Manifest().History.Recorded {
		return c, nil
	}
	return WithStored(ctx, src, c)
}

// load reads the cluster at a moment from the source.
func (p *Past) load(ctx context.Context, at At, addState addStateFunc) (*model.Cluster, error) {
	src := &pastSource{past: p.source, at: at}
	snap, err := src.Pin(ctx)
	if err != nil {
		return nil, err
	}
	snap = p.countReads(snap)
	defer p.reading.Store(nil)
	defer snap.Close()
	c, err := meta.Load(ctx, snap, p.want)
	if err != nil {
		return nil, err
	}
	return addState(ctx, p.source, withRecent(ctx, src, c, maxDial))
}

// History implements history.Past. It still includes revisions that etcd has compacted since they were read.
func (p *Past) History(ctx context.Context) (*history.History, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.pin(ctx); err != nil {
		return nil, err
	}
	if p.reader == nil || p.known != nil && p.known.Len() > mostEvents && p.newest.Revision > p.last {
		if err := p.begin(ctx); err != nil {
			return nil, err
		}
	}
	if p.newest.Revision > p.last || p.known == nil {
		if err := p.source.Changes(ctx, p.newest, p.last, p.newest.Revision, p.reader.Apply); err != nil {
			p.reader, p.known = nil, nil // it may have applied part of a revision
			return nil, err
		}
		p.last = p.newest.Revision
		seen := time.Time{}
		if p.newest.ByClock {
			seen = p.newest.Taken
		}
		known := p.reader.Snapshot(seen)
		if err := known.Date(ctx, p.source); err != nil {
			return nil, err
		}
		p.known = known
	}
	return p.known, nil
}

// pin updates p.newest to the newest revision.
func (p *Past) pin(ctx context.Context) error {
	snap, err := p.source.Pin(ctx)
	if err != nil {
		return err
	}
	p.newest = snap.Header()
	return snap.Close()
}

// begin starts a new reader at the oldest available revision.
func (p *Past) begin(ctx context.Context) error {
	oldest, err := p.source.Oldest(ctx, p.newest)
	if err != nil {
		return err
	}
	snap, err := p.source.PinAt(ctx, p.newest, oldest)
	if err != nil {
		return err
	}
	defer snap.Close()
	r, err := history.NewReader(snap.Header())
	if err != nil {
		return err
	}
	if err := r.Begin(ctx, snap); err != nil {
		return err
	}
	p.reader, p.last, p.known = r, oldest, nil
	return nil
}

// At implements history.Past.
func (p *Past) At(ctx context.Context, revisions ...int64) ([]*model.Cluster, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]*model.Cluster, 0, len(revisions))
	if len(revisions) == 1 {
		c, err := p.load(ctx, At{text: "rev", revision: revisions[0]}, p.addStored)
		return append(list, c), err
	}
	if err := p.pin(ctx); err != nil {
		return nil, err
	}
	defer p.reading.Store(nil)
	err := meta.Moments(ctx, countingPast{p.source, p}, p.newest, p.want, p.points(ctx, revisions),
		func(c *model.Cluster) error {
			c, err := p.addStored(ctx, p.source, c)
			list = append(list, c)
			return err
		})
	return list, err
}

// Progress implements history.Past.
func (p *Past) Progress() string {
	r := p.reading.Load()
	if r == nil {
		return ""
	}
	return Progress{r.keys.Load(), r.bytes.Load()}.String()
}

// countReads wraps a snapshot so that Progress reports how much of the snapshot was read.
func (p *Past) countReads(snap source.Snapshot) source.Snapshot {
	r := NewReading(snap, 0, nil)
	p.reading.Store(r)
	return r
}

// countingPast is a source.Past whose snapshots are counted for Progress.
type countingPast struct {
	source.Past
	p *Past
}

// PinAt implements source.Past.
func (c countingPast) PinAt(ctx context.Context, newest source.Header, revision int64) (source.Snapshot, error) {
	snap, err := c.Past.PinAt(ctx, newest, revision)
	if err != nil {
		return nil, err
	}
	return c.p.countReads(snap), nil
}

// points returns an iterator over revisions with their times. Its bool result is false after the last.
func (p *Past) points(ctx context.Context, revisions []int64) func() (meta.Point, bool, error) {
	return func() (meta.Point, bool, error) {
		if len(revisions) == 0 {
			return meta.Point{}, false, nil
		}
		revision := revisions[0]
		revisions = revisions[1:]
		if h := p.known; h != nil && revision >= h.From && revision < h.To { // its timestamps are already read
			at, wrong := h.When(revision)
			return meta.Point{Revision: revision, Moment: meta.Moment{Time: at, Error: wrong}, Dated: !at.IsZero()},
				true, nil
		}
		point, err := meta.PointOf(ctx, p.source, p.newest, revision)
		return point, err == nil, err
	}
}

// Survey implements history.Past.
func (p *Past) Survey(ctx context.Context, revisions []int64, visit func(*model.Cluster) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.pin(ctx); err != nil {
		return err
	}
	next := p.points(ctx, revisions)
	rounds := RoundsOf(p.source)
	if rounds == nil {
		return meta.Moments(ctx, p.source, p.newest, p.want, next, visit)
	}
	defer rounds.Close()
	last := int64(0)
	snapped := func() (meta.Point, bool, error) {
		point, ok, err := next()
		if err == nil && ok {
			point, err = rounds.SnapToRound(ctx, point)
		}
		point.Revision = max(point.Revision, last) // the clock may have been set back
		last = point.Revision
		return point, ok && err == nil, err
	}
	return meta.Moments(ctx, p.source, p.newest, p.want, snapped, func(c *model.Cluster) error {
		return visit(rounds.AddState(c))
	})
}

// Find implements history.Past.
func (p *Past) Find(ctx context.Context, form string) (int64, error) {
	var at At
	if err := at.Set(form); err != nil {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.pin(ctx); err != nil {
		return 0, err
	}
	point, err := at.Point(ctx, p.source, p.newest, p.newest.Taken)
	return point.Revision, err
}
