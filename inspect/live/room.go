package live

import (
	"context"
	"io"
	"net"
	"sync"
	"time"

	"kitescope/inspect/model"
)

// room bounds the memory of answers under way: what was received, over all connections, and is
// not decoded yet. Each connection may always hold a little, so that usual answers never wait.
// Beyond that all share; and where nothing is left to share, one goes on to the end of its
// answer and the others wait, unread. Who is first and comes to no end in time is let go.
type room struct {
	own    int64 // what each may hold without asking
	shared int64 // what all may hold beyond that
	first  int64 // what the first in line may hold beyond that
	// patience is how long the others wait for the first in line.
	patience time.Duration

	mu      sync.Mutex
	used    int64 // of what is shared
	turn    *tenant
	since   time.Time     // when its turn began
	changed chan struct{} // closed when something may go on
}

const (
	roomOwn    = 128 << 10
	roomShared = 16 << 20
	// roomPerRead is what a piece costs beside its bytes: an answer may come in very small ones.
	roomPerRead = 128
)

func newRoom(opts *Options) *room {
	return &room{own: roomOwn, shared: roomShared, first: opts.MaxAnswer * 3 / 2, patience: opts.Timeout / 4, changed: make(chan struct{})}
}

// tenant is a connection that receives answers.
type tenant struct {
	room *room
	ctx  context.Context
	// interrupt ends its reading, without waiting for anything.
	interrupt func()

	// Guarded by room.mu.
	held  int64
	waits bool // since what it read last
	left  bool
	gone  *failure // why it was let go
}

// enter makes a tenant until ctx ends. Whoever enters leaves.
func (r *room) enter(ctx context.Context, interrupt func()) *tenant {
	return &tenant{room: r, ctx: ctx, interrupt: interrupt}
}

// take makes room for n bytes that were read, and waits until there is.
func (t *tenant) take(n int64) error {
	r := t.room
	r.mu.Lock()
	defer r.mu.Unlock()
	if t.gone == nil && !t.left {
		r.charge(t, n)
	}
	for {
		switch {
		case t.left:
			return net.ErrClosed
		case t.gone != nil:
			return t.gone
		case t.excess() == 0 || r.used <= r.shared:
			t.waits = false
			return nil
		case r.turn == nil:
			r.turn, r.since = t, time.Now()
		case r.turn != t:
			if err := r.wait(t); err != nil {
				return err
			}
			continue
		}
		if t.excess() <= r.first {
			t.waits = false
			return nil
		}
		r.letGo(t, "the answers of one process may not hold more at once")
	}
}

// excess is what a tenant holds beyond what each may.
func (t *tenant) excess() int64 { return max(0, t.held-t.room.own) }

// charge changes what a tenant holds, and lets others go on where there is room again.
func (r *room) charge(t *tenant, n int64) {
	before := t.excess()
	t.held = max(0, t.held+n)
	r.used += t.excess() - before
	if r.turn == t && (t.excess() == 0 || r.used <= r.shared) {
		r.turn = nil
	}
	if n < 0 && (r.turn == nil || r.used <= r.shared) {
		close(r.changed)
		r.changed = make(chan struct{})
	}
}

// wait waits for a change, and lets the first in line go if its time is over.
func (r *room) wait(t *tenant) error {
	changed, first, left := r.changed, r.turn, time.Until(r.since.Add(r.patience))
	t.waits = true
	r.mu.Unlock()
	timer := time.NewTimer(left)
	var err error
	select {
	case <-changed:
	case <-timer.C:
	case <-t.ctx.Done():
		err = context.Cause(t.ctx)
	}
	timer.Stop()
	r.mu.Lock()
	if err == nil && r.turn == first && time.Since(r.since) >= r.patience {
		r.letGo(first, "the answers of other processes waited for its memory")
	}
	return err
}

// letGo ends a tenant that holds too much.
func (r *room) letGo(t *tenant, why string) {
	t.gone = failed(model.TooLarge, "given up at %s: %s", mebibytes(t.held), why)
	r.charge(t, -t.held)
	t.interrupt()
}

// give returns what an answer took, with the pieces that it came in.
func (t *tenant) give(n int64) {
	const pieces = 32 // of the answer's own size is more than their share
	t.room.mu.Lock()
	defer t.room.mu.Unlock()
	t.room.charge(t, -(n + n/pieces + 16*roomPerRead))
}

// leave returns all, for good.
func (t *tenant) leave() {
	t.room.mu.Lock()
	defer t.room.mu.Unlock()
	t.left = true
	t.room.charge(t, -t.held)
}

// state is why a tenant was let go, nil if it was not, and whether its time ended while it waited for room.
func (t *tenant) state() (gone *failure, waited bool) {
	t.room.mu.Lock()
	defer t.room.mu.Unlock()
	return t.gone, t.waits
}

// roomy is a connection whose bytes are counted as they come.
type roomy struct {
	net.Conn
	*tenant
}

func (c *roomy) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		if full := c.take(int64(n) + roomPerRead); full != nil {
			return 0, full
		}
	}
	return n, err
}

// roomyBody is the body of an HTTP answer whose bytes are counted as they come, unpacked.
type roomyBody struct {
	io.Reader
	*tenant
}

func (c *roomyBody) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	if n > 0 {
		if full := c.take(int64(n)); full != nil {
			return 0, full
		}
	}
	return n, err
}
