package live

import (
	"io"
	"net"
	"sync/atomic"

	"kitescope/inspect/model"
)

// memoryBudget bounds the memory of responses in flight over all connections: bytes that were received and are not
// decoded yet.
type memoryBudget struct {
	limit int64
	used  atomic.Int64
}

const (
	// budgetResponses is the number of responses of maximum size that fit.
	budgetResponses = 16
	// readOverhead is the overhead of a piece in bytes, because a response may arrive in very small ones.
	readOverhead = 128
)

func newMemoryBudget(opts *Options) *memoryBudget {
	return &memoryBudget{limit: budgetResponses * opts.MaxResponse}
}

// reservation is a connection that receives responses, or one HTTP response. Each enter requires a leave.
type reservation struct {
	budget *memoryBudget
	used   atomic.Int64
	full   atomic.Bool
}

func (r *memoryBudget) newReservation() *reservation { return &reservation{budget: r} }

// reserve counts bytes that were read, and returns an error if they exceed the room.
func (t *reservation) reserve(n int64) error {
	t.used.Add(n)
	if t.budget.used.Add(n) > t.budget.limit {
		t.full.Store(true)
		return t.exceeded()
	}
	return nil
}

// exceeded returns why reading has stopped, or nil if it has not.
func (t *reservation) exceeded() *failure {
	if !t.full.Load() {
		return nil
	}
	return newFailure(model.TooLarge, "given up: the answers of all processes exceed %s", mebibytes(t.budget.limit))
}

// release releases the memory of a response of n bytes and of its pieces.
func (t *reservation) release(n int64) {
	const pieces = 32 // 1/pieces of the response's size exceeds their share
	n = min(n+n/pieces, t.used.Load())
	t.used.Add(-n)
	t.budget.used.Add(-n)
}

// releaseAll releases all memory of the tenant.
func (t *reservation) releaseAll() { t.budget.used.Add(-t.used.Swap(0)) }

// countedConn counts the bytes of a connection as they arrive.
type countedConn struct {
	net.Conn
	*reservation
}

func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		if full := c.reserve(int64(n) + readOverhead); full != nil {
			return 0, full
		}
	}
	return n, err
}

// countedBody counts the bytes of an HTTP response body as they arrive, decompressed.
type countedBody struct {
	io.Reader
	*reservation
}

func (c *countedBody) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	if n > 0 {
		if full := c.reserve(int64(n)); full != nil {
			return 0, full
		}
	}
	return n, err
}
