package live

import (
	"io"
	"net"
	"sync/atomic"

	"kitescope/inspect/model"
)

// room bounds the memory of answers under way, over all connections: of what was received and is not decoded yet.
type room struct {
	limit int64
	held  atomic.Int64
}

const (
	// roomAnswers is how many answers of the largest size there is room for.
	roomAnswers = 16
	// roomPerRead is what a piece costs beside its bytes: an answer may come in very small ones.
	roomPerRead = 128
)

func newRoom(opts *Options) *room { return &room{limit: roomAnswers * opts.MaxAnswer} }

// tenant is a connection that receives answers, or one answer over HTTP. Whoever enters leaves.
type tenant struct {
	room *room
	held atomic.Int64
	full atomic.Bool
}

func (r *room) enter() *tenant { return &tenant{room: r} }

// take counts bytes that were read, and fails where there is no room for them.
func (t *tenant) take(n int64) error {
	t.held.Add(n)
	if t.room.held.Add(n) > t.room.limit {
		t.full.Store(true)
		return t.gone()
	}
	return nil
}

// gone returns why nothing more is read, nil where more is.
func (t *tenant) gone() *failure {
	if !t.full.Load() {
		return nil
	}
	return failed(model.TooLarge, "given up: the answers of all processes have more than %s", mebibytes(t.room.limit))
}

// give returns what an answer took, with the pieces that it came in.
func (t *tenant) give(n int64) {
	const pieces = 32 // of the answer's own size is more than their share
	n = min(n+n/pieces, t.held.Load())
	t.held.Add(-n)
	t.room.held.Add(-n)
}

// leave returns all.
func (t *tenant) leave() { t.room.held.Add(-t.held.Swap(0)) }

// countedConn is a connection whose bytes are counted as they come.
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

// countedBody is the body of an HTTP answer whose bytes are counted as they come, unpacked.
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
