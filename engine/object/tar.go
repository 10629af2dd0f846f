package object

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/klauspost/compress/zstd"
)

const (
	// inMemory is the size up to which a compressed archive is unpacked into memory.
	inMemory = 32 << 20
	// An archive may unpack to at most unpackRatio times its size plus unpackFloor bytes. Real archives stay
	// far below this limit because binlogs are compressed already, and a decompression bomb fails early.
	unpackRatio, unpackFloor = 1024, 64 << 20
)

// OpenTar opens a tar archive, plain or compressed with gzip or zstd, which it detects from the first bytes.
// Members of a plain archive are read in place. A compressed archive is unpacked once, into memory or, if it is
// larger than 32 MiB, into a private temporary file that Close removes.
//
// Names lose a leading "./" or "/". Of members with the same name, the last one counts, as when tar extracts.
// OpenTar returns an error for a name with "..", for a member that ends after the end of the archive, and for
// an archive that unpacks to more than 1024 times its size plus 64 MiB. A sparse member is listed, but opening
// it is an error.
func OpenTar(ctx context.Context, file string) (Store, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	t := &archive{name: file, ReaderAt: f, size: info.Size(), close: f.Close}
	if err := t.unpack(ctx, f); err != nil {
		_ = t.Close()
		return nil, fmt.Errorf("unpack %s: %w", file, err)
	}
	if err := t.index(ctx); err != nil {
		_ = t.Close()
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return t, nil
}

// ReadTar is like OpenTar for a plain archive in memory.
func ReadTar(ctx context.Context, name string, content []byte) (Store, error) {
	t := &archive{
		name: name, ReaderAt: bytes.NewReader(content), size: int64(len(content)), close: func() error { return nil },
	}
	if err := t.index(ctx); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return t, nil
}

type archive struct {
	io.ReaderAt // the unpacked tar
	name        string
	size        int64
	files       []File
	members     map[string]member
	close       func() error
}

type member struct {
	at, size int64
	sparse   bool
}

func (t *archive) String() string { return t.name }
func (t *archive) Close() error   { return t.close() }

func (t *archive) List(ctx context.Context, prefix string) ([]File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var files []File
	for _, f := range t.files {
		if strings.HasPrefix(f.Name, prefix) {
			files = append(files, f)
		}
	}
	return files, nil
}

func (t *archive) Open(ctx context.Context, name string) (Reader, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m, ok := t.members[name]
	if !ok {
		return nil, notExist(name)
	}
	if m.sparse {
		return nil, fmt.Errorf("read %s: stored as a sparse file in the archive: not supported", name)
	}
	return part{io.NewSectionReader(t, m.at, m.size)}, nil
}

// unpack replaces the archive by its content if it is compressed.
func (t *archive) unpack(ctx context.Context, f *os.File) error {
	var magic [4]byte
	if _, err := f.ReadAt(magic[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	var in io.Reader
	switch {
	case bytes.HasPrefix(magic[:], []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(f)
		if err != nil {
			return err
		}
		in = z
	case magic == [4]byte{0x28, 0xb5, 0x2f, 0xfd}:
		z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(256<<20))
		if err != nil {
			return err
		}
		defer z.Close()
		in = z
	default:
		return nil
	}
	limit := unpackFloor + unpackRatio*t.size
	in = &ctxReader{Reader: io.LimitReader(in, limit+1), ctx: ctx}
	var head bytes.Buffer
	n, err := io.Copy(&head, io.LimitReader(in, inMemory))
	switch {
	case err != nil:
		return err
	case n < inMemory:
		_ = t.close()
		t.ReaderAt, t.size, t.close = bytes.NewReader(head.Bytes()), n, func() error { return nil }
		return nil
	}
	return t.spill(&head, in, limit)
}

// spill writes an archive that is too large for memory to a temporary file.
func (t *archive) spill(head *bytes.Buffer, rest io.Reader, limit int64) error {
	tmp, err := os.CreateTemp("", "kitescope-tar-") // mode 0600
	if err != nil {
		return err
	}
	n, err := io.Copy(tmp, io.MultiReader(head, rest))
	_ = t.close()
	t.close = func() error {
		_ = tmp.Close()
		return os.Remove(tmp.Name())
	}
	if err == nil && n > limit {
		err = fmt.Errorf("more than %d bytes: a real archive is not compressed by a factor of %d", limit, unpackRatio)
	}
	t.ReaderAt, t.size = tmp, n
	return err
}

// ctxReader ends a long copy when its context is done.
type ctxReader struct {
	io.Reader
	ctx context.Context
}

func (c *ctxReader) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.Reader.Read(b)
}

// index reads the headers of all members in one pass.
func (t *archive) index(ctx context.Context) error {
	t.members = map[string]member{}
	in := io.NewSectionReader(t, 0, t.size)
	r := tar.NewReader(in) // r seeks over contents and does not buffer: the position of in is the start of a content
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		before, _ := in.Seek(0, io.SeekCurrent)
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("a tar header at or after offset %d: %w", before, err)
		}
		at, _ := in.Seek(0, io.SeekCurrent)
		if err := t.add(h, at); err != nil {
			return fmt.Errorf("the tar header before offset %d: %w", at, err)
		}
	}
	for name, m := range t.members {
		t.files = append(t.files, File{Name: name, Size: m.size})
	}
	sortFiles(t.files)
	return nil
}

func (t *archive) add(h *tar.Header, at int64) error {
	name := path.Clean(strings.TrimLeft(h.Name, "/"))
	if !fs.ValidPath(name) {
		return fmt.Errorf("the name %q leads out of the archive", h.Name)
	}
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeGNUSparse:
		m := member{at: at, size: h.Size, sparse: h.Typeflag == tar.TypeGNUSparse || sparse(h)}
		if !m.sparse && (h.Size < 0 || h.Size > t.size-at) {
			return fmt.Errorf("%s is truncated: %d bytes expected, %d found", name, h.Size, t.size-at)
		}
		t.members[name] = m
	case tar.TypeLink: // tar stores a second name of a file as a link
		if m, ok := t.members[path.Clean(strings.TrimLeft(h.Linkname, "/"))]; ok {
			t.members[name] = m
		}
	}
	return nil
}

// sparse reports whether a member is sparse in the PAX format, whose records archive/tar keeps.
func sparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}
