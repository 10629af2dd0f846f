// Package bounded limits the number of bytes read from a server.
package bounded

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
)

// ErrTooMuch is the error of readers that exceed their limit.
var ErrTooMuch = errors.New("the response exceeds the size limit")

// Bytes is the number of bytes that may still be read, shared by all its readers. The zero value allows none.
type Bytes struct{ left atomic.Int64 }

// Allow sets the number of bytes that may be read from now on.
func (b *Bytes) Allow(n int64) { b.left.Store(n) }

// Exceeded reports whether the readers received more bytes than allowed.
func (b *Bytes) Exceeded() bool { return b.left.Load() < 0 }

// Reader returns a reader that reads from r and counts against b. Its Read returns ErrTooMuch once the limit is
// exceeded.
func (b *Bytes) Reader(r io.Reader) io.Reader { return &reader{r, b} }

// Conn returns a connection whose reads count against b. Its Read returns ErrTooMuch once the limit is exceeded.
func (b *Bytes) Conn(c net.Conn) net.Conn { return &conn{c, reader{c, b}} }

type reader struct {
	io.Reader
	bytes *Bytes
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if r.bytes.left.Add(int64(-n)) < 0 {
		return 0, ErrTooMuch
	}
	return n, err
}

type conn struct {
	net.Conn
	in reader
}

func (c *conn) Read(p []byte) (int, error) { return c.in.Read(p) }
