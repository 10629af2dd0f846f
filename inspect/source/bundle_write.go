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

// BundleInfo is what a bundle says of itself beside the snapshot's header.
type BundleInfo struct {
	// Kitescope is the version of this program.
	Kitescope string
	// Redacted says that the keys passed through a redactor.
	Redacted bool
	// Members adds what is not metadata, behind the keys; nil adds nothing.
	Members func(*BundleWriter) error
	// History says which revisions AddHistory will bring; nil: none.
	History *ManifestHistory
	// Repeats is the size of what AddHistory will bring again and again with few changes; 0: nothing. The compression looks back as far.
	Repeats int
}

// WideRepeats is the size of repeats from which on the compression looks back further than it does by default.
const WideRepeats = 3 << 20

// compression returns the options that fit what is written.
func (i *BundleInfo) compression() []zstd.EOption {
	level, window := zstd.SpeedDefault, 8<<20
	switch {
	case i.Repeats > WideRepeats: // the other levels forget where a text of 10 MB was a window ago
		level, window = zstd.SpeedBestCompression, maxWindow
	case i.Repeats > 0:
		level = zstd.SpeedBetterCompression
	}
	return []zstd.EOption{zstd.WithEncoderLevel(level), zstd.WithWindowSize(window), zstd.WithEncoderCRC(true)}
}

// BundleWriter writes one bundle: keys in order with Write, then further members
// with AddMember, then Close.
type BundleWriter struct {
	zstd  *zstd.Encoder
	tar   *tar.Writer
	taken time.Time
	chunk []byte
	// inChunk is the number of keys in chunk.
	inChunk int64
	last    []byte
	end     bundleEnd
	members map[string]bool // names that AddMember has written
	history map[string]int  // how many members of each kind AddHistory has written
	past    PastStats
	left    map[string]bool // keys that were left out
	told    int             // how many of them were when Left wrote it last
	closed  bool
}

// NewBundleWriter starts a bundle of the snapshot that header describes.
func NewBundleWriter(w io.Writer, header Header, info BundleInfo) (*BundleWriter, error) {
	compressor, err := zstd.NewWriter(w, info.compression()...)
	if err != nil {
		return nil, fmt.Errorf("start a bundle: %w", err)
	}
	b := &BundleWriter{zstd: compressor, tar: tar.NewWriter(compressor), taken: memberTime(header.Taken), members: map[string]bool{}, history: map[string]int{}, left: map[string]bool{}}
	manifest := Manifest{
		Format: BundleFormat, Version: BundleVersion, Kitescope: info.Kitescope, Redacted: info.Redacted,
		Origin: header.Origin, Root: header.Root, MetaPath: header.MetaPath,
		Revision: header.Revision, Taken: header.Taken.UTC(), FileDate: header.FileDate, ByClock: header.ByClock,
		Lacks: header.Lacks, History: info.History,
	}
	return b, b.addJSON(manifestName, manifest)
}

