package source

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"time"
)

// The history of a bundle is members behind its keys, each numbered among those of its kind:
//
//	history/base            how many keys there are: the keys before it are all. Only in a chunk of a recording
//	history/changes/000001  changes, in order: whole revisions
//	history/before/000001   keys as they were at the oldest revision, of those that the changes are about. Those that are not
//	                        here were not there
//	history/gaps/000001     what was not recorded, as text
//	history/left/000001     how many keys were left out of the chunk so far, as an unsigned varint
//	history/...             what others keep of moments: package kept has answers of processes
//
// Each is sealed: a signed varint (when it was written, in nanoseconds of Unix), the content, and a CRC-32C of both, big-endian.
// The content of changes is two unsigned varints, the revision that they follow and the last that they are about, and records
// as those of keys; a record of version 0 is a delete. That of base is an unsigned varint, that of before are records.
//
// There are two kinds of bundles with a history. One of snapshot save has the newest keys: who knows nothing of history reads
// these. What was before them is made of its changes and "before". A chunk of a recording has the keys of its beginning, as
// it grows at its end; it may have no end.json, and counts up to its last whole member.
const (
	historyPrefix = "history/"
	// HistoryChanges and HistoryGaps are kinds of members that this package reads.
	HistoryChanges = "changes"
	HistoryGaps    = "gaps"

	historyBase   = "base"
	historyBefore = "before"
	historyLeft   = "left"
)

// ManifestHistory says which revisions a bundle has.
type ManifestHistory struct {
	// Oldest is the first one whose state can be put together.
	Oldest int64 `json:"oldest,string"`
	// Recorded says that it is a chunk of a recording: its keys are of Oldest, and its last revision is told by its members. Else
	// the keys are of the last one, the manifest's.
	Recorded bool `json:"recorded,omitempty"`
	// Anew says that it is no continuation of the chunk before it: that was another etcd, or one that was put back to a backup.
	Anew bool `json:"anew,omitempty"`
	// Cluster is the id of the etcd that was recorded, 0 if it is not known.
	Cluster uint64 `json:"cluster,omitempty,string"`
}

// HistoryMember is one member below history/. Content is valid until the function returns that is given it.
type HistoryMember struct {
	Kind    string
	At      time.Time
	Content []byte
}

// castagnoli is made once, as it is the hardware's where there is one.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AddHistory adds a member of a kind, numbered. It is on its way to the writer below when Settle has returned.
func (b *BundleWriter) AddHistory(kind string, at time.Time, content []byte) error {
	if err := b.flush(); err != nil {
		return err
	}
	b.history[kind]++
	name := fmt.Sprintf("%s%s/%06d", historyPrefix, kind, b.history[kind])
	return b.addSealed(name, at, content)
}

func (b *BundleWriter) addSealed(name string, at time.Time, content []byte) error {
	sealed := make([]byte, 0, len(content)+binary.MaxVarintLen64+crc32.Size)
	sealed = binary.AppendVarint(sealed, unixNano(at))
	sealed = append(sealed, content...)
	sealed = binary.BigEndian.AppendUint32(sealed, crc32.Checksum(sealed, castagnoli))
	if len(sealed) > maxChunk {
		return fmt.Errorf("write bundle member %s: %d bytes, more than a reader takes", name, len(sealed))
	}
	h := b.header(name, int64(len(sealed)))
	if !at.IsZero() {
		h.ModTime = at.Truncate(time.Second)
	}
	return b.write(h, sealed)
}

// Base writes the keys that a chunk of a recording begins with, as WriteBundle does those of a bundle, and that they are all.
func (b *BundleWriter) Base(ctx context.Context, snap Snapshot, ranges []Range, transform func(KV) (KV, bool)) error {
	if err := b.copyKeys(ctx, snap, fill([]Range{Prefix(snap.Header().Root + "/")}, ranges), transform); err != nil {
		return err
	}
	if err := b.flush(); err != nil {
		return err
	}
	if err := b.addSealed(historyPrefix+historyBase, b.taken, binary.AppendUvarint(nil, uint64(b.end.Keys))); err != nil {
		return err
	}
	return b.settle()
}

// Left writes how many keys were left out, if more were than it wrote last.
func (b *BundleWriter) Left(at time.Time) error {
	if len(b.left) == b.told {
		return nil
	}
	b.told = len(b.left)
	return b.AddHistory(historyLeft, at, binary.AppendUvarint(nil, uint64(b.told)))
}

// Settle hands all that was added to the writer below, so that it is there if the rest is cut off.
func (b *BundleWriter) Settle() error { return b.settle() }

