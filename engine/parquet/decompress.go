package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"kitescope/internal/hints"
)

// Codecs of parquet.thrift: Chunk.Codec.
const (
	CodecNone   = 0
	CodecSnappy = 1
	CodecGzip   = 2
	CodecBrotli = 4
	CodecZstd   = 6
	CodecLZ4    = 7 // LZ4_RAW: a block of LZ4 without a frame
)

// A page may decompress to at most pageRatio times its size, or pageFloor bytes if that is more. Pages usually hold
// about a megabyte, or the vectors of a batch.
const pageRatio, pageFloor = 256, 64 << 20

// Decompressor decompresses pages, one at a time.
type Decompressor struct {
	zstd   *zstd.Decoder
	buffer []byte // reused between pages
}

// NewDecompressor returns a Decompressor, which the caller closes.
func NewDecompressor() (*Decompressor, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true),
		zstd.WithDecoderMaxWindow(128<<20), zstd.WithDecoderLowmem(true))
	return &Decompressor{zstd: z}, err
}

// Close closes the decoders.
func (d *Decompressor) Close() { d.zstd.Close() }

// Trim releases the memory of a huge page.
func (d *Decompressor) Trim() {
	if cap(d.buffer) > pageFloor {
		d.buffer = nil
	}
}

// Decompress returns the content of a page, which must have want bytes. The next call reuses its memory.
func (d *Decompressor) Decompress(codec int, b []byte, want int) (content []byte, err error) {
	if want > pageFloor && want/pageRatio > len(b) { // far more than pages of this size hold
		return nil, fmt.Errorf("%d bytes claim to decompress to %d", len(b), want)
	}
	if len(b) == 0 && want == 0 { // a page of nulls, which some writers do not compress
		return nil, nil
	}
	switch codec {
	case CodecNone:
		content = b
	case CodecSnappy:
		if n, err := snappy.DecodedLen(b); err != nil || n != want || want > 64*len(b) {
			return nil, fmt.Errorf("%d bytes of snappy do not decompress to the declared %d", len(b), want)
		}
		content, err = snappy.Decode(d.buffer[:cap(d.buffer)], b)
		d.buffer = content
	case CodecGzip:
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(b)); err == nil {
			content, err = d.stream(z, len(b), want)
		}
	case CodecBrotli:
		content, err = d.stream(brotli.NewReader(bytes.NewReader(b)), len(b), want)
	case CodecZstd:
		content, err = d.decodeZstd(b, want)
	case CodecLZ4:
		if want/255 > len(b) { // a byte adds at most 255 to a length
			return nil, fmt.Errorf("%d bytes of lz4 do not decompress to the declared %d", len(b), want)
		}
		var n int
		d.grow(max(want, 1)) // the library's assembler writes to a nil slice
		n, err = lz4.UncompressBlock(b, d.buffer[:want])
		content = d.buffer[:max(n, 0)]
	default:
		return nil, unsupportedCodec(codec)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", codecName(codec), err)
	}
	if len(content) != want {
		return nil, fmt.Errorf("%s: %d bytes, expected %d", codecName(codec), len(content), want)
	}
	return content, nil
}

// grow makes the buffer at least n bytes large.
func (d *Decompressor) grow(n int) {
	if cap(d.buffer) < n {
		d.buffer = make([]byte, n, n+n/8) // the next page may be slightly larger
	}
}

// stream reads at most want+1 bytes, so that the caller detects excess bytes. Memory grows with the bytes read, not
// with the declared size.
func (d *Decompressor) stream(r io.Reader, compressed, want int) ([]byte, error) {
	out := bytes.NewBuffer(d.buffer[:0])
	out.Grow(min(want, 16*compressed) + bytes.MinRead)
	_, err := io.Copy(out, io.LimitReader(r, int64(want)+1))
	d.buffer = out.Bytes()
	return d.buffer, err
}

func (d *Decompressor) decodeZstd(b []byte, want int) ([]byte, error) {
	for size := min(want, 64*len(b)+64<<10); ; size = min(want, 8*size) {
		d.grow(size)
		limit := min(cap(d.buffer), want)
		out, err := d.zstd.DecodeAll(b, d.buffer[:0:limit])
		if errors.Is(err, zstd.ErrDecoderSizeExceeded) && limit < want {
			continue
		}
		return out, err
	}
}

func codecName(codec int) string {
	names := [...]string{"no compression", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"}
	if codec >= 0 && codec < len(names) {
		return names[codec]
	}
	return fmt.Sprintf("codec %d", codec)
}

func unsupportedCodec(codec int) error {
	return hints.Errorf(`write the file with ZSTD, e.g. pyarrow.parquet.write_table(table, name, compression="zstd")`,
		"compression %s is not supported", codecName(codec))
}
