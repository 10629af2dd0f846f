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
	// inMemory is up to which size a compressed archive is unpacked into memory.
	inMemory = 32 << 20
	// An archive may unpack to so many times its size, and so much more: binlogs are
	// compressed already, so a real one stays far below, and a bomb ends soon.
	unpackRatio, unpackFloor = 1024, 64 << 20
)

// OpenTar opens a tar archive, plain or compressed with gzip or zstd, as its first bytes tell.
// Members of a plain one are read in place. A compressed one is unpacked once, into memory or,
// beyond 32 MiB, into a private temporary file that Close removes.
//
// Names lose a leading "./" or "/"; of members with the same name the last counts, as when tar
// extracts. A name with "..", a member that ends beyond the archive and an archive that
// unpacks to more than 1024 times its size are errors; a sparse member is listed, and opening
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

// ReadTar is OpenTar for a plain archive in memory.
func ReadTar(ctx context.Context, name string, content []byte) (Store, error) {
	t := &archive{name: name, ReaderAt: bytes.NewReader(content), size: int64(len(content)), close: func() error { return nil }}
	if err := t.index(ctx); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return t, nil
}

type archive struct {
	io.ReaderAt // of the tar, unpacked
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
		return nil, notThere(name)
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
	in = &cancellable{Reader: io.LimitReader(in, limit+1), ctx: ctx}
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

// cancellable ends a long copy when its context ends.
type cancellable struct {
	io.Reader
	ctx context.Context
}

func (c *cancellable) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.Reader.Read(b)
}

// index finds the members in one pass over their headers.
func (t *archive) index(ctx context.Context) error {
	t.members = map[string]member{}
	in := io.NewSectionReader(t, 0, t.size)
	r := tar.NewReader(in) // it seeks over contents and buffers nothing: in's position is where a content starts
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
	case tar.TypeLink: // tar writes the second name of a file so
		if m, ok := t.members[path.Clean(strings.TrimLeft(h.Linkname, "/"))]; ok {
			t.members[name] = m
		}
	}
	return nil
}

// sparse tells of the PAX form of sparse members, whose records archive/tar keeps.
func sparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}
