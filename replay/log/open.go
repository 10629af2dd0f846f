package log

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"kitescope/engine/dataset"
	"kitescope/engine/dist"
	"kitescope/engine/parquet"
	"kitescope/internal/hints"
)

// Options selects the part of a log to read, and how strictly.
type Options struct {
	// Skip is the number of requests to skip at the start, and Limit the maximum number to keep; 0 means no limit.
	// Requests that are skipped for another reason do not count.
	Skip, Limit int
	// Element and Dim are the required element type and dimension of vectors; nil and 0 accept any. float32 vectors
	// of a file are converted to float16 or bfloat16 (rounded to nearest, and counted), or to int8 if all values are
	// integers.
	Element *dist.Element
	Dim     int
	// Strict returns an error for the first broken line, vector of other dimensions or value that is not finite.
	// Without it, they are counted and skipped.
	Strict bool
	// Batch is the number of vectors of a vector file per request; 0 means 1.
	Batch int
	// Column is the vector column of a parquet file; it may be empty if there is only one.
	Column string
}

// kind is the type of a file by its first bytes.
type kind string

const (
	kindNPY     kind = "npy"
	kindParquet kind = "parquet"
	kindJSONL   kind = "jsonl"
	kindGzip    kind = "gzip"
	kindZstd    kind = "zstd"
	kindHDF5    kind = "hdf5"
	kindAccess  kind = "access log"
	kindVecs    kind = "vecs" // fvecs, bvecs or ivecs; only lengths distinguish them
	kindEmpty   kind = "empty"
	kindUnknown kind = ""
)

