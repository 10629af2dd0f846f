package source

import (
	"context"
	"errors"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kitescope/internal/hints"
)

// TestCallerDeadline simulates a server that reports an exceeded deadline shortly before the caller's
// own deadline. gRPC passes the deadline on, so both sides apply it.
func TestCallerDeadline(t *testing.T) {
	s := &Etcd{opts: Options{RequestTimeout: time.Minute}}
	early := status.Error(codes.DeadlineExceeded, "context deadline exceeded")
	for name, c := range map[string]struct {
		patience time.Duration
		own      bool
	}{
		"the caller's":  {30 * time.Millisecond, true},
		"the request's": {time.Hour, false},
		"nobody's":      {0, false},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		if c.patience > 0 {
			ctx, cancel = context.WithTimeout(t.Context(), c.patience)
		}
		err := s.explain(ctx, "watch", early)
		if errors.Is(err, context.DeadlineExceeded) != c.own {
			t.Errorf("%s: %v", name, err)
		}
		var advice *hints.Error
		if errors.As(err, &advice) == c.own {
			t.Errorf("%s: %#v", name, err)
		}
		cancel()
	}
}
