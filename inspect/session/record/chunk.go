package record

import (
	"context"
	"errors"
	"os"
	"time"

	"kitescope/inspect/session"
	"kitescope/inspect/source"
)

// partSuffix is on the name of a chunk whose first keys are not all there.
const partSuffix = ".part"

// maxUnpacked bounds what a chunk unpacks to, and so how long reading a moment at its end takes.
const maxUnpacked = 3 << 30

// chunk is one file under way.
type chunk struct {
	path     string // without the suffix
	file     *os.File
	size     int64 // written
	base     int64 // of that, the keys that it begins with
	unpacked int64
	began    time.Time
	known    int64 // up to which revision nothing is to be taken any more
	header   source.Header
	w        *source.BundleWriter
	changes  *source.ChangesWriter
	encoder  *session.RoundEncoder
	repeats  int // the size of a round that it is compressed for
	redact   func(source.KV) (source.KV, bool)
	// reached is the revision when it was brought onto the disk last; asked says that a round did so since the last tick.
	reached int64
	asked   bool
	largest int // the size of its largest round
}

// Write implements io.Writer.
func (c *chunk) Write(b []byte) (int, error) {
	n, err := c.file.Write(b)
	c.size += int64(n)
	return n, err
}

// begin writes the keys that a chunk begins with. It has its name once they are all there.
func begin(ctx context.Context, path string, snap source.Snapshot, at time.Time, kitescope string, anew bool, repeats int) (*chunk, error) {
	h := snap.Header()
	file, err := os.OpenFile(path+partSuffix, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	c := &chunk{
		path: path, file: file, began: at, known: h.Revision, header: h, encoder: new(session.RoundEncoder), redact: redactor(h), reached: h.Revision,
		repeats: max(repeats, 1),
	}
	info := source.BundleInfo{
		Kitescope: kitescope, Redacted: true, Repeats: c.repeats,
		History: &source.ManifestHistory{Oldest: h.Revision, Recorded: true, Anew: anew, Cluster: h.Cluster},
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

// publish gives it its name. Not every system renames a file that is open.
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

// discard gives it up, with what it has.
func (c *chunk) discard() {
	_ = c.file.Close()
	_ = os.Remove(c.path + partSuffix)
}

// add takes the changes of a revision.
func (c *chunk) add(at time.Time, revision int64, events []source.Event) error {
	before := c.changes.Pending()
	err := c.changes.Add(at, revision, c.w.Transformed(events, c.redact))
	c.unpacked += int64(max(0, c.changes.Pending()-before))
	return err
}

// round writes the changes so far, and answers.
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
	c.asked = true
	return c.settle(at)
}

// gap writes what was not recorded, behind the changes so far.
func (c *chunk) gap(at time.Time, text string) error {
	if err := c.changes.Flush(at); err != nil {
		return err
	}
	if err := c.w.AddHistory(source.HistoryGaps, at, []byte(text)); err != nil {
		return err
	}
	return c.settle(at)
}

// settle brings all that was added onto the disk.
func (c *chunk) settle(at time.Time) error {
	if err := c.changes.Flush(at); err != nil {
		return err
	}
	if err := c.w.Left(at); err != nil {
		return err
	}
	if err := c.w.Settle(); err != nil {
		return err
	}
	if err := c.file.Sync(); err != nil {
		return err
	}
	c.reached = c.changes.Revision()
	return nil
}

// end closes it.
func (c *chunk) end(at time.Time) error {
	err := c.settle(at)
	if err == nil {
		_, err = c.w.Close(nil)
	}
	return errors.Join(err, c.file.Close())
}

// whole is how large it becomes, of a size of changes and rounds: these are most of it however many keys there are.
func (c *chunk) whole(size int64) int64 { return c.base + max(size, 2*c.base) }

// full reports whether the next one is to begin.
func (c *chunk) full(now time.Time, age time.Duration, size int64) bool {
	since := now.Sub(c.began)
	return since >= age || since < -time.Minute || c.size >= c.whole(size) || c.unpacked >= maxUnpacked ||
		c.largest > source.WideRepeats && c.repeats <= source.WideRepeats
}
