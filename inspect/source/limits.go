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

// Limits bounds one scan of a source without a known end: an etcd, or a bundle or a backup, which are
// decompressed as they are read. Other files have a fixed size. Zero values select the defaults, which are high
// enough for 10,000,000 keys. In a large cluster a key takes 260 bytes with its value
// (docs/evidence/performance.md).
type Limits struct {
	Keys, Bytes int64
	// Time bounds a whole scan of an etcd; Options.RequestTimeout bounds each request.
	Time time.Duration
}

func (l Limits) withDefaults() Limits {
	return Limits{Keys: cmp.Or(l.Keys, 12_000_000), Bytes: cmp.Or(l.Bytes, 4<<30), Time: cmp.Or(l.Time, 30*time.Minute)}
}

// limitAdvice is the hint for a source that exceeds a limit.
const limitAdvice = "no Milvus is that large: check what writes there; " +
	"to read less, select one collection (coll=NAME) or use another command"

// meter counts the keys and bytes of a scan and compares them with the limits.
type meter struct {
	limits Limits
	where  string
	keys   atomic.Int64
	bytes  atomic.Int64
}

func newMeter(l Limits, where string) *meter { return &meter{limits: l.withDefaults(), where: where} }

// add counts keys and bytes, and returns an error if a limit is exceeded.
func (m *meter) add(keys, bytes int) error {
	switch {
	case m.keys.Add(int64(keys)) > m.limits.Keys:
		return hints.Errorf(limitAdvice, "read %s: more than %d keys, %w", m.where, m.limits.Keys, errOverLimit)
	case m.bytes.Add(int64(bytes)) > m.limits.Bytes:
		return hints.Errorf(limitAdvice, "read %s: more than %s, %w", m.where, sizeText(m.limits.Bytes), errOverLimit)
	}
	return nil
}

// deadline returns a context that ends at the time limit, with errOverLimit as its cause.
func (m *meter) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, m.limits.Time, errOverLimit)
}

var errOverLimit = errors.New("the limit of one reading")

// explain replaces err if the scan ended at the time limit, with an error that includes the keys and bytes read
// so far. It returns any other error unchanged.
func (m *meter) explain(ctx context.Context, err error) error {
	if err == nil || !errors.Is(context.Cause(ctx), errOverLimit) {
		return err
	}
	return hints.Errorf("a slow link reads less with one collection (coll=NAME), or from a file made with etcdctl "+
		"snapshot save",
		"read %s: not finished after %s, %w: %d keys, %s read",
		m.where, m.limits.Time, errOverLimit, m.keys.Load(), sizeText(m.bytes.Load()))
}

func sizeText(n int64) string {
	if n < 10<<20 {
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
