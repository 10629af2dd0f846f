package source

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// BundleInfo holds the properties of a bundle that are not in the header of the snapshot.
type BundleInfo struct {
	// Kitescope is the version of this program.
	Kitescope string
	// Redacted reports whether the keys passed through a redactor.
	Redacted bool
	// Members adds members other than metadata after the keys. It may be nil.
	Members func(*BundleWriter) error
	// History describes the revisions that AddHistory will write; nil means none.
	History *ManifestHistory
	// Repeats is the size in bytes of data that AddHistory will write repeatedly with few changes, or 0. The
	// compression window is chosen accordingly.
	Repeats int
}

// WideRepeats is the size of repeats in bytes above which the compression uses a larger window than the
// default.
const WideRepeats = 3 << 20

// compression returns zstd options for the expected content.
func (i *BundleInfo) compression() []zstd.EOption {
	level, window := zstd.SpeedDefault, 8<<20
	switch {
	case i.Repeats > WideRepeats: // other levels do not find repeats of 10 MB at the distance of a window
		level, window = zstd.SpeedBestCompression, maxWindow
	case i.Repeats > 0:
		level = zstd.SpeedBetterCompression
	}
	return []zstd.EOption{zstd.WithEncoderLevel(level), zstd.WithWindowSize(window), zstd.WithEncoderCRC(true)}
}

// BundleWriter writes one bundle. Call Write for the keys in order, AddMember for further members, and finally
// Close.
type BundleWriter struct {
	zstd  *zstd.Encoder
	tar   *tar.Writer
	taken time.Time
	chunk []byte
	// inChunk is the number of keys in chunk.
	inChunk        int64
	last           []byte
	end            bundleEnd
	members        map[string]bool // names written by AddMember
	history        map[string]int  // number of members of each kind written by AddHistory
	past           PastStats
	dropped        map[string]bool // keys that were dropped
	writtenDropped int             // number of dropped keys in the last member of WriteDropped
	closed         bool
}

// NewBundleWriter starts a bundle of the snapshot described by header.
func NewBundleWriter(w io.Writer, header Header, info BundleInfo) (*BundleWriter, error) {
	compressor, err := zstd.NewWriter(w, info.compression()...)
	if err != nil {
		return nil, fmt.Errorf("start a bundle: %w", err)
	}
	b := &BundleWriter{
		zstd: compressor, tar: tar.NewWriter(compressor), taken: memberTime(header.Taken), members: map[string]bool{},
		history: map[string]int{}, dropped: map[string]bool{},
	}
	manifest := Manifest{
		Format: BundleFormat, Version: BundleVersion, Kitescope: info.Kitescope, Redacted: info.Redacted,
		Origin: header.Origin, Root: header.Root, MetaPath: header.MetaPath,
		Revision: header.Revision, Taken: header.Taken.UTC(), FileDate: header.FileDate, ByClock: header.ByClock,
		Omitted: header.Omitted, History: info.History,
	}
	return b, b.addJSON(manifestName, manifest)
}

// Write adds a key. Keys must be in strictly ascending order. Write does not keep kv.
func (b *BundleWriter) Write(kv KV) error {
	if len(kv.Key) == 0 || b.last != nil && bytes.Compare(kv.Key, b.last) <= 0 {
		return fmt.Errorf("write bundle: key %q does not come after key %q", kv.Key, b.last)
	}
	if size := len(kv.Key) + len(kv.Value); size > maxValue {
		return fmt.Errorf("write bundle: key %q has %d bytes, too many", kv.Key, size)
	}
	b.last = append(b.last[:0], kv.Key...)
	b.chunk = appendRecord(b.chunk, kv)
	b.inChunk++
	b.end.Keys++
	b.end.Bytes += int64(len(kv.Key) + len(kv.Value))
	if len(b.chunk) >= chunkTarget {
		return b.flush()
	}
	return nil
}

