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

// The history of a bundle is a sequence of members after the keys, numbered by kind:
//
//	history/base            the number of keys; all keys precede it. Only in a chunk of a recording
//	history/changes/000001  changes, in order: whole revisions
//	history/before/000001   the keys in changes, as they were at the oldest revision. A changed key that is
//	                        missing here did not exist
//	history/gaps/000001     a period that was not recorded, as text
//	history/left/000001     the number of keys dropped from the chunk so far, as an unsigned varint
//	history/...             data of other packages: package kept writes responses of processes
//
// Each member is sealed: a signed varint (the time of writing, in Unix nanoseconds), the content, and a
// CRC-32C of both, big-endian. The content of changes is two unsigned varints, the revision before the first
// change and the last revision, and records in the format of keys; a record of version 0 is a deletion. The
// content of base is an unsigned varint, that of before is records.
//
// There are two kinds of bundles with a history. A bundle of snapshot save has the newest keys, which are
// also the keys that readers without history support read. The earlier state is computed from changes and
// before. A chunk of a recording has the keys at its start, because it grows at its end. It may have no
// end.json, and is valid up to its last complete member.
const (
	historyPrefix = "history/"
	// HistoryChanges and HistoryGaps are kinds of members that this package reads.
	HistoryChanges = "changes"
	HistoryGaps    = "gaps"

	historyBase    = "base"
	historyBefore  = "before"
	historyDropped = "left"
)

// ManifestHistory describes the revisions of a bundle.
type ManifestHistory struct {
	// Oldest is the first revision with a complete state.
	Oldest int64 `json:"oldest,string"`
	// Recorded reports whether the bundle is a chunk of a recording. Its keys are at revision Oldest and its
	// members define the last revision. In other bundles the keys are at the last revision, which is the
	// revision of the manifest.
	Recorded bool `json:"recorded,omitempty"`
	// Restarted reports that the chunk does not continue the previous chunk, because the etcd is another one or was
	// restored from a backup.
	Restarted bool `json:"anew,omitempty"`
	// Cluster is the cluster ID of the recorded etcd, or 0 if unknown.
	Cluster uint64 `json:"cluster,omitempty,string"`
}

// HistoryMember is one member below history/. Content is valid until the function that receives the member
// returns.
type HistoryMember struct {
	Kind    string
	At      time.Time
	Content []byte
}

// castagnoli is created once. Its checksum uses hardware support if available.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AddHistory adds a numbered member of a kind. Call Sync to pass it on to the underlying writer.
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
		return fmt.Errorf("write bundle member %s: %d bytes, more than a reader accepts", name, len(sealed))
	}
	h := b.header(name, int64(len(sealed)))
	if !at.IsZero() {
		h.ModTime = at.Truncate(time.Second)
	}
	return b.write(h, sealed)
}

// Base writes the initial keys of a recording chunk, in the same way as WriteBundle, followed by the base
// member.
func (b *BundleWriter) Base(ctx context.Context, snap Snapshot, ranges []Range, transform func(KV) (KV, bool)) error {
	if err := b.copyKeys(ctx, snap, fill([]Range{Prefix(snap.Header().Root + "/")}, ranges), transform); err != nil {
		return err
	}
	if err := b.flush(); err != nil {
		return err
	}
	if err := b.addSealed(historyPrefix+historyBase, b.taken, binary.AppendUvarint(nil, uint64(b.end.Keys))); err !=
		nil {
		return err
	}
	return b.sync()
}

// WriteDropped writes the number of dropped keys if it has changed since the last call.
func (b *BundleWriter) WriteDropped(at time.Time) error {
	if len(b.dropped) == b.writtenDropped {
		return nil
	}
	b.writtenDropped = len(b.dropped)
	return b.AddHistory(historyDropped, at, binary.AppendUvarint(nil, uint64(b.writtenDropped)))
}

// Sync flushes all added members to the underlying writer, so that they survive a truncation of the rest.
func (b *BundleWriter) Sync() error { return b.sync() }

func unixNano(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

var errSeal = errors.New("it does not match its checksum")

// unseal verifies a sealed member and returns its time and content.
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

// maxRevision bounds revisions. No etcd reaches it, and its successor still fits an int64.
const maxRevision = 1 << 62

// changesMember is the content of a changes member.
type changesMember struct {
	// from is the revision before the first change, to the last revision.
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

// each yields the changes in revision order. They are valid as long as the member is.
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

// ChangesWriter collects changes into members of about 4 MiB.
type ChangesWriter struct {
	w *BundleWriter
	// The next member holds the changes after revision from, up to revision to, the last one that was added.
	from, to int64
	head     []byte
	records  []byte
}

// Changes returns a writer of the changes after a revision.
func (b *BundleWriter) Changes(from int64) *ChangesWriter {
	return &ChangesWriter{w: b, from: from, to: from}
}

// Add adds changes of a revision. events may be empty or only a part of the revision. Add does not keep them.
func (c *ChangesWriter) Add(at time.Time, revision int64, events []Event) error {
	if revision < c.to {
		return fmt.Errorf("write bundle: revision %d is older than %d", revision, c.to)
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

// Pending returns the number of bytes of changes that wait for Flush.
func (c *ChangesWriter) Pending() int { return len(c.records) }

// Revision returns the last added revision.
func (c *ChangesWriter) Revision() int64 { return c.to }

// Flush writes a member with time at. No further changes of the last revision may be added after it.
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

// History visits the members below history/ in order. In a chunk of a recording, an unreadable part ends it and
// becomes a gap.
func (b *Bundle) History(ctx context.Context, visit func(HistoryMember) error) error {
	return b.each(ctx, nil, visit)
}

// each visits the keys, if keys is not nil, and the members of the history.
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
	return b.walkError(ctx, err)
}

func wrapYield(err error) error {
	if err != nil {
		return &yieldError{err}
	}
	return nil
}

// errStop ends a walk that needs no further members.
var errStop = errors.New("enough")

// walkError converts the error of a walk. In a chunk of a recording, damage means only that the chunk is read up to
// there.
func (b *Bundle) walkError(ctx context.Context, err error) error {
	if own, ok := errors.AsType[*yieldError](err); ok {
		if errors.Is(own.err, errStop) {
			return nil
		}
		return own.err
	}
	switch {
	case err == nil, ctx.Err() != nil, errors.Is(err, errOverLimit):
		return err
	case b.isRecording():
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

// isRecording reports whether the bundle is a chunk of a recording.
func (b *Bundle) isRecording() bool { return b.manifest.History != nil && b.manifest.History.Recorded }
