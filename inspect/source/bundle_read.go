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
	"os"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"kitescope/words/hints"
)

// Bundle is a kitescope bundle as a Source.
type Bundle struct {
	in       *input
	open     opener
	opts     Options
	manifest Manifest
	gaps     gapList

	mu   sync.Mutex
	idle *zstd.Decoder // of an earlier walk; nil: none yet, or in use. It is large, and a file is walked several times
}

var _ Source = (*Bundle)(nil)

// What a bundle may have of members. One of 10,000,000 keys has 700.
const (
	maxMembers    = 100_000
	maxMemberName = 1 << 10
)

// maxWindow bounds what a decompressor sets aside for a file made elsewhere.
const maxWindow = 64 << 20

func openBundle(in *input, open opener, opts Options) (Source, error) {
	b := &Bundle{in: in, open: open, opts: opts}
	err := b.walk(b.meter(), func(name string, size int64, r io.Reader) error {
		if name != manifestName || size > maxJSON {
			return hints.Errorf("name a file made with kitescope snapshot save", "read %s: not a kitescope bundle", in.location)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if b.manifest, err = parseManifest(in.location, content); err != nil {
			return err
		}
		return errFound
	})
	if err == nil {
		return nil, hints.Errorf("name a file made with kitescope snapshot save", "read %s: not a kitescope bundle", in.location)
	}
	if !errors.Is(err, errFound) {
		return nil, b.explain(err)
	}
	if want := rootName(opts.Root); !want.accepts(b.root()) {
		_, err := chooseRoot(in.location, want, []metaRoot{b.root()})
		return nil, err
	}
	return b, nil
}

func (b *Bundle) root() metaRoot { return metaRoot{b.manifest.Root, b.manifest.MetaPath} }

// Manifest is the head of the bundle.
func (b *Bundle) Manifest() Manifest { return b.manifest }

// Origin says which file this is, and what it was made from.
func (b *Bundle) Origin() Origin {
	return Origin{Kind: KindBundle, Location: b.in.location, Detail: "from " + b.manifest.Origin.Location}
}

// Close closes the file.
func (b *Bundle) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.idle != nil {
		b.idle.Close()
		b.idle = nil
	}
	return b.in.close()
}

// unpack is a stream without its compression, to be given back with unpacked.
func (b *Bundle) unpack(packed io.Reader) (*zstd.Decoder, error) {
	b.mu.Lock()
	r := b.idle
	b.idle = nil
	b.mu.Unlock()
	if r == nil {
		return zstd.NewReader(packed, zstd.WithDecoderMaxWindow(maxWindow))
	}
	return r, r.Reset(packed)
}

func (b *Bundle) unpacked(r *zstd.Decoder) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := r.Reset(nil); err != nil || b.idle != nil {
		r.Close()
		return
	}
	b.idle = r
}

// Pin takes everything from the manifest.
func (b *Bundle) Pin(context.Context) (Snapshot, error) {
	header := Header{
		Origin: b.Origin(), Root: b.manifest.Root, MetaPath: b.manifest.MetaPath,
		Revision: b.manifest.Revision, Taken: b.manifest.Taken, FileDate: b.manifest.FileDate, ByClock: b.manifest.ByClock,
	}
	for _, r := range b.manifest.Lacks {
		header.Lacks = append(header.Lacks, Range(r))
	}
	header.Lacks = mergeRanges(header.Lacks)
	return &bundleSnapshot{bundle: b, header: header}, nil
}

// Members visits the members behind the manifest in order, those of the keys
// included. content is valid until visit returns and need not be read.
func (b *Bundle) Members(ctx context.Context, visit func(name string, size int64, content io.Reader) error) error {
	err := b.walk(b.meter(), func(name string, size int64, r io.Reader) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if name == manifestName {
			return nil
		}
		if err := visit(name, size, r); err != nil {
			return &yieldError{err}
		}
		return nil
	})
	if own, ok := errors.AsType[*yieldError](err); ok {
		return own.err
	}
	return b.explain(err)
}

func (b *Bundle) meter() *meter { return newMeter(b.opts.Limits, b.in.location) }

// walk reads the stream from its start, and holds all that is unpacked of it against the limits, whether visit reads it or not.
func (b *Bundle) walk(m *meter, visit func(name string, size int64, r io.Reader) error) error {
	packed, err := b.open()
	if err != nil {
		return notGzip(b.in.location, err)
	}
	r, err := b.unpack(packed)
	if err != nil {
		return err
	}
	defer b.unpacked(r)
	t := tar.NewReader(&metered{r: r, meter: m})
	seen := map[string]bool{}
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if err := b.single(h, seen); err != nil {
			return err
		}
		if err := visit(h.Name, h.Size, t); err != nil {
			return err
		}
	}
}

// single refuses a member that is there already: which of the two was meant nobody can say, and readers that each take
// another would see different clusters in one file.
func (b *Bundle) single(h *tar.Header, seen map[string]bool) error {
	switch {
	case len(h.Name) > maxMemberName:
		return fmt.Errorf("the name of a member has %d bytes", len(h.Name))
	case seen[h.Name]:
		return hints.Errorf("ask for the bundle again: kitescope does not write such a file", "read %s: the member %q %w", b.in.location, h.Name, errTwice)
	case len(seen) == maxMembers:
		return fmt.Errorf("it has more than %d members", maxMembers)
	}
	seen[h.Name] = true
	return nil
}

var errTwice = errors.New("is there twice")

// metered counts what is unpacked.
type metered struct {
	r     io.Reader
	meter *meter
}

// Read implements io.Reader.
func (m *metered) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if over := m.meter.add(0, n); over != nil {
		return n, over
	}
	return n, err
}

