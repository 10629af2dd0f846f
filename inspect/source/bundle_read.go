package source

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"kitescope/internal/hints"
)

// Bundle is a kitescope bundle as a Source.
type Bundle struct {
	in       *input
	open     opener
	opts     Options
	manifest Manifest
	gaps     gapList

	// damaged reports that a part of a chunk did not match its checksum or was not valid.
	damaged atomic.Bool

	mu sync.Mutex // guards the fields below
	// last and pasts are caches of the history (bundle_past.go).
	last  *bundleEdge
	pasts map[string]keyPast
}

var _ Source = (*Bundle)(nil)

// Limits on the members of a bundle. A bundle of 10,000,000 keys has 700 members.
const (
	maxMembers    = 100_000
	maxMemberName = 1 << 10
)

// maxWindow bounds the memory of the decompressor for files from other writers.
const maxWindow = 64 << 20

func openBundle(in *input, open opener, opts Options) (Source, error) {
	b := &Bundle{in: in, open: open, opts: opts}
	err := b.walk(b.meter(), func(name string, size int64, r io.Reader) error {
		if name != manifestName || size > maxJSON {
			return hints.Errorf("name a file made with kitescope snapshot save", "read %s: not a kitescope bundle",
				in.location)
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
		return nil,
			hints.Errorf("name a file made with kitescope snapshot save", "read %s: not a kitescope bundle",
				in.location)
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

// Manifest returns the manifest of the bundle.
func (b *Bundle) Manifest() Manifest { return b.manifest }

// Origin returns the location of the bundle and of the source from which it was made.
func (b *Bundle) Origin() Origin {
	return Origin{Kind: KindBundle, Location: b.in.location, Detail: "from " + b.manifest.Origin.Location}
}

// Close closes the file.
func (b *Bundle) Close() error { return b.in.close() }

// Pin uses the manifest. For a chunk of a recording, it reads the chunk to find the last revision.
func (b *Bundle) Pin(ctx context.Context) (Snapshot, error) {
	if b.isRecording() {
		last, err := b.edge(ctx)
		if err != nil {
			return nil, err
		}
		return b.PinAt(ctx, Header{}, last.revision)
	}
	return &bundleSnapshot{bundle: b, header: b.header()}, nil
}

func (b *Bundle) header() Header {
	header := Header{
		Origin: b.Origin(), Root: b.manifest.Root, MetaPath: b.manifest.MetaPath,
		Revision: b.manifest.Revision, Taken: b.manifest.Taken, FileDate: b.manifest.FileDate,
		ByClock: b.manifest.ByClock,
	}
	if b.manifest.History != nil {
		header.Cluster = b.manifest.History.Cluster
	}
	header.Omitted = mergeRanges(b.manifest.Omitted)
	return header
}

// Members visits the members after the manifest in order, including the members with keys. content is valid
// until visit returns and need not be read.
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
	if b.isRecording() {
		return b.walkError(ctx, err)
	}
	return b.explain(err)
}

func (b *Bundle) meter() *meter { return newMeter(b.opts.Limits, b.in.location) }

// walk reads the stream from its start. It applies the limits to all decompressed bytes, whether or not visit
// reads them.
func (b *Bundle) walk(m *meter, visit func(name string, size int64, r io.Reader) error) error {
	packed, err := b.open()
	if err != nil {
		return notGzip(b.in.location, err)
	}
	r, err := zstd.NewReader(packed, zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
	if err != nil {
		return err
	}
	defer r.Close()
	in := &meteredReader{r: r, meter: m}
	err = b.visit(tar.NewReader(in), visit)
	if in.complete && errors.Is(err, io.ErrUnexpectedEOF) { // the file is not truncated
		return errTruncated
	}
	return err
}

// visit calls a function with each regular member of an archive.
func (b *Bundle) visit(t *tar.Reader, visit func(name string, size int64, r io.Reader) error) error {
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
		if err := b.checkDuplicate(h, seen); err != nil {
			return err
		}
		if err := visit(h.Name, h.Size, t); err != nil {
			return err
		}
	}
}

// checkDuplicate returns an error for a duplicate member. Neither duplicate is known to be the right one, and readers
// that choose differently would see different clusters in the same file.
func (b *Bundle) checkDuplicate(h *tar.Header, seen map[string]bool) error {
	switch {
	case len(h.Name) > maxMemberName:
		return fmt.Errorf("the name of a member has %d bytes", len(h.Name))
	case seen[h.Name]:
		return hints.Errorf("ask for the bundle again: kitescope does not write such a file",
			"read %s: the member %q %w", b.in.location, h.Name, errDuplicate)
	case len(seen) == maxMembers:
		return fmt.Errorf("it has more than %d members", maxMembers)
	}
	seen[h.Name] = true
	return nil
}

var (
	errDuplicate = errors.New("appears twice")
	errTruncated = errors.New("a member is longer than the rest of the file")
)

// meteredReader counts the decompressed bytes.
type meteredReader struct {
	r        io.Reader
	meter    *meter
	complete bool // the compressed stream was read to its end
}

// Read implements io.Reader.
func (m *meteredReader) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.complete = errors.Is(err, io.EOF)
	if over := m.meter.add(0, n); over != nil {
		return n, over
	}
	return n, err
}

func (b *Bundle) explain(err error) error {
	switch {
	case err == nil, hints.HasHint(err), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return hints.Errorf("copy the bundle again, or use --salvage", "read %s: the bundle is cut off", b.in.location)
	}
	return hints.Attach(fmt.Errorf("read %s: the bundle is damaged: %w", b.in.location, err),
		"copy it again, or use --salvage")
}

// IsBundle reports whether a file starts with a tar archive compressed with zstd, as a bundle does. Profiles
// may be compressed with zstd too.
func IsBundle(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [512]byte
	n, _ := f.Read(head[:zstd.HeaderMaxSize])
	if new(zstd.Header).Decode(head[:n]) != nil { // avoid a large decoder, because most files are not zstd
		return false
	}
	z, err := zstd.NewReader(io.MultiReader(bytes.NewReader(head[:n]), f), zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxWindow(256<<20))
	if err != nil {
		return false
	}
	defer z.Close()
	const magic = 257 // offset of the magic in a header (POSIX.1-1988, ustar)
	_, err = io.ReadFull(z, head[:])
	return err == nil && bytes.HasPrefix(head[magic:], []byte("ustar"))
}
