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

// Past is what a source keeps of what was. One reads at a time.
type Past struct {
	source source.Past
	want   meta.Want
	kept   laying
	// reading is the snapshot that is read; nil: none is.
	reading atomic.Pointer[Reading]

	mu     sync.Mutex
	newest source.Header // of when it was looked for last
	reader *history.Reader
	last   int64 // the revision up to which the reader was told
	known  *history.History
}

var _ history.Past = (*Past)(nil)

// PastOf returns what a source keeps of what was.
func PastOf(src source.Source, want meta.Want) (*Past, error) {
	of, err := source.PastOf(src)
	if err != nil {
		return nil, err
	}
	return &Past{source: of, want: want, kept: layThen}, nil
}

// mostEvents is how many events are kept of a source that goes on: then its history is read anew, from what etcd still has.
const mostEvents = 500_000

// momentError says that the moment which was asked for is not there.
type momentError struct{ error }

// pastOf is what a source keeps of the past, nil where it keeps nothing or nobody asks for it.
func (f *Feed) pastOf(src source.Source, want meta.Want) (*Past, error) {
	if !f.Steps {
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

// first is the cluster of the moment that was asked for. Recordings that were named too are of then.
func (f *Feed) first(ctx context.Context, p *Past) (*model.Cluster, error) {
	lay := p.kept
	if _, isBundle := p.source.(*source.Bundle); f.Kept != nil && !isBundle {
		lay = f.Kept
	}
	return p.load(ctx, f.At, lay)
}

// laying lays what is kept of processes over a cluster.
type laying = func(context.Context, source.Source, *model.Cluster) (*model.Cluster, error)

// layThen lays what processes said at a moment over its cluster. A bundle has what they said at the end, which is not of the past, if
// it is no chunk of a recording.
func layThen(ctx context.Context, src source.Source, c *model.Cluster) (*model.Cluster, error) {
	if b, ok := src.(*source.Bundle); ok && !b.Manifest().History.Recorded {
		return c, nil
	}
	return WithKept(ctx, src, c)
}

// load reads the cluster of a moment from the source.
func (p *Past) load(ctx context.Context, at At, lay laying) (*model.Cluster, error) {
	src := &then{past: p.source, at: at}
	snap, err := src.Pin(ctx)
	if err != nil {
		return nil, err
	}
	snap = p.counted(snap)
	defer p.reading.Store(nil)
	defer snap.Close()
	c, err := meta.Load(ctx, snap, p.want)
	if err != nil {
		return nil, err
	}
	return lay(ctx, p.source, withRecent(ctx, src, c, maxDial))
}

// History implements history.Past. What etcd was compacted away meanwhile is still known.
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
			p.reader, p.known = nil, nil // it may have been told half of a revision
			return nil, err
		}
		p.last = p.newest.Revision
		seen := time.Time{}
		if p.newest.ByClock {
			seen = p.newest.Taken
		}
		known := p.reader.SoFar(seen)
		if err := known.Date(ctx, p.source); err != nil {
			return nil, err
		}
		p.known = known
	}
	return p.known, nil
}

// pin finds out which revision is the newest.
func (p *Past) pin(ctx context.Context) error {
	snap, err := p.source.Pin(ctx)
	if err != nil {
		return err
	}
	p.newest = snap.Header()
	return snap.Close()
}

// begin reads the oldest state that there is.
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
		c, err := p.load(ctx, At{text: "rev", revision: revisions[0]}, p.kept)
		return append(list, c), err
	}
	if err := p.pin(ctx); err != nil {
		return nil, err
	}
	defer p.reading.Store(nil)
	err := meta.Moments(ctx, countedPast{p.source, p}, p.newest, p.want, p.points(ctx, revisions), func(c *model.Cluster) error {
		c, err := p.kept(ctx, p.source, c)
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

// counted returns a snapshot whose reading Progress tells of.
func (p *Past) counted(snap source.Snapshot) source.Snapshot {
	r := NewReading(snap, 0, nil)
	p.reading.Store(r)
	return r
}

// countedPast counts what is read of its moments.
type countedPast struct {
	source.Past
	p *Past
}

// PinAt implements source.Past.
func (c countedPast) PinAt(ctx context.Context, newest source.Header, revision int64) (source.Snapshot, error) {
	snap, err := c.Past.PinAt(ctx, newest, revision)
	if err != nil {
		return nil, err
	}
	return c.p.counted(snap), nil
}

// points returns revisions with their times, one after the other.
func (p *Past) points(ctx context.Context, revisions []int64) func() (meta.Point, bool, error) {
	return func() (meta.Point, bool, error) {
		if len(revisions) == 0 {
			return meta.Point{}, false, nil
		}
		revision := revisions[0]
		revisions = revisions[1:]
		if h := p.known; h != nil && revision >= h.From && revision < h.To { // it has read the timestamps
			at, wrong := h.When(revision)
			return meta.Point{Revision: revision, Moment: meta.Moment{Time: at, Error: wrong}, Dated: !at.IsZero()}, true, nil
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
			point, err = rounds.Snap(ctx, point)
		}
		point.Revision = max(point.Revision, last) // a clock that was set back
		last = point.Revision
		return point, ok && err == nil, err
	}
	return meta.Moments(ctx, p.source, p.newest, p.want, snapped, func(c *model.Cluster) error { return visit(rounds.Lay(c)) })
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