// Write adds a key. Keys must come in order and once; kv is not kept.
func (b *BundleWriter) Write(kv KV) error {
	if len(kv.Key) == 0 || b.last != nil && bytes.Compare(kv.Key, b.last) <= 0 {
		return fmt.Errorf("write bundle: key %q is not behind key %q", kv.Key, b.last)
	}
	if size := len(kv.Key) + len(kv.Value); size > maxValue {
		return fmt.Errorf("write bundle: key %q has %d bytes, more than fit", kv.Key, size)
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

// AddMember adds a named member of size bytes behind the keys, for state that is
// not metadata ("runtime/nodes.json"). No key can be written after it.
func (b *BundleWriter) AddMember(name string, size int64, content io.Reader) error {
	if name == manifestName || name == endName || len(name) > 200 || strings.HasPrefix(name, keysPrefix) || strings.HasPrefix(name, historyPrefix) {
		return fmt.Errorf("write bundle: %q is not a name for a member", name)
	}
	if b.members[name] {
		return fmt.Errorf("write bundle: the member %q %w", name, errTwice)
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
	return b.settle()
}

// AddGap records something that the origin could not read, beside the gaps of Close.
func (b *BundleWriter) AddGap(g Gap) { b.end.Gaps = append(b.end.Gaps, g) }

// memberTime returns a time that a tar header can have (POSIX.1-1988: eleven octal digits): a clock in etcd may show any.
func memberTime(t time.Time) time.Time {
	const latest = 1<<33 - 1
	if t.Unix() < 0 || t.Unix() > latest {
		return time.Unix(0, 0)
	}
	return t
}

func (b *BundleWriter) header(name string, size int64) *tar.Header {
	return &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644, ModTime: b.taken, Format: tar.FormatUSTAR}
}

func (b *BundleWriter) add(name string, content []byte) error {
	if err := b.write(b.header(name, int64(len(content))), content); err != nil {
		return err
	}
	return b.settle()
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

// settle ends the member and the compressed block, so that what comes later can
// be cut off without loss of this.
func (b *BundleWriter) settle() error {
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

// Close writes the end; gaps are what the origin could not read. A bundle that
// was not closed counts as cut off. The writer below is not closed.
func (b *BundleWriter) Close(gaps []Gap) (BundleStats, error) {
	if b.closed {
		return BundleStats{}, errors.New("write bundle: closed twice")
	}
	b.closed = true
	err := b.flush()
	b.end.Gaps = append(b.end.Gaps, gaps...)
	if n := len(b.left); n > 0 {
		b.end.Gaps = append(b.end.Gaps, leftGap(int64(n)))
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
	return BundleStats{Keys: b.end.Keys, Dropped: int64(len(b.left)), Bytes: b.end.Bytes, Past: b.past}, err
}

// abort gives up a bundle, without an end.
func (b *BundleWriter) abort() {
	if !b.closed {
		b.closed = true
		_ = b.zstd.Close()
	}
}

// WriteBundle writes the keys of snap to w. ranges say how to cut the reading of
// a live etcd; what they leave out is read as well, so that the bundle is whole:
// nil means the root as one range. The keys beside the root are read as well. transform, if not nil, sees each key before it
// is written: it may change the value, or drop the key. A live read streams; a
// file's keys are held in memory to bring them into order.
func WriteBundle(ctx context.Context, w io.Writer, snap Snapshot, info BundleInfo, ranges []Range, transform func(KV) (KV, bool)) (BundleStats, error) {
	b, err := NewBundleWriter(w, snap.Header(), info)
	if err != nil {
		return BundleStats{}, err
	}
	if err := b.copyKeys(ctx, snap, fill(withBeside(snap.Header().Root), ranges), transform); err != nil {
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

// fill adds to the sorted cuts what is missing of the merged wholes.
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

func (b *BundleWriter) copyKeys(ctx context.Context, snap Snapshot, ranges []Range, transform func(KV) (KV, bool)) error {
	write := b.Write
	var unsorted keyArena
	if !snap.Seekable() {
		write = unsorted.add
	}
	err := snap.Scan(ctx, ranges, func(kv KV) error {
		if kv, keep := b.transformed(kv, transform); keep {
			return write(kv)
		}
		return nil
	})
	if err == nil {
		err = unsorted.sorted(b.Write)
	}
	return err
}

// transformed returns a key as transform, if not nil, makes it; false for one that it drops, which is counted.
func (b *BundleWriter) transformed(kv KV, transform func(KV) (KV, bool)) (KV, bool) {
	if transform == nil {
		return kv, true
	}
	out, keep := transform(kv)
	if !keep {
		b.left[string(kv.Key)] = true
	}
	return out, keep
}

// Transformed returns changes as transform, if not nil, makes them, without those that it drops.
func (b *BundleWriter) Transformed(events []Event, transform func(KV) (KV, bool)) []Event {
	kept := events[:0:0]
	for _, e := range events {
		kv, keep := b.transformed(e.KV, transform)
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

// recordKey is the key of a record that appendRecord made.
func recordKey(b []byte) []byte {
	kv, _, _ := cutRecord(b)
	return kv.Key
}
