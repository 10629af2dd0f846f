package binlog

import (
	"errors"
	"fmt"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"

	"kitescope/engine/parquet"
)

// decompress returns want bytes, and the buffer for the next page, which holds them if it is
// large enough. Memory grows with what really comes out, not with what a header promises.
func (w *worker) decompress(codec int, b []byte, want int, buffer []byte) (content, next []byte, err error) {
	if want > pageFloor && want/pageRatio > len(b) { // far more than pages of its size hold
		return nil, nil, fmt.Errorf("%d bytes claim to decompress to %d", len(b), want)
	}
	switch codec {
	case parquet.CodecNone:
		if len(b) != want {
			return nil, nil, fmt.Errorf("%d bytes that are not compressed, expected %d", len(b), want)
		}
		return b, buffer, nil
	case parquet.CodecSnappy:
		if n, err := snappy.DecodedLen(b); err != nil || n != want || want > 64*len(b) {
			return nil, nil, fmt.Errorf("%d bytes of snappy that do not hold the %d that were promised", len(b), want)
		}
		out, err := snappy.Decode(buffer[:cap(buffer)], b)
		return out, out, err
	case parquet.CodecZstd:
		return w.decompressZstd(b, want, buffer)
	}
	return nil, nil, unsupported(codec)
}

func unsupported(codec int) error {
	names := map[int]string{2: "GZIP", 3: "LZO", 4: "BROTLI", 5: "LZ4", 7: "LZ4_RAW"}
	return fmt.Errorf("compression %s (%d) is not supported: Milvus writes ZSTD", names[codec], codec)
}

func (w *worker) decompressZstd(b []byte, want int, buffer []byte) (content, next []byte, err error) {
	for size := min(want, 64*len(b)+64<<10); ; size = min(want, 8*size) {
		if cap(buffer) < size {
			buffer = make([]byte, size, size+size/8) // the next page may be a little longer
		}
		limit := min(cap(buffer), want)
		out, err := w.zstd.DecodeAll(b, buffer[:0:limit])
		switch {
		case errors.Is(err, zstd.ErrDecoderSizeExceeded) && limit < want:
			continue
		case err != nil:
			return nil, nil, fmt.Errorf("zstd: %w", err)
		case len(out) != want:
			return nil, nil, fmt.Errorf("zstd: %d bytes, expected %d", len(out), want)
		}
		return out, buffer, nil
	}
}
