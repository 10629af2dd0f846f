package session

import (
	"context"
	"sync"

	"kitescope/inspect/history"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/news"
	"kitescope/inspect/source"
)

// past is what the source of a Feed keeps of what was. One reads at a time.
type past struct {
	source source.Past
	want   meta.Want
	kept   func(context.Context, source.Source, *model.Cluster) (*model.Cluster, error)

	mu     sync.Mutex
	newest source.Header // of when the history was read last
	reader *history.Reader
	last   int64 // the revision up to which the reader was told
	known  *history.History
}

var _ news.Past = (*past)(nil)

// mostEvents is how many events are kept of a source that goes on: then its history is read anew, from what etcd still has.
const mostEvents = 500_000

// momentError says that the moment which was asked for is not there.
type momentError struct{ error }

// pastOf is what a source keeps of the past, nil where it keeps nothing or nobody asks for it.
func (f *Feed) pastOf(src source.Source, want meta.Want) (*past, error) {
	if !f.Steps {
		return nil, nil //nolint:nilnil // nobody asks
	}
	of, err := source.PastOf(src)
	switch {
	case err != nil && !f.At.IsZero():
		return nil, &momentError{err}
	case err != nil:
		return nil, nil //nolint:nilnil // most sources have none
	}
	p := &past{source: of, want: want}
	if _, isLive := src.(source.Watcher); !isLive {
		p.kept = f.Kept
	}
	return p, nil
}

// first is the cluster of a moment that a person has named.
func (p *past) first(ctx context.Context, at At) (*model.Cluster, error) {
	return p.load(ctx, &then{past: p.source, at: at})
}

func (p *past) load(ctx context.Context, src source.Source) (*model.Cluster, error) {
	snap, err := src.Pin(ctx)
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	c, err := meta.Load(ctx, snap, p.want)
	if err != nil || p.kept == nil {
		return c, err
	}
	return p.kept(ctx, p.source, c)
}

// History implements news.Past. What etcd was compacted away meanwhile is still known.
func (p *past) History(ctx context.Context) (*history.History, error) {
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
		p.known = p.reader.SoFar()
	}
	return p.known, nil
}

// pin finds out which revision is the newest.
func (p *past) pin(ctx context.Context) error {
	snap, err := p.source.Pin(ctx)
	if err != nil {
		return err
	}
	p.newest = snap.Header()
	return snap.Close()
}

// begin reads the oldest state that there is.
func (p *past) begin(ctx context.Context) error {
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

// At implements news.Past.
func (p *past) At(ctx context.Context, revision int64) (*model.Cluster, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil || revision > p.known.To {
		return p.load(ctx, &then{past: p.source, at: At{text: "rev", revision: revision}})
	}
	return p.load(ctx, &known{p, revision})
}

// Find implements news.Past.
func (p *past) Find(ctx context.Context, form string) (int64, error) {
	var at At
	if err := at.Set(form); err != nil {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.pin(ctx); err != nil {
		return 0, err
	}
	point, err := at.point(ctx, p.source, p.newest)
	return point.Revision, err
}

// known is a source as it was at a revision that the history dates.
type known struct {
	*past
	revision int64
}

// Origin implements source.Source.
func (k *known) Origin() source.Origin { return k.source.Origin() }

// Close implements source.Source: it is closed by who follows it.
func (k *known) Close() error { return nil }

// Pin implements source.Source.
func (k *known) Pin(ctx context.Context) (source.Snapshot, error) {
	snap, err := k.source.PinAt(ctx, k.newest, k.revision)
	if err != nil {
		return nil, err
	}
	taken, _ := k.past.known.When(k.revision)
	h := snap.Header()
	h.Taken, h.FileDate, h.ByClock = taken, false, false
	h.Origin.Kind = source.KindEtcdSnapshot
	h.Lacks = k.newest.Lacks
	return &dated{snap, h}, nil
}
