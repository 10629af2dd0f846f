package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kitescope/inspect/history"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

const (
	// tailEvery is how often it is looked whether there is more of a recording.
	tailEvery = 2 * time.Second
	// tailRest is how many times as long as reading the newest state took nothing is read: of a large cluster that is work.
	tailRest = 10
)

// tail tells of a recording that is still written until ctx ends.
func (f *Feed) tail(ctx context.Context, src *source.Recording, p *Past, want meta.Want, emit func(history.Update)) error {
	rest, failed := tailEvery, false
	for {
		select {
		case <-time.After(rest):
		case <-ctx.Done():
			return ctx.Err()
		}
		if !src.Grown() {
			continue
		}
		began := time.Now()
		next, c, err := f.turn(ctx, p, want)
		rest = max(tailEvery, tailRest*time.Since(began))
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			failed = true
			emit(history.Update{Err: err})
			continue
		case !failed && sameMoment(p.told, c):
			src = next
			continue
		}
		src, failed, p.told = next, false, c
		emit(history.Update{Cluster: c})
	}
}

// sameMoment reports whether nothing was recorded between two states but bytes that are not whole yet.
func sameMoment(a, b *model.Cluster) bool {
	return a != nil && a.Origin.Revision == b.Origin.Revision && a.Origin.Taken.Equal(b.Origin.Taken)
}

// turn opens a recording again, has its past go on there, and reads its newest state.
func (f *Feed) turn(ctx context.Context, p *Past, want meta.Want) (*source.Recording, *model.Cluster, error) {
	opened, err := f.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	src, ok := opened.(*source.Recording)
	if !ok {
		return nil, nil, errors.Join(fmt.Errorf("read %s: no longer a recording", opened.Origin().Location), opened.Close())
	}
	c, err := p.turnTo(ctx, src, want, f.Kept)
	if err != nil {
		return nil, nil, err
	}
	return src, c, nil
}

// turnTo has the past go on in a source that was opened later, which it closes, and returns its newest cluster.
func (p *Past) turnTo(ctx context.Context, src source.Past, want meta.Want, lay laying) (*model.Cluster, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.source, p.own = src, append(p.own, src)
	const open = 2
	for len(p.own) > open {
		_ = p.own[0].Close() // it was only read
		p.own = p.own[1:]
	}
	if err := p.pin(ctx); err != nil {
		return nil, err
	}
	if p.newest.Revision < p.last { // of another etcd
		p.reader, p.known = nil, nil
	}
	snap, err := src.Pin(ctx)
	if err != nil {
		return nil, err
	}
	c, err := meta.Load(ctx, snap, want)
	if closing := snap.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return nil, err
	}
	if lay == nil {
		return c, nil
	}
	return lay(ctx, src, c)
}

// close closes the sources that it was turned to.
func (p *Past) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, src := range p.own {
		_ = src.Close() // it was only read
	}
	p.own = nil
}
