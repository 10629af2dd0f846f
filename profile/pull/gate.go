package pull

import (
	"context"
	"sync"
	"time"
)

// gate holds back those who are connected until all are, or can no longer be waited for: so
// all windows begin together.
type gate struct {
	mu      sync.Mutex
	missing int
	open    chan struct{}
	late    *time.Timer
}

// gatePatience bounds how long one host that does not answer keeps the others waiting.
const gatePatience = 2 * time.Second

func newGate(count int, patience time.Duration) *gate {
	g := &gate{missing: count, open: make(chan struct{})}
	// Held until the timer is known: with no patience left it goes off at once, and stops itself.
	g.mu.Lock()
	defer g.mu.Unlock()
	g.late = time.AfterFunc(patience, func() { g.arrive(count) })
	return g
}

// arrive says that some are connected, or will not be.
func (g *gate) arrive(count int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.missing > 0 && g.missing <= count {
		close(g.open)
		g.late.Stop()
	}
	g.missing -= count
}

// wait returns when the gate is open, or ctx has ended.
func (g *gate) wait(ctx context.Context) {
	select {
	case <-g.open:
	case <-ctx.Done():
	}
}
