package live

import (
	"io"
	"net"
	"sync/atomic"

	"kitescope/inspect/model"
)

// room bounds the memory of responses in flight over all connections: bytes that were received and are not
// decoded yet.
type room struct {
	limit int64
	held  atomic.Int64
}

const (
	// roomAnswers is the number of responses of maximum size that fit.
	roomAnswers = 16
	// roomPerRead is the overhead of a piece in bytes, because a response may arrive in very small ones.
	roomPerRead = 128
)

func newRoom(opts *Options) *room { return &room{limit: roomAnswers * opts.MaxAnswer} }

// tenant is a connection that receives responses, or one HTTP response. Each enter requires a leave.
type tenant struct {
	room *room
	held atomic.Int64
	full atomic.Bool
}

func (r *room) enter() *tenant { return &tenant{room: r} }

// take counts bytes that were read, and returns an error if they exceed the room.
func (t *tenant) take(n int64) error {
	t.held.Add(n)
	if t.room.held.Add(n) > t.room.limit {
		t.full.Store(true)
		return t.gone()
	}
	return nil
}

// gone returns why reading has stopped, or nil if it has not.
func (t *tenant) gone() *failure {
	if !t.full.Load() {
		return nil
	}
	return failed(model.TooLarge, "given up: the answers of all processes exceed %s", mebibytes(t.room.limit))
}

// give releases the memory of a response of n bytes and of its pieces.
func (t *tenant) give(n int64) {
	const pieces = 32 // 1/pieces of the response's size exceeds their share
	n = min(n+n/pieces, t.held.Load())
	t.held.Add(-n)
	t.room.held.Add(-n)
}

// leave releases all memory of the tenant.
func (t *tenant) leave() { t.room.held.Add(-t.held.Swap(0)) }

// countedConn counts the bytes of a connection as they arrive.
type countedConn struct {
	net.Conn
	*tenant
}

func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		if full := c.take(int64(n) + roomPerRead); full != nil {
			return 0, full
		}
	}
	return n, err
}

// countedBody counts the bytes of an HTTP response body as they arrive, decompressed.
type countedBody struct {
	io.Reader
	*tenant
}

func (c *countedBody) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	if n > 0 {
		if full := c.take(int64(n)); full != nil {
			return 0, full
		}
	}
	return n, err
}
