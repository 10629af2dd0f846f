package profile

import (
	"context"
	"errors"
	"io"

	"kitescope/internal/words"
)

// window is a stretch of the decompressed bytes that slides over them.
type window struct {
	r       io.Reader
	buf     []byte
	at, end int // what is not yet used lies between
	read    int64
	max     int64
	err     error // why no more come
	first   []byte
}

const (
	windowSize = 256 << 10
	// headSize is how many of the first bytes are kept to recognize other formats by.
	headSize = 512
)

func newWindow(r io.Reader, limits Limits) window {
	n := windowSize
	if limits.Size > 0 && limits.Size < windowSize/4 { // a small profile, of which there may be hundreds
		n = int(max(4<<10, limits.Size*4))
	}
	return window{r: r, buf: make([]byte, n), max: limits.MaxBytes}
}

// head are the first bytes of all.
func (w *window) head() []byte { return w.first }

// more brings in bytes until n of them lie in the window or no more come: then there are fewer.
func (w *window) more(ctx context.Context, n int) error {
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

// fill brings in some bytes. At the end of all it sets w.err to io.EOF and is no error.
func (w *window) fill(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.at > 0 {
		w.end = copy(w.buf, w.buf[w.at:w.end])
		w.at = 0
	}
	if w.end == len(w.buf) { // a message that is longer than that; it grows as its bytes come, not as it claims
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

// skip leaves out n bytes, of which those that are not in the window are not kept.
func (w *window) skip(ctx context.Context, n uint64) error {
	for uint64(w.end-w.at) < n {
		n -= uint64(w.end - w.at)
		w.at = w.end
		if errors.Is(w.err, io.EOF) {
			return errCut
		}
		if err := w.fill(ctx); err != nil {
			return err
		}
	}
	w.at += int(n)
	return nil
}