// Open reads a query log: .npy, .fvecs, .bvecs and .parquet with engine/dataset, and .jsonl (plain, gzip or zstd) as
// documented by Write. It detects the format by the first bytes. It uses the name only to distinguish .fvecs and
// .bvecs if the bytes are ambiguous. Vectors of .npy and .fvecs files may be in a mapped file, which must not be
// truncated before Close.
//
// Errors have the name of the file and, if applicable, the line. A hints.Error has advice.
func Open(ctx context.Context, path string, o Options) (*Log, error) {
	l, err := open(ctx, path, o)
	if err == nil {
		l.Name = path
		return l, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if !strings.HasPrefix(err.Error(), "read "+path) {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return nil, err
}

func open(ctx context.Context, path string, o Options) (*Log, error) {
	if o.Skip < 0 || o.Limit < 0 || o.Batch < 0 || o.Dim < 0 {
		return nil,
			fmt.Errorf("skip %d, limit %d, batch %d, dim %d: must not be negative", o.Skip, o.Limit, o.Batch, o.Dim)
	}
	if err := dataset.Foreign(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, withoutPath(err)
	}
	if info.IsDir() {
		return nil, errors.New("expected a file, found a folder")
	}
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, withoutPath(err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, withoutPath(err)
	}
	switch k := sniff(head[:n]); k {
	case kindJSONL, kindGzip, kindZstd:
		return openLines(ctx, f, k, o)
	case kindNPY, kindParquet, kindVecs, kindHDF5:
		return openVectors(ctx, f, info.Size(), k, path, o)
	default:
		return nil, formatError(k)
	}
}

// withoutPath returns the error of a file without its name, which the caller adds.
func withoutPath(err error) error {
	if pathError, ok := errors.AsType[*os.PathError](err); ok {
		return pathError.Err
	}
	return err
}

// formatError returns the reason why a file is not a log, with advice.
func formatError(k kind) error {
	if k == kindEmpty {
		return errors.New("the file is empty")
	}
	if k == kindAccess {
		return hints.Errorf("turn it into a log, with vectors from another: kitescope replay capture",
			"it is a Milvus proxy access log: times without vectors")
	}
	return hints.Errorf(`a .jsonl has one object per line: {"vector": [0.1, 0.2], "k": 10}`,
		"expected a .npy, .fvecs, .bvecs, .parquet or .jsonl file, found something else")
}

// sniff detects the type of a file by its first bytes.
func sniff(head []byte) kind {
	switch {
	case len(head) == 0:
		return kindEmpty
	case bytes.HasPrefix(head, []byte("\x93NUMPY")):
		return kindNPY
	case bytes.HasPrefix(head, []byte("PAR1")):
		return kindParquet
	case bytes.HasPrefix(head, []byte("\x89HDF\r\n\x1a\n")):
		return kindHDF5
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return kindGzip
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		return kindZstd
	}
	t := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	switch {
	case len(t) == 0 && len(head) < 512: // only blank lines
		return kindEmpty
	case len(t) >= 2 && t[0] == '{' && (t[1] == '"' || t[1] == '}' || t[1] == ' ' || t[1] == '\t'):
		return kindJSONL
	case len(t) > 20 && t[0] == '[' && t[5] == '/' && t[8] == '/' && t[14] == ':':
		return kindAccess
	}
	// A vecs file starts with the dimension of its first row, below 2^22, so its fourth byte is zero, unlike in
	// text.
	if len(head) >= 5 && head[3] == 0 {
		if dim := binary.LittleEndian.Uint32(head); dim > 0 && dim < 1<<22 {
			return kindVecs
		}
	}
	return kindUnknown
}

// openLines reads a .jsonl. The digest covers all bytes of the file, including those after the last selected
// request.
func openLines(ctx context.Context, f *os.File, k kind, o Options) (*Log, error) {
	sum := sha256.New()
	raw := &countingReader{r: io.TeeReader(f, sum), ctx: ctx}
	in, done, err := decompress(raw, k)
	if err != nil {
		return nil, err
	}
	defer done()
	r := lineReader{o: o, extra: names{}}
	if err := r.readLines(ctx, in); err != nil {
		return nil, err
	}
	l, err := r.log()
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(io.Discard, raw); err != nil {
		l.Close()
		return nil, withoutPath(err)
	}
	l.Digest = hex.EncodeToString(sum.Sum(nil))
	return l, nil
}

// countingReader counts bytes, and stops when its context ends.
type countingReader struct {
	r   io.Reader
	ctx context.Context //nolint:containedctx // a reader has no other way to be told
	n   int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// decompress returns the content of a gzip or zstd stream. It returns any other stream unchanged.
func decompress(raw *countingReader, k kind) (in io.Reader, done func(), err error) {
	switch k {
	case kindGzip:
		z, err := gzip.NewReader(raw)
		if err != nil {
			return nil, nil, fmt.Errorf("expected a gzip stream: %w", err)
		}
		return &ratioReader{r: z, raw: raw}, func() { _ = z.Close() }, nil
	case kindZstd:
		z, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20),
			zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, nil, fmt.Errorf("expected a zstd stream: %w", err)
		}
		return &ratioReader{r: z, raw: raw}, z.Close, nil
	default:
		return raw, func() {}, nil
	}
}

// ratioReader returns an error if a stream expands far more than text of real vectors, which is compressed to a third.
type ratioReader struct {
	r   io.Reader
	raw *countingReader
	n   int64
}

func (b *ratioReader) Read(p []byte) (int, error) {
	if b.n > parquet.MaxRatio*b.raw.n+parquet.MaxExtra {
		return 0, fmt.Errorf("%d compressed bytes became more than %d", b.raw.n, b.n)
	}
	n, err := b.r.Read(p)
	b.n += int64(n)
	return n, err
}

// formatOf returns the format with which engine/dataset reads a file.
func formatOf(k kind, path string, size int64, head []byte) dataset.Format {
	switch k {
	case kindNPY:
		return dataset.NPY
	case kindParquet:
		return dataset.Parquet
	case kindHDF5:
		return dataset.HDF5
	default:
	}
	format := dataset.FormatOf(path)
	if format == dataset.Fvecs || format == dataset.Bvecs || format == dataset.Ivecs || len(head) < 4 {
		return format
	}
	dim := int64(binary.LittleEndian.Uint32(head))
	if size%(4+4*dim) != 0 && size%(4+dim) == 0 {
		return dataset.Bvecs
	}
	return dataset.Fvecs
}
