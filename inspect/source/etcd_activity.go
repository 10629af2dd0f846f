package source

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"kitescope/inspect/model"
	"kitescope/internal/redact"
)

// Limits on counting: keys counted separately, keys returned, and the maximum lag of events behind the revision
// that ends the window.
const (
	maxCountedKeys = 8192
	hotKeys        = 10
	watchLag       = 100 * time.Millisecond
	// minQuiet is the time without any response after which an etcd counts as hanging.
	minQuiet      = 2 * time.Second
	statusTimeout = 500 * time.Millisecond
)

// Activity watches the root during the window and counts writes by revision and by key. If the account may not
// watch the root, it counts only revisions. If ctx ends before the window does, it returns only the error. It
// returns a *HangingError if the etcd stops responding and does not report its status either.
func (s *Etcd) Activity(ctx context.Context, window time.Duration) (*model.EtcdActivity, error) {
	r, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	from, err := s.revision(ctx, r)
	if err != nil {
		return nil, s.explain(ctx, "read", err)
	}
	start := time.Now()
	root, err := s.findRoot(ctx, r, from)
	if err != nil {
		return nil, s.explain(ctx, "find the root path in", err)
	}
	count := newWriteCount()
	watching, stop := context.WithCancel(ctx)
	defer stop()
	broken := make(chan struct{})
	go func() {
		defer close(broken)
		// errors of etcd are reported elsewhere
		_ = s.Watch(watching, Header{Root: root.root, Revision: from}, count.add)
	}()
	if err := pause(ctx, window-time.Since(start)); err != nil {
		return nil, err
	}
	to, err := s.revision(ctx, r)
	if quiet := s.readTimes.sinceResponse(); isDeadline(err) && quiet >= minQuiet &&
		!s.responds(context.WithoutCancel(ctx), r) {
		return nil, &HangingError{s.address.location(), quiet.Round(time.Second / 10)}
	}
	if err != nil {
		return nil, s.explain(ctx, "read", err)
	}
	a := &model.EtcdActivity{Over: time.Since(start), Revisions: count.endAt(to) - from}
	if err := pause(ctx, watchLag); err != nil {
		return nil, err
	}
	select {
	case <-broken:
	default:
		a.Writes, a.Hot, a.More = count.sum(hotKeys)
	}
	return a, nil
}

// responds reports whether a member responds to Status within statusTimeout. For Status the member needs
// neither its disk nor other members.
func (s *Etcd) responds(ctx context.Context, r *reader) bool {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	_, err := r.anyStatus(ctx)
	return !isDeadline(err)
}

// writeCount counts events by key.
type writeCount struct {
	mu        sync.Mutex
	seen      int64 // the last received revision
	end       int64 // the last counted revision; 0 counts all
	total     int64
	keys      map[string]int64
	truncated bool // the least-written keys were dropped
}

func newWriteCount() *writeCount { return &writeCount{keys: map[string]int64{}} }

func (c *writeCount) add(revision int64, events []Event) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end > 0 && revision > c.end {
		return nil
	}
	c.seen = max(c.seen, revision)
	for _, e := range events {
		c.count(string(e.Key))
	}
	return nil
}

// count counts a write of a key. If there are too many keys, it drops the least-written ones, so that a key
// that is written repeatedly stays.
func (c *writeCount) count(key string) {
	c.total++
	if _, known := c.keys[key]; !known {
		for least := int64(1); len(c.keys) >= maxCountedKeys; least *= 2 {
			maps.DeleteFunc(c.keys, func(_ string, n int64) bool { return n <= least })
			c.truncated = true
		}
	}
	c.keys[key]++
}

// endAt stops counting after a revision, or after the last received one if that is later, and returns this
// revision.
func (c *writeCount) endAt(revision int64) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end = max(revision, c.seen)
	return c.end
}

// sum returns the number of all writes and the busiest keys, at most the given number. more reports whether
// there were other keys. In a very busy store the writes of a key are a lower bound, because keys may have been
// dropped.
func (c *writeCount) sum(limit int) (total int64, hot []model.KeyWrites, more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, n := range c.keys {
		hot = append(hot, model.KeyWrites{Key: key, Writes: n})
	}
	slices.SortFunc(hot, func(a, b model.KeyWrites) int {
		return cmp.Or(cmp.Compare(b.Writes, a.Writes), cmp.Compare(a.Key, b.Key))
	})
	more = c.truncated || len(hot) > limit
	hot = hot[:min(limit, len(hot))]
	for i := range hot {
		hot[i].Key = redact.Text(hot[i].Key)
	}
	return c.total, hot, more
}