// flush writes the chunk as a member.
func (b *BundleWriter) flush() error {
	if b.inChunk == 0 {
		return nil
	}
	name := fmt.Sprintf("%s%06d", keysPrefix, len(b.end.Chunks)+1)
	sum := sha256.Sum256(b.chunk)
	b.end.Chunks = append(b.end.Chunks, bundleChunk{Name: name, Keys: b.inChunk, SHA256: hex.EncodeToString(sum[:])})
	err := b.add(name, b.chunk)
	b.chunk, b.inChunk = b.chunk[:0], 0
	return err
}

// AddMember adds a named member of size bytes after the keys, for data that is not metadata, e.g.
// "runtime/nodes.json". Write must not be called after it.
func (b *BundleWriter) AddMember(name string, size int64, content io.Reader) error {
	if name == manifestName || name == endName || len(name) > 200 || strings.HasPrefix(name, keysPrefix) ||
		strings.HasPrefix(name, historyPrefix) {
		return fmt.Errorf("write bundle: invalid member name %q", name)
	}
	if b.members[name] {
		return fmt.Errorf("write bundle: the member %q %w", name, errDuplicate)
	}
	b.members[name] = true
	if err := b.flush(); err != nil {
		return err
	}
	if err := b.tar.WriteHeader(b.header(name, size)); err != nil {
		return fmt.Errorf("write bundle member %s: %w", name, err)
	}
	n, err := io.Copy(b.tar, content)
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("write bundle member %s: %w", name, err)
	}
	return b.sync()
}

// AddGap adds a part that the origin could not read, in addition to the gaps passed to Close.
func (b *BundleWriter) AddGap(g Gap) { b.end.Gaps = append(b.end.Gaps, g) }

// memberTime returns a time that fits a tar header (POSIX.1-1988: eleven octal digits), because a clock value
// in etcd may be arbitrary.
func memberTime(t time.Time) time.Time {
	const latest = 1<<33 - 1
	if t.Unix() < 0 || t.Unix() > latest {
		return time.Unix(0, 0)
	}
	return t
}

func (b *BundleWriter) header(name string, size int64) *tar.Header {
	return &tar.Header{
		Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644, ModTime: b.taken, Format: tar.FormatUSTAR,
	}
}

func (b *BundleWriter) add(name string, content []byte) error {
	if err := b.write(b.header(name, int64(len(content))), content); err != nil {
		return err
	}
	return b.sync()
}

func (b *BundleWriter) write(h *tar.Header, content []byte) error {
	if err := b.tar.WriteHeader(h); err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	if _, err := b.tar.Write(content); err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	return nil
}

// sync flushes the member and the compressed block, so that a later truncation does not lose them.
func (b *BundleWriter) sync() error {
	if err := b.tar.Flush(); err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	if err := b.zstd.Flush(); err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	return nil
}

func (b *BundleWriter) addJSON(name string, v any) error {
	content, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	return b.add(name, append(content, '\n'))
}

// Close writes the end of the bundle; gaps are the parts that the origin could not read. Readers treat a bundle
// without an end as truncated. Close does not close the underlying writer.
func (b *BundleWriter) Close(gaps []Gap) (BundleStats, error) {
	if b.closed {
		return BundleStats{}, errors.New("write bundle: closed twice")
	}
	b.closed = true
	err := b.flush()
	b.end.Gaps = append(b.end.Gaps, gaps...)
	if n := len(b.dropped); n > 0 {
		b.end.Gaps = append(b.end.Gaps, droppedGap(int64(n)))
	}
	if err == nil {
		err = b.addJSON(endName, b.end)
	}
	if closeErr := b.tar.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("write bundle: %w", closeErr)
	}
	if closeErr := b.zstd.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("write bundle: %w", closeErr)
	}
	return BundleStats{Keys: b.end.Keys, Dropped: int64(len(b.dropped)), Bytes: b.end.Bytes, Past: b.past}, err
}

// abort closes the compressor without writing the end.
func (b *BundleWriter) abort() {
	if !b.closed {
		b.closed = true
		_ = b.zstd.Close()
	}
}

