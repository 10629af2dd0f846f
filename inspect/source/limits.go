package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"kitescope/internal/hints"
)

// Limits bound what one scan takes from a source that can go on for ever: an etcd, and a bundle or a backup, which are
// unpacked as they are read. Other files end where they end. Zero values are the defaults, high enough for 10,000,000 keys, which in a large
// cluster have 260 bytes each with their values (docs/evidence/performance.md).
type Limits struct {
	Keys, Bytes int64
	// Time is how long a scan of an etcd may take in all; Options.RequestTimeout bounds each request of it.
	Time time.Duration
}

func (l Limits) orDefault() Limits {
	return Limits{Keys: cmp.Or(l.Keys, 12_000_000), Bytes: cmp.Or(l.Bytes, 4<<30), Time: cmp.Or(l.Time, 30*time.Minute)}
}

// limitAdvice is what to do about a source that is over a limit.
const limitAdvice = "no Milvus is that large: look at what writes there; one collection (coll=NAME) and other commands read less of it"

// meter holds one scan against the limits.
type meter struct {
	limits Limits
	where  string
	keys   atomic.Int64
	bytes  atomic.Int64
}

func newMeter(l Limits, where string) *meter { return &meter{limits: l.orDefault(), where: where} }

// add counts what came, and fails when it is more than a limit.
func (m *meter) add(keys, bytes int) error {
	switch {
	case m.keys.Add(int64(keys)) > m.limits.Keys:
		return hints.Errorf(limitAdvice, "read %s: more than %d keys, %w", m.where, m.limits.Keys, errOverLimit)
	case m.bytes.Add(int64(bytes)) > m.limits.Bytes:
		return hints.Errorf(limitAdvice, "read %s: more than %s, %w", m.where, sizeText(m.limits.Bytes), errOverLimit)
	}
	return nil
}

// deadline ends a scan at the limit of time, with an error that says how far it came.
func (m *meter) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, m.limits.Time, errOverLimit)
}

var errOverLimit = errors.New("the limit of one reading")

// explain says of a scan that was ended for the limit of time that it was; any other error stays.
func (m *meter) explain(ctx context.Context, err error) error {
	if err == nil || !errors.Is(context.Cause(ctx), errOverLimit) {
		return err
	}
	return hints.Errorf("a slow link reads less with one collection (coll=NAME), or from a file made with etcdctl snapshot save",
		"read %s: not at its end after %s, %w: %d keys, %s came", m.where, m.limits.Time, errOverLimit, m.keys.Load(), sizeText(m.bytes.Load()))
}

func sizeText(n int64) string {
	if n < 10<<20 {
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
