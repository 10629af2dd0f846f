package record

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"kitescope/inspect/source"
)

// pinned is told where a source is followed from, now or again.
func (r *Recorder) pinned(ctx context.Context, src source.Watcher, snap source.Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := snap.Header()
	r.wants = src
	anew := false
	switch {
	case r.chunk != nil:
		before, last := r.chunk.header, r.chunk.changes.Revision()
		before.Revision = last
		if another(before, h) {
			anew = true
			r.gap(fmt.Sprintf("etcd was restored or replaced: it is at revision %d and was at %d", h.Revision, last))
			break
		}
		err := r.fill(ctx, src, last, h)
		if err == nil || r.later(ctx, err) {
			return
		}
		r.gap(fmt.Sprintf("the changes between revisions %d and %d are lost: %v", last, h.Revision, err))
	case another(r.ended, h):
		anew = true
		r.o.Say("etcd was restored or replaced since the last chunk: starting a new recording")
	case r.goOn(ctx, src, h):
		return
	}
	if err := errors.Join(r.end(), r.start(ctx, snap, anew)); err != nil && ctx.Err() == nil {
		r.fail(err)
	}
}

// another reports whether an etcd is no continuation of what was recorded. It is known by the id of its cluster, and by
// where it is if that is not known.
func another(before, h source.Header) bool {
	if before.Revision == 0 {
		return false
	}
	other := before.Cluster != h.Cluster
	if before.Cluster == 0 || h.Cluster == 0 {
		other = before.Origin.Location != h.Origin.Location
	}
	return other || before.Root != h.Root || before.MetaPath != h.MetaPath || before.Revision > h.Revision
}

// fill adds the changes that were missed, where the source still has them.
func (r *Recorder) fill(ctx context.Context, src source.Source, last int64, h source.Header) error {
	if last == h.Revision {
		return nil
	}
	past, err := source.PastOf(src)
	if err != nil {
		return err
	}
	err = past.Changes(ctx, h, last, h.Revision, func(revision int64, events []source.Event) error {
		return r.chunk.add(r.o.Now(), revision, events)
	})
	if err != nil {
		return err
	}
	if err := r.chunk.changes.Add(r.o.Now(), h.Revision, nil); err != nil {
		return err
	}
	r.chunk.known = h.Revision
	return r.chunk.settle(r.o.Now())
}

// later reports whether what was not written is tried again: a start that comes, or the next interval, fetches it.
func (r *Recorder) later(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return true
	}
	_, disk := errors.AsType[*fs.PathError](err)
	if disk {
		r.fail(err)
	}
	return disk
}

// goOn begins where the last chunk ended, if the source still has that. It is true too where that is to be tried again.
func (r *Recorder) goOn(ctx context.Context, src source.Source, h source.Header) bool {
	past, err := source.PastOf(src)
	if err != nil || r.ended.Revision == 0 || r.ended.Revision >= h.Revision || another(r.ended, h) {
		return false
	}
	then, err := past.PinAt(ctx, h, r.ended.Revision)
	if err != nil {
		return r.later(ctx, err)
	}
	defer then.Close()
	err = r.start(ctx, then, false)
	if err == nil && r.chunk != nil { // else there was no space for what it says first
		err = r.fill(ctx, src, r.ended.Revision, h)
	}
	if err == nil || r.later(ctx, err) {
		return true
	}
	if r.chunk != nil {
		r.chunk.gone()
		r.chunk = nil
	}
	return false
}

// gone removes a chunk that turned out to be of no use.
func (c *chunk) gone() {
	_ = c.file.Close()
	_ = os.Remove(c.path)
}

// start begins a chunk that is written from now on.
func (r *Recorder) start(ctx context.Context, snap source.Snapshot, anew bool) error {
	now := r.o.Now()
	r.number++
	c, err := begin(ctx, filepath.Join(r.o.Dir, source.ChunkName(r.number, now)), snap, now, r.o.Kitescope, anew, r.repeats)
	if err != nil {
		return err
	}
	if err := c.publish(); err != nil {
		c.discard()
		return err
	}
	r.chunk = c
	r.prune()
	if !r.broken.IsZero() {
		text := fmt.Sprintf("nothing was written from %s to %s: %s", clockText(r.broken), clockText(r.o.Now()), r.why)
		r.broken, r.why = time.Time{}, ""
		r.gap(text)
	}
	return nil
}

func clockText(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// changed takes the changes of a revision.
func (r *Recorder) changed(revision int64, events []source.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.chunk == nil || revision < r.chunk.changes.Revision() || revision <= r.chunk.known {
		return // the chunk has it
	}
	if err := r.chunk.add(r.o.Now(), revision, events); err != nil {
		r.fail(err)
	}
}

// settle writes what has come; begins the next chunk where it is time; and tries again where nothing could be written.
func (r *Recorder) settle(ctx context.Context) {
	now := r.now()
	if c := r.chunk; c != nil && !c.asked {
		if err := c.settle(now); err != nil {
			r.fail(err)
		}
	} else if c != nil {
		c.asked = false
	}
	if now.Sub(r.pruned) > time.Minute {
		r.prune()
	}
	if r.wants == nil || ctx.Err() != nil {
		return
	}
	if r.chunk != nil && !r.chunk.full(now, r.o.ChunkAge, r.o.ChunkSize) {
		return
	}
	snap, err := r.wants.Pin(ctx)
	if err != nil {
		return // etcd does not answer: that is said elsewhere
	}
	defer snap.Close()
	if err := r.end(); err != nil {
		r.fail(err)
		return
	}
	if r.goOn(ctx, r.wants, snap.Header()) {
		return
	}
	if err := r.start(ctx, snap, another(r.ended, snap.Header())); err != nil && ctx.Err() == nil {
		r.fail(err)
	}
}

// fail gives up the chunk: what it has is read up to its last whole part.
func (r *Recorder) fail(err error) {
	if r.chunk != nil {
		_ = r.chunk.file.Close()
		r.ended = r.chunk.header
		r.ended.Revision = r.chunk.reached
		r.chunk = nil
	}
	if r.broken.IsZero() {
		if file, ok := errors.AsType[*fs.PathError](err); ok {
			err = file.Err // which file is told by who it is said to
		}
		r.broken, r.why = r.o.Now(), err.Error()
		r.o.Say(fmt.Sprintf("nothing can be written: %v: trying again every %s", err, r.o.Every))
	}
}

// end ends the chunk that is written.
func (r *Recorder) end() error {
	if r.chunk == nil {
		return nil
	}
	c := r.chunk
	r.chunk = nil
	err := c.end(r.o.Now())
	r.repeats, r.ended = c.largest, c.header
	r.ended.Revision = c.reached
	return err
}
