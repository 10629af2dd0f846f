package read

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"kitescope/internal/hints"
)

// Magic numbers of compressed files (RFC 1952, RFC 8878, the xz file format).
const (
	magicGzip = "\x1f\x8b"
	magicZstd = "\x28\xb5\x2f\xfd"
	magicXz   = "\xfd7zXZ\x00"
)

// maxWindow is the maximum window of a zstd frame, in bytes of memory.
const maxWindow = 256 << 20

func hasMagic(head []byte, magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }

// isZstd reports whether a file is compressed in a way that profile.Decode does not support.
func isZstd(head []byte) bool { return hasMagic(head, magicZstd) }

// unpack returns a reader of the decompressed text. If r is compressed, the reader fails after more than limit
// bytes.
func unpack(r io.Reader, head []byte, limit int64) (text io.Reader, done func(), err error) {
	done = func() {}
	switch {
	case hasMagic(head, magicGzip):
		text, err = gzip.NewReader(r)
	case hasMagic(head, magicZstd):
		var z *zstd.Decoder
		if z, err = zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow)); err ==
			nil {
			text, done = z, z.Close
		}
	case hasMagic(head, magicXz):
		return nil, nil, hints.Errorf("unpack it first: xz -d FILE", "it is compressed with xz")
	default:
		return r, done, nil
	}
	if err != nil {
		return nil, nil, unpackError(err)
	}
	return &limited{r: text, left: limit, limit: limit}, done, nil
}

// unpackedHead returns the first decompressed bytes of a file, given its first bytes.
func unpackedHead(head []byte) ([]byte, error) {
	text, done, err := unpack(bytes.NewReader(head), head, sniffLen)
	if err != nil {
		return nil, err
	}
	defer done()
	if _, ok := text.(*limited); !ok {
		return head, nil
	}
	// 512 bytes are enough to detect a pprof file, so the rest of the file need not be decompressed twice.
	inner := make([]byte, 512)
	n, err := io.ReadFull(text, inner)
	if err == nil && !hasControls(inner) {
		inner = append(inner, make([]byte, sniffLen-n)...)
		var more int
		more, err = io.ReadFull(text, inner[n:])
		n += more
	}
	if n == 0 && err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errEmpty
		}
		return nil, err
	}
	return inner[:n], nil // head ends in the middle of the file, so a decompression error is expected
}

// limited is a reader that fails if there are more than limit bytes, unlike io.LimitedReader, which ends.
type limited struct {
	r           io.Reader
	left, limit int64
}

func (l *limited) Read(b []byte) (int, error) {
	if l.left <= 0 {
		var one [1]byte
		if n, err := l.r.Read(one[:]); n == 0 && err != nil {
			return 0, err
		}
		return 0, hints.Errorf("unpack it and read the part you want", "it decompresses to more than %d bytes", l.limit)
	}
	n, err := l.r.Read(b[:min(int64(len(b)), l.left)])
	l.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		err = unpackError(err)
	}
	return n, err
}

// unpackError returns a readable error for damaged compressed data.
func unpackError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return hints.Errorf("copy or pull it again", "its compressed data is cut in the middle")
	}
	return fmt.Errorf("unpack: %w", err)
}
