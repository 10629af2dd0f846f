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

// pinned is called when the source is pinned, at the start and after each reconnect. It fills the missed changes
// into the chunk, continues after the last chunk, or starts a new one.
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

// another reports whether h is not a continuation of the recorded etcd. Clusters are compared by id, or by location
// if an id is unknown. A different root or metadata path, or a lower revision, also counts.
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

// fill adds the missed changes after revision last. It returns an error if the source no longer has them.
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

// later reports whether a failed write is retried: by the next start if ctx has ended, or in the next interval
// after a file error, which it reports.
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

// goOn begins a chunk where the last one ended, if the source still has that revision. It reports whether it did so
// or will be retried.
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
	if err == nil && r.chunk != nil { // nil if there was no space for the initial gap
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

// gone closes and removes a published chunk that is useless.
func (c *chunk) gone() {
	_ = c.file.Close()
	_ = os.Remove(c.path)
}

// start begins a new chunk with the keys of snap and prunes old ones. It records a pending write failure as a gap.
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

// changed adds the changes of a revision, unless the chunk already has them.
func (r *Recorder) changed(revision int64, events []source.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.chunk == nil || revision < r.chunk.changes.Revision() || revision <= r.chunk.known {
		return // already in the chunk
	}
	if err := r.chunk.add(r.o.Now(), revision, events); err != nil {
		r.fail(err)
	}
}

// settle syncs pending changes to disk. It begins the next chunk if the current one is full, or if there is none
// because writing failed.
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
		return // etcd is not responding, which heard reports
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

// fail closes the chunk after a write error and reports the error once. Readers read the chunk up to its last
// complete part.
func (r *Recorder) fail(err error) {
	if r.chunk != nil {
		_ = r.chunk.file.Close()
		r.ended = r.chunk.header
		r.ended.Revision = r.chunk.reached
		r.chunk = nil
	}
	if r.broken.IsZero() {
		if file, ok := errors.AsType[*fs.PathError](err); ok {
			err = file.Err // the caller adds the path
		}
		r.broken, r.why = r.o.Now(), err.Error()
		r.o.Say(fmt.Sprintf("cannot write: %v: retrying every %s", err, r.o.Every))
	}
}

// end completes the current chunk, if there is one.
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
