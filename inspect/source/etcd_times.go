package source

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc"

	"kitescope/inspect/model"
)

// Limits on timed reads. Larger pages are not timed, because the network dominates their duration. Only the
// most recent maxWaits times are kept.
const (
	smallPage = 16 << 10
	maxWaits  = 256
)

// readTimes holds the durations of small reads by any caller. Reads that overlap a stalled read belong to the same
// stall and count once. The zero value is ready to use.
type readTimes struct {
	mu           sync.Mutex
	list         []time.Duration
	stalled      time.Time // the end of the last stall
	lastResponse time.Time // the last response of any kind
}

// call is a grpc.UnaryClientInterceptor. For a read that exceeded its deadline it records the time until the
// deadline, which is a lower bound.
func (w *readTimes) call(
	ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
	opts ...grpc.CallOption,
) error {
	start := time.Now()
	err := invoke(ctx, method, request, reply, conn, opts...)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !isDeadline(err) {
		w.lastResponse = time.Now()
	}
	if p, ok := reply.(*page); ok && (err == nil && len(p.raw) <= smallPage || isDeadline(err)) {
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

// sinceResponse returns the time since the last response.
func (w *readTimes) sinceResponse() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.lastResponse)
}

// take returns the durations measured since the previous call.
func (w *readTimes) take() []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.list
	w.list = nil
	return list
}
