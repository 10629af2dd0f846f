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

// onPin is called when the source is pinned, at the start and after each reconnect. It fills the missed changes
// into the chunk, continues after the last chunk, or starts a new one.
func (r *Recorder) onPin(ctx context.Context, src source.Watcher, snap source.Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := snap.Header()
	r.live = src
	anew := false
	switch {
	case r.chunk != nil:
		before, last := r.chunk.header, r.chunk.changes.Revision()
		before.Revision = last
		if differentEtcd(before, h) {
			anew = true
			r.gap(fmt.Sprintf("etcd was restored or replaced: it is at revision %d and was at %d", h.Revision, last))
			break
		}
		err := r.fill(ctx, src, last, h)
		if err == nil || r.retryLater(ctx, err) {
			return
		}
		r.gap(fmt.Sprintf("the changes between revisions %d and %d are lost: %v", last, h.Revision, err))
	case differentEtcd(r.ended, h):
		anew = true
		r.o.Log("etcd was restored or replaced since the last chunk: starting a new recording")
	case r.continueChunk(ctx, src, h):
		return
	}
	if err := errors.Join(r.end(), r.start(ctx, snap, anew)); err != nil && ctx.Err() == nil {
		r.fail(err)
	}
}

// differentEtcd reports whether h is not a continuation of the recorded etcd. Clusters are compared by id, or by
// location if an id is unknown. A different root or metadata path, or a lower revision, also counts.
func differentEtcd(before, h source.Header) bool {
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
	r.chunk.fetchedTo = h.Revision
	return r.chunk.sync(r.o.Now())
}

// retryLater reports whether a failed write is retried: by the next start if ctx has ended, or in the next interval
// after a file error, which it reports.
func (r *Recorder) retryLater(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return true
	}
	_, disk := errors.AsType[*fs.PathError](err)
	if disk {
		r.fail(err)
	}
	return disk
}

// continueChunk begins a chunk where the last one ended, if the source still has that revision. It reports whether it
// did so or will be retried.
func (r *Recorder) continueChunk(ctx context.Context, src source.Source, h source.Header) bool {
	past, err := source.PastOf(src)
	if err != nil || r.ended.Revision == 0 || r.ended.Revision >= h.Revision || differentEtcd(r.ended, h) {
		return false
	}
	then, err := past.PinAt(ctx, h, r.ended.Revision)
	if err != nil {
		return r.retryLater(ctx, err)
	}
	defer then.Close()
	err = r.start(ctx, then, false)
	if err == nil && r.chunk != nil { // nil if there was no space for the initial gap
		err = r.fill(ctx, src, r.ended.Revision, h)
	}
	if err == nil || r.retryLater(ctx, err) {
		return true
	}
	if r.chunk != nil {
		r.chunk.remove()
		r.chunk = nil
	}
	return false
}

// remove closes and removes a published chunk that is useless.
func (c *chunk) remove() {
	_ = c.file.Close()
	_ = os.Remove(c.path)
}

// start begins a new chunk with the keys of snap and prunes old ones. It records a pending write failure as a gap.
func (r *Recorder) start(ctx context.Context, snap source.Snapshot, restarted bool) error {
	now := r.o.Now()
	r.number++
	c, err := createChunk(ctx, filepath.Join(r.o.Dir, source.ChunkName(r.number, now)), snap, now, r.o.Kitescope,
		restarted, r.repeats)
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
		text := fmt.Sprintf("nothing was written from %s to %s: %s", clockText(r.broken), clockText(r.o.Now()),
			r.brokenReason)
		r.broken, r.brokenReason = time.Time{}, ""
		r.gap(text)
	}
	return nil
}

func clockText(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// onChanges adds the changes of a revision, unless the chunk already has them.
func (r *Recorder) onChanges(revision int64, events []source.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.chunk == nil || revision < r.chunk.changes.Revision() || revision <= r.chunk.fetchedTo {
		return // already in the chunk
	}
	if err := r.chunk.add(r.o.Now(), revision, events); err != nil {
		r.fail(err)
	}
}

// syncOrRotate syncs pending changes to disk. It begins the next chunk if the current one is full, or if there is none
// because writing failed.
func (r *Recorder) syncOrRotate(ctx context.Context) {
	now := r.now()
	if c := r.chunk; c != nil && !c.syncedByRound {
		if err := c.sync(now); err != nil {
			r.fail(err)
		}
	} else if c != nil {
		c.syncedByRound = false
	}
	if now.Sub(r.pruned) > time.Minute {
		r.prune()
	}
	if r.live == nil || ctx.Err() != nil {
		return
	}
	if r.chunk != nil && !r.chunk.full(now, r.o.ChunkAge, r.o.ChunkSize) {
		return
	}
	snap, err := r.live.Pin(ctx)
	if err != nil {
		return // etcd is not responding, which onUpdate reports
	}
	defer snap.Close()
	if err := r.end(); err != nil {
		r.fail(err)
		return
	}
	if r.continueChunk(ctx, r.live, snap.Header()) {
		return
	}
	if err := r.start(ctx, snap, differentEtcd(r.ended, snap.Header())); err != nil && ctx.Err() == nil {
		r.fail(err)
	}
}

// fail closes the chunk after a write error and reports the error once. Readers read the chunk up to its last
// complete part.
func (r *Recorder) fail(err error) {
	if r.chunk != nil {
		_ = r.chunk.file.Close()
		r.ended = r.chunk.header
		r.ended.Revision = r.chunk.syncedRevision
		r.chunk = nil
	}
	if r.broken.IsZero() {
		if file, ok := errors.AsType[*fs.PathError](err); ok {
			err = file.Err // the caller adds the path
		}
		r.broken, r.brokenReason = r.o.Now(), err.Error()
		r.o.Log(fmt.Sprintf("cannot write: %v: retrying every %s", err, r.o.Every))
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
	r.ended.Revision = c.syncedRevision
	return err
}