func unixNano(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

var errSeal = errors.New("it does not fit its checksum")

// unseal is what a sealed member holds.
func unseal(b []byte) (at time.Time, content []byte, err error) {
	if len(b) < crc32.Size+1 {
		return at, nil, errSeal
	}
	body := b[:len(b)-crc32.Size]
	if binary.BigEndian.Uint32(b[len(body):]) != crc32.Checksum(body, castagnoli) {
		return at, nil, errSeal
	}
	nanos, n := binary.Varint(body)
	if n <= 0 {
		return at, nil, errSeal
	}
	if nanos != 0 {
		at = time.Unix(0, nanos).UTC()
	}
	return at, body[n:], nil
}

// maxRevision bounds revisions: no etcd comes to it, and the one behind it is a number, too.
const maxRevision = 1 << 62

// Changes is the content of a member of changes.
type changesMember struct {
	// from is the revision that they follow, to the last one.
	from, to int64
	records  []byte
}

func parseChanges(content []byte) (c changesMember, err error) {
	for _, field := range []*int64{&c.from, &c.to} {
		v, n := binary.Uvarint(content)
		if n <= 0 {
			return c, errBadRecord
		}
		*field, content = int64(v), content[n:]
	}
	if c.from < 0 || c.to < c.from || c.to > maxRevision || c.to == c.from && len(content) > 0 {
		return c, errBadRecord
	}
	c.records = content
	return c, nil
}

// each yields the changes, of revisions that do not go back. They are valid as long as the member is.
func (c *changesMember) each(yield func(Event) error) error {
	last := c.from
	return eachRecord(c.records, func(kv KV) error {
		if kv.ModRevision < last || kv.ModRevision <= c.from || kv.ModRevision > c.to {
			return errBadRecord
		}
		last = kv.ModRevision
		return yield(Event{KV: kv, Deleted: kv.Version == 0})
	})
}

// ChangesWriter gathers changes into members of about 4 MiB.
type ChangesWriter struct {
	w *BundleWriter
	// from is the revision behind which the next member begins, to the last one that came.
	from, to int64
	head     []byte
	records  []byte
}

// Changes is a writer of what followed a revision.
func (b *BundleWriter) Changes(from int64) *ChangesWriter {
	return &ChangesWriter{w: b, from: from, to: from}
}

// Add takes the changes of a revision, of which there may be none, or some of them. They are not kept.
func (c *ChangesWriter) Add(at time.Time, revision int64, events []Event) error {
	if revision < c.to {
		return fmt.Errorf("write bundle: revision %d is behind %d", revision, c.to)
	}
	if revision > c.to && len(c.records) >= chunkTarget {
		if err := c.Flush(at); err != nil {
			return err
		}
	}
	c.to = revision
	for _, e := range events {
		if e.Deleted {
			e.KV = KV{Key: e.Key, ModRevision: e.ModRevision}
		}
		c.records = appendRecord(c.records, e.KV)
	}
	return nil
}

// Pending is how many bytes of changes wait for Flush, Revision the last one that came.
func (c *ChangesWriter) Pending() int { return len(c.records) }

// Revision is the last one that came.
func (c *ChangesWriter) Revision() int64 { return c.to }

// Flush ends a member; at is when. More of the last revision must not come after it.
func (c *ChangesWriter) Flush(at time.Time) error {
	if c.to == c.from && len(c.records) == 0 {
		return nil
	}
	c.head = binary.AppendUvarint(c.head[:0], uint64(c.from))
	c.head = binary.AppendUvarint(c.head, uint64(c.to))
	err := c.w.AddHistory(HistoryChanges, at, append(c.head, c.records...))
	c.from, c.records = c.to, c.records[:0]
	return err
}

// History visits the members below history/ in order. In a chunk of a recording what cannot be read ends it, and is a gap.
func (b *Bundle) History(ctx context.Context, visit func(HistoryMember) error) error {
	return b.each(ctx, nil, visit)
}

// each visits keys, if that is wanted, and members of history.
func (b *Bundle) each(ctx context.Context, keys func(KV) error, visit func(HistoryMember) error) error {
	m := b.meter()
	var buf []byte
	err := b.walk(m, func(name string, size int64, r io.Reader) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		inKeys := strings.HasPrefix(name, keysPrefix)
		rest, inHistory := strings.CutPrefix(name, historyPrefix)
		if !(inKeys && keys != nil) && !inHistory {
			return nil
		}
		if size > maxChunk {
			return fmt.Errorf("%s has %d bytes", name, size)
		}
		if int64(cap(buf)) < size {
			buf = make([]byte, size)
		}
		buf = buf[:size]
		if _, err := io.ReadFull(r, buf); err != nil {
			return errors.Join(err, io.ErrUnexpectedEOF)
		}
		if inKeys {
			return eachRecord(buf, func(kv KV) error { return wrapYield(keys(kv)) })
		}
		at, content, err := unseal(buf)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		kind, _, _ := strings.Cut(rest, "/")
		if err = visit(HistoryMember{Kind: kind, At: at, Content: content}); errors.Is(err, errBadRecord) {
			return fmt.Errorf("%s: %w", name, err)
		}
		return wrapYield(err)
	})
	return b.ended(ctx, err)
}

func wrapYield(err error) error {
	if err != nil {
		return &yieldError{err}
	}
	return nil
}

// errEnough ends a walk that has come as far as it was wanted.
var errEnough = errors.New("enough")

// ended is what an error of a walk means: of a chunk of a recording, that it is read up to there.
func (b *Bundle) ended(ctx context.Context, err error) error {
	if own, ok := errors.AsType[*yieldError](err); ok {
		if errors.Is(own.err, errEnough) {
			return nil
		}
		return own.err
	}
	switch {
	case err == nil, ctx.Err() != nil, errors.Is(err, errOverLimit):
		return err
	case b.recorded():
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			b.damaged.Store(true)
			b.gaps.put(Gap{Where: b.in.location, Reason: "damaged; read up to its last whole part: " + err.Error()})
		}
		return nil
	case b.opts.Salvage:
		b.gaps.put(Gap{Where: b.in.location, Reason: "the bundle is cut off or damaged"})
		return nil
	}
	return b.explain(err)
}

// recorded reports whether it is a chunk of a recording.
func (b *Bundle) recorded() bool { return b.manifest.History != nil && b.manifest.History.Recorded }