func (b *Bundle) explain(err error) error {
	switch {
	case err == nil, hints.Carried(err), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return hints.Errorf("copy the bundle again; --salvage reads what is there", "read %s: the bundle is cut off", b.in.location)
	}
	return hints.Attach(fmt.Errorf("read %s: the bundle is damaged: %w", b.in.location, err), "copy it again; --salvage reads what is there")
}

// bundleSnapshot is the content of a bundle.
type bundleSnapshot struct {
	bundle *Bundle
	header Header
}

var _ Snapshot = (*bundleSnapshot)(nil)

func (s *bundleSnapshot) Header() Header { return s.header }

// Seekable is false: a bundle is compressed as a whole.
func (s *bundleSnapshot) Seekable() bool { return false }

// Close does nothing; the Source owns the file.
func (s *bundleSnapshot) Close() error { return nil }

// Gaps lists what the origin could not read, once a Scan has come to the end of
// the bundle, and what is damaged.
func (s *bundleSnapshot) Gaps() []Gap { return s.bundle.gaps.list() }

// bundleScan is one pass over the keys.
type bundleScan struct {
	bundle *Bundle
	match  *matcher
	meter  *meter
	yield  func(KV) error
	buf    []byte
	last   []byte // key
	chunks []bundleChunk
	// stop reports an end of the caller's context.
	stop func() error
	end  *bundleEnd
}

// Scan reads the whole bundle, checks it, and yields what lies in the ranges, in order.
func (s *bundleSnapshot) Scan(ctx context.Context, ranges []Range, yield func(KV) error) error {
	if err := checkRanges(ranges); err != nil {
		return err
	}
	scan := &bundleScan{bundle: s.bundle, match: newMatcher(ranges), meter: s.bundle.meter(), yield: yield, stop: ctx.Err}
	err := s.bundle.walk(scan.meter, scan.member)
	if err == nil {
		err = scan.finish()
	}
	if own, ok := errors.AsType[*yieldError](err); ok {
		return own.err
	}
	if errors.Is(err, errOverLimit) || errors.Is(err, errTwice) {
		return err
	}
	if err = s.bundle.explain(err); err != nil && s.bundle.opts.Salvage && ctx.Err() == nil {
		s.bundle.gaps.put(Gap{Where: fmt.Sprintf("behind chunk %d", len(scan.chunks)), Reason: "the bundle is cut off or damaged"})
		return nil
	}
	return err
}

func (s *bundleScan) member(name string, size int64, r io.Reader) error {
	if err := s.stop(); err != nil {
		return err
	}
	switch {
	case name == endName && size <= maxJSON:
		content, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		s.end = new(bundleEnd)
		return json.Unmarshal(content, s.end)
	case strings.HasPrefix(name, keysPrefix):
		return s.keys(name, size, r)
	}
	return nil
}

// keys yields one chunk. The checksum is compared at the end, where it is
// written: the keys of a chunk that does not fit are then reported.
func (s *bundleScan) keys(name string, size int64, r io.Reader) error {
	if size > maxChunk {
		return fmt.Errorf("%s has %d bytes", name, size)
	}
	buf := bytes.NewBuffer(s.buf[:0])
	if _, err := io.CopyN(buf, r, size); err != nil {
		return err
	}
	s.buf = buf.Bytes()
	sum := sha256.Sum256(s.buf)
	c := bundleChunk{Name: name, SHA256: hex.EncodeToString(sum[:])}
	var behind int64
	err := eachRecord(s.buf, func(kv KV) error {
		c.Keys++
		if err := s.meter.add(1, 0); err != nil {
			return err
		}
		if s.last != nil && bytes.Compare(kv.Key, s.last) <= 0 {
			behind++
			return nil
		}
		s.last = append(s.last[:0], kv.Key...)
		if !s.match.match(kv.Key) {
			return nil
		}
		if err := s.yield(kv); err != nil {
			return &yieldError{err}
		}
		return nil
	})
	s.chunks = append(s.chunks, c)
	if behind > 0 {
		s.bundle.gaps.put(Gap{Where: name, Reason: "keys that are not behind the one before them, as each of a bundle is", Count: behind})
	}
	if errors.Is(err, errBadRecord) {
		return fmt.Errorf("%s: %w", name, err)
	}
	return err
}

// finish compares what was read with what the end says.
func (s *bundleScan) finish() error {
	if s.end == nil {
		return io.ErrUnexpectedEOF
	}
	if len(s.end.Chunks) != len(s.chunks) {
		return fmt.Errorf("%d of %d chunks of keys are there", len(s.chunks), len(s.end.Chunks))
	}
	for i, want := range s.end.Chunks {
		if s.chunks[i] != want {
			return fmt.Errorf("the checksum of %s does not match", want.Name)
		}
	}
	for _, g := range s.end.Gaps {
		s.bundle.gaps.put(g.gap())
	}
	return nil
}

// IsBundle reports whether a file begins as a bundle does: with a tar archive in zstd. Profiles may be in zstd, too.
func IsBundle(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [512]byte
	n, _ := f.Read(head[:zstd.HeaderMaxSize])
	if new(zstd.Header).Decode(head[:n]) != nil { // most files are none, and a decoder is large
		return false
	}
	z, err := zstd.NewReader(io.MultiReader(bytes.NewReader(head[:n]), f), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(256<<20))
	if err != nil {
		return false
	}
	defer z.Close()
	const magic = 257 // POSIX.1-1988, ustar: where a header says what it is
	_, err = io.ReadFull(z, head[:])
	return err == nil && bytes.HasPrefix(head[magic:], []byte("ustar"))
}
