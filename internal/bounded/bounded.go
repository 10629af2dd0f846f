// Package bounded limits how many bytes are read from a server.
package bounded

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
)

// ErrTooMuch is returned by readers once a limit is reached.
var ErrTooMuch = errors.New("the server sent more than an answer can have")

// Bytes is how many bytes may still be read, by all of its readers together.
type Bytes struct{ left atomic.Int64 }

// Allow sets how many bytes may be read from now on.
func (b *Bytes) Allow(n int64) { b.left.Store(n) }

// Exceeded reports whether more was sent.
func (b *Bytes) Exceeded() bool { return b.left.Load() < 0 }

// Reader limits a reader.
func (b *Bytes) Reader(r io.Reader) io.Reader { return &reader{r, b} }

// Conn limits what is read from a connection.
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
