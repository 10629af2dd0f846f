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

// Bounds of counting: keys that are counted apart, keys that are told, and how long
// events may lag behind the revision that ends the window.
const (
	maxCountedKeys = 8192
	hotKeys        = 10
	watchLag       = 100 * time.Millisecond
	// minQuiet is how long an etcd must answer nothing to hang.
	minQuiet       = 2 * time.Second
	statusPatience = 500 * time.Millisecond
)

// Activity watches the root for a while and counts what is written, by revision and by
// key. With an account that may not watch the root only revisions are counted. If ctx
// ends before the window does, nothing is returned. An etcd that answered nothing
// from then on, and does not report its status either, is a HangingError.
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
		_ = s.Watch(watching, Header{Root: root.root, Revision: from}, count.add) // what is wrong with etcd is told elsewhere
	}()
	if err := pause(ctx, window-time.Since(start)); err != nil {
		return nil, err
	}
	to, err := s.revision(ctx, r)
	if quiet := s.waits.quiet(); late(err) && quiet >= minQuiet && !s.responds(context.WithoutCancel(ctx), r) {
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

// responds reports whether a member answers Status within statusPatience. It needs neither its disk nor other members for that.
func (s *Etcd) responds(ctx context.Context, r *reader) bool {
	ctx, cancel := context.WithTimeout(ctx, statusPatience)
	defer cancel()
	_, err := r.anyStatus(ctx)
	return !late(err)
}

// writeCount counts events by key.
type writeCount struct {
	mu     sync.Mutex
	seen   int64 // the last revision that came
	end    int64 // the last revision that counts, 0 as long as all do
	total  int64
	keys   map[string]int64
	forgot bool // keys that were written least
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

// count counts a write. When there are too many keys, those written least make room: one
// that is written over and over stays.
func (c *writeCount) count(key string) {
	c.total++
	if _, known := c.keys[key]; !known {
		for least := int64(1); len(c.keys) >= maxCountedKeys; least *= 2 {
			maps.DeleteFunc(c.keys, func(_ string, n int64) bool { return n <= least })
			c.forgot = true
		}
	}
	c.keys[key]++
}

// endAt counts up to a revision, or up to the last one that came where that is behind it, and returns which.
func (c *writeCount) endAt(revision int64) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end = max(revision, c.seen)
	return c.end
}

// sum tells all writes and so many of the busiest keys; more is that there were others. Of the keys of a very busy store the
// number of writes is a lower bound.
func (c *writeCount) sum(most int) (total int64, hot []model.KeyWrites, more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, n := range c.keys {
		hot = append(hot, model.KeyWrites{Key: key, Writes: n})
	}
	slices.SortFunc(hot, func(a, b model.KeyWrites) int {
		return cmp.Or(cmp.Compare(b.Writes, a.Writes), cmp.Compare(a.Key, b.Key))
	})
	more = c.forgot || len(hot) > most
	hot = hot[:min(most, len(hot))]
	for i := range hot {
		hot[i].Key = redact.Text(hot[i].Key)
	}
	return c.total, hot, more
}
