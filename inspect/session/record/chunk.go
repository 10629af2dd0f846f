package record

import (
	"context"
	"errors"
	"os"
	"time"

	"kitescope/inspect/session"
	"kitescope/inspect/source"
)

// partSuffix is the suffix of a chunk's file name until all its base keys are written.
const partSuffix = ".part"

// maxUnpacked is the maximum uncompressed size of a chunk, in bytes. It limits the time to read a revision at its
// end.
const maxUnpacked = 3 << 30

// chunk is a file that is being written.
type chunk struct {
	path      string // without the suffix
	file      *os.File
	size      int64 // bytes written
	base      int64 // bytes of the base keys, a part of size
	unpacked  int64
	began     time.Time
	fetchedTo int64 // changes up to this revision are already included
	header    source.Header
	w         *source.BundleWriter
	changes   *source.ChangesWriter
	encoder   *session.RoundEncoder
	repeats   int // the round size that the compression is configured for, in bytes
	redact    func(source.KV) (source.KV, bool)
	// syncedRevision is the revision at the last sync to disk. syncedByRound is set if a round has synced since the
	// last tick.
	syncedRevision int64
	syncedByRound  bool
	largest        int // size of its largest round, in bytes
}

// Write implements io.Writer.
func (c *chunk) Write(b []byte) (int, error) {
	n, err := c.file.Write(b)
	c.size += int64(n)
	return n, err
}

// createChunk creates a chunk and writes its base keys, those of snap. The file keeps partSuffix until publish renames
// it.
func createChunk(
	ctx context.Context, path string, snap source.Snapshot, at time.Time, kitescope string, restarted bool, repeats int,
) (*chunk, error) {
	h := snap.Header()
	file, err := os.OpenFile(path+partSuffix, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	c := &chunk{
		path: path, file: file, began: at, fetchedTo: h.Revision, header: h, encoder: new(session.RoundEncoder),
		redact: redactor(h), syncedRevision: h.Revision,
		repeats: max(repeats, 1),
	}
	info := source.BundleInfo{
		Kitescope: kitescope, Redacted: true, Repeats: c.repeats,
		History: &source.ManifestHistory{Oldest: h.Revision, Recorded: true, Restarted: restarted, Cluster: h.Cluster},
	}
	if c.w, err = source.NewBundleWriter(c, h, info); err == nil {
		err = c.w.Base(ctx, snap, nil, func(kv source.KV) (source.KV, bool) {
			c.unpacked += int64(len(kv.Key) + len(kv.Value))
			return c.redact(kv)
		})
	}
	if err != nil {
		c.discard()
		return nil, err
	}
	c.base, c.changes = c.size, c.w.Changes(h.Revision)
	return c, nil
}

// publish renames the file to its final name. It closes and reopens the file, because not every system can rename
// an open file.
func (c *chunk) publish() error {
	if err := errors.Join(c.file.Sync(), c.file.Close()); err != nil {
		return err
	}
	if err := os.Rename(c.path+partSuffix, c.path); err != nil {
		return err
	}
	file, err := os.OpenFile(c.path, os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		c.file = file
	}
	return err
}

// discard closes and removes the unpublished file.
func (c *chunk) discard() {
	_ = c.file.Close()
	_ = os.Remove(c.path + partSuffix)
}

// add appends the changes of a revision.
func (c *chunk) add(at time.Time, revision int64, events []source.Event) error {
	before := c.changes.Pending()
	err := c.changes.Add(at, revision, c.w.TransformEvents(events, c.redact))
	c.unpacked += int64(max(0, c.changes.Pending()-before))
	return err
}

// round writes the pending changes, followed by a round of answers, and syncs.
func (c *chunk) round(at time.Time, r *session.Round) error {
	if err := c.changes.Flush(at); err != nil {
		return err
	}
	r.Revision = c.changes.Revision()
	content, err := c.encoder.Append(nil, r)
	if err != nil {
		return err
	}
	c.unpacked += int64(len(content))
	c.largest = max(c.largest, len(content))
	if err := c.w.AddHistory(session.RoundMember, at, content); err != nil {
		return err
	}
	c.syncedByRound = true
	return c.sync(at)
}

// gap writes the pending changes, followed by the reason of a gap, and syncs.
func (c *chunk) gap(at time.Time, text string) error {
	if err := c.changes.Flush(at); err != nil {
		return err
	}
	if err := c.w.AddHistory(source.HistoryGaps, at, []byte(text)); err != nil {
		return err
	}
	return c.sync(at)
}

// sync flushes all added data and syncs it to disk.
func (c *chunk) sync(at time.Time) error {
	if err := c.changes.Flush(at); err != nil {
		return err
	}
	if err := c.w.WriteDropped(at); err != nil {
		return err
	}
	if err := c.w.Sync(); err != nil {
		return err
	}
	if err := c.file.Sync(); err != nil {
		return err
	}
	c.syncedRevision = c.changes.Revision()
	return nil
}

// end flushes the chunk, completes the bundle and closes the file.
func (c *chunk) end(at time.Time) error {
	err := c.sync(at)
	if err == nil {
		_, err = c.w.Close(nil)
	}
	return errors.Join(err, c.file.Close())
}

// targetSize returns the target size of the chunk in bytes, where size is the limit for changes and rounds. Changes and
// rounds get at least twice the size of the base keys, so they are always most of the chunk.
func (c *chunk) targetSize(size int64) int64 { return c.base + max(size, 2*c.base) }

// full reports whether the next chunk must begin because of age, size or a clock that went back by more than a
// minute. It also returns true if a round is larger than the compression is configured for.
func (c *chunk) full(now time.Time, age time.Duration, size int64) bool {
	since := now.Sub(c.began)
	return since >= age || since < -time.Minute || c.size >= c.targetSize(size) || c.unpacked >= maxUnpacked ||
		c.largest > source.WideRepeats && c.repeats <= source.WideRepeats
}
