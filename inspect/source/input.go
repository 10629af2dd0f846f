package source

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"kitescope/internal/hints"
)

// input is a file, or the whole content of a pipe in memory.
type input struct {
	io.ReaderAt
	// location is the path, or "-".
	location string
	size     int64
	// modified is the time at which the content was written, if known.
	modified time.Time
	// file is the file to close, or nil if the content is in memory.
	file *os.File
	// packed is the size before unpacking, 0 if nothing was unpacked.
	packed int64
	// layers is the number of gzip layers that were removed.
	layers int
}

func (in *input) close() error {
	if in.file == nil {
		return nil
	}
	return in.file.Close()
}

// packedSize returns the size of the file before decompression.
func (in *input) packedSize() int64 {
	if in.packed > 0 {
		return in.packed
	}
	return in.size
}

// reader returns a reader of the whole input.
func (in *input) reader() io.Reader { return io.NewSectionReader(in, 0, in.size) }

// readAll reads r into memory. It returns an error if r has more than limit bytes.
func (in *input) readAll(r io.Reader, limit int64) error {
	content, err := io.ReadAll(io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return fmt.Errorf("read %s: %w", in.location, cause(err))
	case int64(len(content)) > limit:
		return hints.Errorf("save it to a file and unpack it there: a plain file is read in place",
			"read %s: more than %d MiB do not fit into memory", in.location, limit>>20)
	}
	in.ReaderAt, in.size = bytes.NewReader(content), int64(len(content))
	return nil
}

// Magic numbers of the supported formats.
const (
	gzipMagic = "\x1f\x8b"
	zstdMagic = "\x28\xb5\x2f\xfd"
)

// sniffBytes is the number of bytes that are read to detect the format. A bbolt file may have only its second
// meta page intact, and pages have up to 64 KiB.
const sniffBytes = 256 << 10

// format is a file format, detected from the first bytes.
type format int

const (
	formatUnknown format = iota
	formatGzip
	formatBolt
	formatBackup
	formatBundle
)

// sniff detects the format from the first bytes.
func sniff(head []byte) format {
	switch {
	case bytes.HasPrefix(head, []byte(gzipMagic)):
		return formatGzip
	case bytes.HasPrefix(head, []byte(zstdMagic)):
		return formatBundle
	case hasBoltMagic(head):
		return formatBolt
	case isBackupHead(head):
		return formatBackup
	}
	return formatUnknown
}

// hasBoltMagic reports whether head has a bbolt meta page at the start or one page later.
func hasBoltMagic(head []byte) bool {
	for at := 0; at <= maxPageSize; at = nextMetaAt(at) {
		if len(head) >= at+pageHeaderSize+4 && binary.LittleEndian.Uint32(head[at+pageHeaderSize:]) == boltMagic {
			return true
		}
	}
	return false
}

// head returns up to sniffBytes bytes from the start.
func (in *input) head() ([]byte, error) {
	buf := make([]byte, min(in.size, sniffBytes))
	n, err := in.ReadAt(buf, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: %w", in.location, cause(err))
	}
	return buf[:n], nil
}

// openInput detects the format of a file and opens it.
func openInput(ctx context.Context, in input, opts Options) (Source, error) {
	src, err := openFormat(ctx, in, opts)
	if err != nil {
		_ = in.close()
	}
	return src, err
}

func openFormat(ctx context.Context, in input, opts Options) (Source, error) {
	if in.size == 0 {
		return nil,
			hints.Errorf("the copy or the pipe that made it failed: make it again",
				"open %s: the file is empty (0 bytes)", in.location)
	}
	kind, head, unpack, err := in.sniff()
	if err != nil {
		return nil, err
	}
	switch kind {
	case formatBackup:
		return openBackup(&in, unpack, opts)
	case formatBundle:
		return openBundle(&in, unpack, opts)
	case formatBolt:
		if err := in.unpackToMemory(unpack, opts); err != nil {
			return nil, err
		}
		return openBolt(ctx, &in, opts)
	default:
		return nil, unknownFormat(in.location, head)
	}
}

