package session

import (
	"context"
	"errors"
	"sync"
	"time"

	"kitescope/inspect/history"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/news"
	"kitescope/inspect/session/kept"
	"kitescope/inspect/source"
)

// past is what the source of a Feed keeps of what was. One reads at a time.
type past struct {
	source source.Past
	want   meta.Want
	kept   laying

	mu     sync.Mutex
	newest source.Header // of when the history was read last
	film   *meta.Film    // of the clusters that were asked for
	shown  *kept.Moments // the same, with what processes said
	reader *history.Reader
	last   int64 // the revision up to which the reader was told
	known  *history.History
	// own are sources that this one was turned to, the newest last: what reads the one before goes on for a while.
	own []source.Source
	// told is the newest cluster that was told of since.
	told *model.Cluster
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
		return nil, nil //nolint:nilnil,nilerr // most sources have none
	}
	return &past{source: of, want: want, kept: layThen}, nil
}

// first is the cluster of the moment that was asked for. Recordings that were named too are of then.
func (f *Feed) first(ctx context.Context, p *past) (*model.Cluster, error) {
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
	return kept.With(ctx, src, c)
}

// load reads the cluster of a moment from the source.
func (p *past) load(ctx context.Context, at At, lay laying) (*model.Cluster, error) {
	snap, err := (&then{past: p.source, at: at}).Pin(ctx)
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	c, err := meta.Load(ctx, snap, p.want)
	if err != nil {
		return nil, err
	}
	return lay(ctx, p.source, c)
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

// At implements news.Past. All that lies between is read once, so that a step costs what it changes; a live etcd's again for what it
// has got since then.
func (p *past) At(ctx context.Context, revision int64) (*model.Cluster, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.reach(ctx, revision); err != nil {
		return nil, err
	}
	if p.film == nil || p.film.Cut() && revision < p.film.From() { // there was too much to keep, or it is not there
		return p.load(ctx, At{text: "rev", revision: revision}, p.kept)
	}
	return p.shown.At(ctx, revision)
}

// Film implements news.Past.
func (p *past) Film(ctx context.Context, revision int64) (news.Film, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.reach(ctx, revision); err != nil {
		return nil, err
	}
	if p.film == nil {
		return nil, &source.RevisionError{Where: p.source.Origin().Location, Wanted: revision, Newest: p.newest.Revision}
	}
	return p.shown.Film(ctx), nil
}

// reach has the film go on to a revision, where the source has it.
func (p *past) reach(ctx context.Context, revision int64) error {
	if p.film != nil && revision <= p.film.To() {
		return nil
	}
	if err := p.pin(ctx); err != nil {
		return err
	}
	if revision > p.newest.Revision {
		return nil
	}
	return p.grow(ctx)
}

// grow has the film go on to the newest revision, with what processes said.
func (p *past) grow(ctx context.Context) error {
	err := p.growFilm(ctx)
	if err == nil {
		p.shown = kept.MomentsOf(p.source, p.film, p.newest.Taken)
	}
	return err
}

// growFilm has the film go on to the newest revision: what was read before is not read again, also where etcd was compacted meanwhile.
func (p *past) growFilm(ctx context.Context) error {
	if p.film != nil {
		err := p.source.Changes(ctx, p.newest, p.film.To(), p.newest.Revision, func(revision int64, events []source.Event) error {
			return p.film.Add(revision, p.newest.Taken, events)
		})
		if err == nil {
			err = p.film.Add(p.newest.Revision, p.newest.Taken, nil)
		}
		if err == nil {
			return nil
		}
		p.film = nil // it may have been told half of a revision
		if !errors.Is(err, source.ErrCompacted) {
			return err
		}
	}
	film, err := meta.ReadFilm(ctx, p.source, p.newest, p.want, meta.FilmOptions{Grow: grows(p.source)})
	if err == nil {
		p.film = film
	}
	return err
}

// grows reports whether there may be more of a source later.
func grows(src source.Source) bool {
	kind := src.Origin().Kind
	return kind == source.KindEtcd || kind == source.KindRecording
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
	point, err := at.Point(ctx, p.source, p.newest, p.newest.Taken)
	return point.Revision, err
}