// WriteBundle writes the keys of snap to w. ranges define how a live etcd is read in parts; nil means the
// root as a single range. Keys outside the ranges and keys outside the root (OutsideRoot) are read too, because a
// bundle must be complete. If transform is not nil, it is called for each key before the key is written, and
// may change the value or drop the key. A live read is streamed. The keys of a file are sorted in memory.
func WriteBundle(
	ctx context.Context, w io.Writer, snap Snapshot, info BundleInfo, ranges []Range, transform func(KV) (KV, bool),
) (BundleStats, error) {
	b, err := NewBundleWriter(w, snap.Header(), info)
	if err != nil {
		return BundleStats{}, err
	}
	if err := b.copyKeys(ctx, snap, fill(withOutsideRoot(snap.Header().Root), ranges), transform); err != nil {
		b.abort()
		return BundleStats{}, err
	}
	if info.Members != nil {
		if err := info.Members(b); err != nil {
			b.abort()
			return BundleStats{}, err
		}
	}
	return b.Close(snap.Gaps())
}

// fill adds the parts of the merged wholes that are missing to the sorted cuts.
func fill(wholes, cuts []Range) []Range {
	var inside []Range
	for _, c := range cuts {
		inside = append(inside, intersect(c, wholes)...)
	}
	all := slices.Clone(inside)
	for _, whole := range wholes {
		all = append(all, subtract(whole, mergeRanges(inside))...)
	}
	slices.SortFunc(all, func(a, b Range) int { return bytes.Compare([]byte(a.From), []byte(b.From)) })
	return all
}

func (b *BundleWriter) copyKeys(
	ctx context.Context, snap Snapshot, ranges []Range, transform func(KV) (KV, bool),
) error {
	write := b.Write
	var unsorted keyArena
	if !snap.Seekable() {
		write = unsorted.add
	}
	err := snap.Scan(ctx, ranges, func(kv KV) error {
		if kv, keep := b.transform(kv, transform); keep {
			return write(kv)
		}
		return nil
	})
	if err == nil {
		err = unsorted.sorted(b.Write)
	}
	return err
}

// transform returns the key after transform, if transform is not nil. It returns false and counts the key if
// transform drops it.
func (b *BundleWriter) transform(kv KV, transform func(KV) (KV, bool)) (KV, bool) {
	if transform == nil {
		return kv, true
	}
	out, keep := transform(kv)
	if !keep {
		b.dropped[string(kv.Key)] = true
	}
	return out, keep
}

// TransformEvents returns the changes after transform, if transform is not nil, without the dropped ones.
func (b *BundleWriter) TransformEvents(events []Event, transform func(KV) (KV, bool)) []Event {
	kept := events[:0:0]
	for _, e := range events {
		kv, keep := b.transform(e.KV, transform)
		if !keep {
			continue
		}
		if !e.Deleted {
			e.KV = kv
		}
		kept = append(kept, e)
	}
	return kept
}

// keyArena holds encoded records in large blocks, to sort them by key.
type keyArena struct {
	block   []byte
	records [][]byte
}

func (a *keyArena) add(kv KV) error {
	const blockSize = 8 << 20
	need := len(kv.Key) + len(kv.Value) + 64
	if cap(a.block)-len(a.block) < need {
		a.block = make([]byte, 0, max(blockSize, need))
	}
	at := len(a.block)
	a.block = appendRecord(a.block, kv)
	a.records = append(a.records, a.block[at:])
	return nil
}

func (a *keyArena) sorted(yield func(KV) error) error {
	slices.SortFunc(a.records, func(x, y []byte) int { return bytes.Compare(recordKey(x), recordKey(y)) })
	for _, r := range a.records {
		kv, _, err := cutRecord(r)
		if err != nil {
			return err
		}
		if err := yield(kv); err != nil {
			return err
		}
	}
	return nil
}

// recordKey returns the key of a record encoded by appendRecord.
func recordKey(b []byte) []byte {
	kv, _, _ := cutRecord(b)
	return kv.Key
}
