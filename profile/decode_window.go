package profile

import (
	"context"
	"errors"
	"io"

	"kitescope/internal/words"
)

// window is a sliding window over the decompressed bytes.
type window struct {
	r       io.Reader
	buf     []byte
	at, end int // bounds of the unread bytes
	read    int64
	max     int64
	err     error // the reader's error, set when no more bytes follow
	first   []byte
}

const (
	windowSize = 256 << 10
	// headSize is the number of leading bytes that are kept to recognize other formats.
	headSize = 512
)

func newWindow(r io.Reader, limits Limits) window {
	n := windowSize
	if limits.Size > 0 && limits.Size < windowSize/4 { // a small profile; there may be hundreds
		n = int(max(4<<10, limits.Size*4))
	}
	return window{r: r, buf: make([]byte, n), max: limits.MaxBytes}
}

// head returns the first bytes of the input, at most headSize.
func (w *window) head() []byte { return w.first }

// ensure reads until the window holds n bytes or the input ends, in which case it holds fewer.
func (w *window) ensure(ctx context.Context, n int) error {
	for w.end-w.at < n {
		if errors.Is(w.err, io.EOF) {
			return nil
		}
		if err := w.fill(ctx); err != nil {
			return err
		}
	}
	return nil
}

// fill reads some bytes. At the end of the input it sets w.err to io.EOF and returns nil.
func (w *window) fill(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.at > 0 {
		w.end = copy(w.buf, w.buf[w.at:w.end])
		w.at = 0
	}
	if w.end == len(w.buf) { // a longer message: grow with its bytes, not with its claimed length
		w.buf = append(w.buf, make([]byte, len(w.buf))...)
	}
	for range 100 {
		n, err := w.r.Read(w.buf[w.end:])
		if len(w.first) < headSize {
			w.first = append(w.first, w.buf[w.end:w.end+min(n, headSize-len(w.first))]...)
		}
		w.end += n
		w.read += int64(n)
		if w.read > w.max {
			return tooLarge("more than %s when decompressed", words.Bytes(w.max))
		}
		if err != nil {
			w.err = err
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if n > 0 {
			return nil
		}
	}
	return io.ErrNoProgress
}

// skip discards n bytes. It does not buffer those outside the window.
func (w *window) skip(ctx context.Context, n uint64) error {
	for uint64(w.end-w.at) < n {
		n -= uint64(w.end - w.at)
		w.at = w.end
		if errors.Is(w.err, io.EOF) {
			return errTruncated
		}
		if err := w.fill(ctx); err != nil {
			return err
		}
	}
	w.at += int(n)
	return nil
}
