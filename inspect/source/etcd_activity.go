package source

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// Activity is what was written to an etcd over a while.
type Activity struct {
	// Taken is when watching ended, Over how long it took.
	Taken time.Time
	Over  time.Duration
	// Revisions is how far the store's revision went: transactions of everyone, whatever the root.
	Revisions int64
	// Unwatched is why writes were not counted, "" if they were.
	Unwatched string
	// Writes are puts and deletes under the root; Hot the keys written most often, most
	// first: ten, or what past revisions tell of a hundred. More is that other keys were written too, none of them more often than the last of Hot.
	Writes int64
	Hot    []KeyWrites
	More   bool
}

// KeyWrites is how often a key was written. Of the keys of a very busy store it is a
// lower bound.
type KeyWrites struct {
	Key    string
	Writes int64
}

// Bounds of counting: keys that are counted apart, keys that are told, and how long
// events may lag behind the revision that ends the window.
const (
	maxCountedKeys = 8192
	hotKeys        = 10
	watchLag       = 300 * time.Millisecond
)

// Activity watches the root for a while and counts what is written, by revision and by
// key. With an account that may not watch the root only revisions are counted. If ctx
// ends before the window does, there is nothing to tell.
func (s *Etcd) Activity(ctx context.Context, window time.Duration) (Activity, error) {
	r, err := s.connect(ctx)
	if err != nil {
		return Activity{}, err
	}
	from, err := s.revision(ctx, r)
	if err != nil {
		return Activity{}, s.explain(ctx, "read", err)
	}
	start := time.Now()
	root, err := s.findRoot(ctx, r, from)
	if err != nil {
		return Activity{}, s.explain(ctx, "find the root path in", err)
	}
	counting, stop := context.WithCancel(ctx)
	defer stop()
	count := newWriteCount(from)
	ended := make(chan error, 1)
	go func() {
		ended <- s.Watch(counting, Header{Root: root.root, Revision: from}, count.add)
	}()
	broken, err := wait(ctx, window-time.Since(start), ended)
	if err != nil {
		return Activity{}, err
	}
	count.close()
	to, err := s.revision(ctx, r)
	if err != nil {
		return Activity{}, s.explain(ctx, "read", err)
	}
	a := Activity{Over: time.Since(start), Revisions: to - from, Taken: s.opts.now()}
	if broken == nil {
		// Of several ranges one may be far behind another, whose revision says nothing of it.
		several := len(intersect(Prefix(root.root+"/"), s.grantedRanges())) > 1
		broken = count.reach(ctx, to, several, ended)
	}
	if ctx.Err() != nil {
		return Activity{}, ctx.Err()
	}
	a.Unwatched = unwatched(broken)
	if a.Unwatched == "" {
		a.Writes, a.Hot, a.More = count.upTo(to, hotKeys)
	}
	return a, nil
}

// wait lets the window pass. broken is why the watch ended before it, nil if it goes on.
func wait(ctx context.Context, window time.Duration, ended <-chan error) (broken, err error) {
	timer := time.NewTimer(max(window, 0))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case broken = <-ended:
			ended = nil // revisions go on being counted
		case <-timer.C:
			return broken, nil
		}
	}
}

func unwatched(broken error) string {
	switch {
	case broken == nil:
		return ""
	case denied(broken):
		return "permission denied"
	}
	return broken.Error()
}

// writeCount counts events by key.
type writeCount struct {
	mu sync.Mutex
	// seen is the last revision that was told.
	seen int64
	told chan struct{}
	// closed holds back what is told while the last revision of the window is asked for.
	closed bool
	late   []lateWrite
	total  int64
	keys   map[string]int64
	forgot bool // keys that were written least
}

type lateWrite struct {
	revision int64
	key      string
}

func newWriteCount(from int64) *writeCount {
	return &writeCount{seen: from, told: make(chan struct{}, 1), keys: map[string]int64{}}
}

func (c *writeCount) add(revision int64, events []Event) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = max(c.seen, revision)
	for _, e := range events {
		if c.closed {
			c.late = append(c.late, lateWrite{revision, string(e.Key)})
			continue
		}
		c.count(string(e.Key))
	}
	select {
	case c.told <- struct{}{}:
	default:
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

func (c *writeCount) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}

// reach waits until everything up to a revision was told, or nothing more seems to come:
// what is written outside the root is not. Of several ranges all are given the time.
func (c *writeCount) reach(ctx context.Context, to int64, several bool, ended <-chan error) (broken error) {
	timer := time.NewTimer(watchLag)
	defer timer.Stop()
	for {
		c.mu.Lock()
		reached := c.seen >= to && !several
		c.mu.Unlock()
		if reached {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case broken = <-ended:
			return broken
		case <-timer.C:
			return nil
		case <-c.told:
		}
	}
}

// upTo adds what came late, and tells the sum and so many of the busiest keys; more is that there were others.
func (c *writeCount) upTo(to int64, most int) (total int64, hot []KeyWrites, more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.late {
		if w.revision <= to {
			c.count(w.key)
		}
	}
	c.late = nil
	for key, n := range c.keys {
		hot = append(hot, KeyWrites{key, n})
	}
	slices.SortFunc(hot, func(a, b KeyWrites) int { return cmp.Or(cmp.Compare(b.Writes, a.Writes), cmp.Compare(a.Key, b.Key)) })
	return c.total, hot[:min(most, len(hot))], c.forgot || len(hot) > most
}
