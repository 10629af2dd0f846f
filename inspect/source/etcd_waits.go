package source

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc"

	"kitescope/inspect/model"
)

// Bounds of the reads that are timed: of pages that hold more, the network takes its time; older ones are forgotten.
const (
	smallPage = 16 << 10
	maxWaits  = 256
)

// waits holds how long reads of few keys took, whoever made them. Reads that overlap one that stalled are of the same stall, and count as
// one. The zero value is ready.
type waits struct {
	mu      sync.Mutex
	list    []time.Duration
	stalled time.Time // the end of the last stall
	heard   time.Time // the last answer of any kind
}

// call is a grpc.UnaryClientInterceptor. A read that the deadline ended took at least as long.
func (w *waits) call(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	start := time.Now()
	err := invoke(ctx, method, request, reply, conn, opts...)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !late(err) {
		w.heard = time.Now()
	}
	if p, ok := reply.(*page); ok && (err == nil && len(p.raw) <= smallPage || late(err)) {
		if time.Since(start) > model.Stall {
			if start.Before(w.stalled) {
				return err
			}
			w.stalled = time.Now()
		}
		if w.list = append(w.list, time.Since(start)); len(w.list) > maxWaits {
			w.list = w.list[1:]
		}
	}
	return err
}

// quiet returns for how long nothing was answered.
func (w *waits) quiet() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.heard)
}

// take returns the times measured since its last call.
func (w *waits) take() []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.list
	w.list = nil
	return list
}