// sniff detects the format below all gzip layers. It also returns the first decompressed bytes and an opener of
// the decompressed content.
func (in *input) sniff() (kind format, head []byte, unpack opener, err error) {
	if head, err = in.head(); err != nil {
		return formatUnknown, nil, nil, err
	}
	unpack = in.plain
	for kind = sniff(head); kind == formatGzip; kind = sniff(head) {
		if in.layers++; in.layers > maxLayers {
			return kind, nil, nil, fmt.Errorf("open %s: packed with gzip more than %d times", in.location, maxLayers)
		}
		unpack = removeLayer(unpack)
		if head, err = peek(unpack, in); err != nil {
			return kind, nil, nil, notGzip(in.location, err)
		}
	}
	return kind, head, unpack, nil
}

// maxLayers bounds nested gzip.
const maxLayers = 3

// opener starts a pass over the decompressed content.
type opener func() (io.Reader, error)

func (in *input) plain() (io.Reader, error) { return in.reader(), nil }

// removeLayer returns an opener that removes one gzip layer from the content of open.
func removeLayer(open opener) opener {
	return func() (io.Reader, error) {
		r, err := open()
		if err != nil {
			return nil, err
		}
		return gzip.NewReader(bufio.NewReaderSize(r, 128<<10))
	}
}

// peek returns the start of the decompressed content. If the gzip stream is truncated, it returns the bytes
// before the cut. A time in the gzip header replaces the modification time of the file, because it is when the
// content was written, not when this copy was.
func peek(open opener, in *input) ([]byte, error) {
	r, err := open()
	if err != nil {
		return nil, err
	}
	if gz, ok := r.(*gzip.Reader); ok && !gz.ModTime.IsZero() {
		in.modified = gz.ModTime
	}
	head := make([]byte, sniffBytes)
	n, err := io.ReadFull(r, head)
	if n == 0 && err != nil {
		return nil, err
	}
	return head[:n], nil
}

// unpackToMemory replaces a compressed input with its content.
func (in *input) unpackToMemory(open opener, opts Options) error {
	if in.layers == 0 {
		return nil
	}
	r, err := open()
	if err != nil {
		return notGzip(in.location, err)
	}
	plain := *in
	plain.file, plain.packed = nil, in.size
	if err := plain.readAll(&salvageReader{r: r, salvage: opts.Salvage}, opts.memoryLimit()); err != nil {
		return notGzip(in.location, err)
	}
	if err := in.close(); err != nil {
		return fmt.Errorf("close %s: %w", in.location, cause(err))
	}
	*in = plain
	return nil
}

// salvageReader returns io.EOF instead of an error where the compressed data is damaged.
type salvageReader struct {
	r       io.Reader
	salvage bool
}

func (s *salvageReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && s.salvage && !errors.Is(err, io.EOF) {
		err = io.EOF
	}
	return n, err
}

// notGzip adds a message and a hint to a decompression error.
func notGzip(location string, err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return hints.Errorf("copy it again, or use --salvage", "read %s: the compressed file is cut off", location)
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader):
		return hints.Errorf("copy it again, or use --salvage", "read %s: the compressed file is damaged: %w", location,
			err)
	}
	if hints.HasHint(err) {
		return err
	}
	return hints.Attach(fmt.Errorf("read %s: %w", location, err), "copy it again, or use --salvage")
}

func unknownFormat(location string, head []byte) error {
	const advice = "supported: a file of etcdctl snapshot save, an etcd member's db, " +
		"a birdwatcher backup (.bak.gz), or a kitescope bundle"
	what := "not a file that holds Milvus metadata"
	trimmed := bytes.TrimLeft(head, " \t\r\n")
	switch {
	case len(bytes.Trim(head, "\x00")) == 0:
		what = "the file starts with nothing but zero bytes"
	case len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '['):
		what = "JSON is not a snapshot"
	}
	return hints.Errorf(advice, "open %s: %s", location, what)
}
