package pull

import (
	"context"
	"sync"
	"time"
)

// gate holds connected processes back until all are connected or time is up, so that all windows begin
// together.
type gate struct {
	mu      sync.Mutex
	missing int
	open    chan struct{}
	timer   *time.Timer
}

// gateTimeout is the maximum time for which a host that does not respond delays the others.
const gateTimeout = 2 * time.Second

func newGate(count int, timeout time.Duration) *gate {
	g := &gate{missing: count, open: make(chan struct{})}
	// The lock is held until g.late is set, because a timer with timeout 0 fires immediately and stops
	// g.late.
	g.mu.Lock()
	defer g.mu.Unlock()
	g.timer = time.AfterFunc(timeout, func() { g.arrive(count) })
	return g
}

// arrive reports that count processes are connected, or have failed to connect.
func (g *gate) arrive(count int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.missing > 0 && g.missing <= count {
		close(g.open)
		g.timer.Stop()
	}
	g.missing -= count
}

// wait returns when the gate is open or ctx is done.
func (g *gate) wait(ctx context.Context) {
	select {
	case <-g.open:
	case <-ctx.Done():
	}
}
