package session

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"kitescope/inspect/history"
	"kitescope/inspect/source"
)

// Progress is the number of keys and bytes read from a snapshot.
type Progress struct{ Keys, Bytes int64 }

// String returns the progress as text, e.g. "reading: 120000 keys, 30 MiB".
func (p Progress) String() string {
	return fmt.Sprintf("reading: %d keys, %d MiB", p.Keys, p.Bytes>>20)
}

// Reading is a snapshot that reports its progress until it is stopped or closed.
type Reading struct {
	source.Snapshot
	keys, bytes atomic.Int64
	stop        func()
}

// NewReading returns a Reading of s that calls report at each interval from a separate goroutine. If report is nil, it
// only counts.
func NewReading(s source.Snapshot, interval time.Duration, report func(Progress)) *Reading {
	r := &Reading{Snapshot: s, stop: func() {}}
	if report == nil {
		return r
	}
	done := make(chan struct{})
	var telling sync.WaitGroup
	telling.Go(func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				report(Progress{r.keys.Load(), r.bytes.Load()})
			case <-done:
				return
			}
		}
	})
	r.stop = sync.OnceFunc(func() { close(done); telling.Wait() })
	return r
}

// Scan implements source.Snapshot.
func (r *Reading) Scan(ctx context.Context, ranges []source.Range, yield func(source.KV) error) error {
	return r.Snapshot.Scan(ctx, ranges, func(kv source.KV) error {
		r.keys.Add(1)
		r.bytes.Add(int64(len(kv.Key) + len(kv.Value)))
		return yield(kv)
	})
}

// Stop ends the progress reports. It waits for a call of tell in progress.
func (r *Reading) Stop() { r.stop() }

// Close ends the progress reports and closes the snapshot.
func (r *Reading) Close() error {
	r.stop()
	return r.Snapshot.Close()
}

// readingInterval is the time between two progress updates.
const readingInterval = 250 * time.Millisecond

// reportReading returns a snapshot that emits its progress as updates.
func reportReading(s source.Snapshot, emit func(history.Update)) *Reading {
	return NewReading(s, readingInterval, func(p Progress) { emit(history.Update{Progress: p.String()}) })
}

// readingWatcher is a source whose snapshots emit their progress.
type readingWatcher struct {
	source.Watcher
	emit func(history.Update)
}

// Pin implements source.Source.
func (w readingWatcher) Pin(ctx context.Context) (source.Snapshot, error) {
	s, err := w.Watcher.Pin(ctx)
	if err != nil {
		return nil, err
	}
	return reportReading(s, w.emit), nil
}
