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

// Progress is how much of a snapshot was read.
type Progress struct{ Keys, Bytes int64 }

// String is "reading: 120000 keys, 30 MiB".
func (p Progress) String() string {
	return fmt.Sprintf("reading: %d keys, %d MiB", p.Keys, p.Bytes>>20)
}

// Reading is a snapshot that tells how far it is read, until it is stopped or closed.
type Reading struct {
	source.Snapshot
	keys, bytes atomic.Int64
	stop        func()
}

// NewReading has tell called at each interval, by a goroutine of its own. nil: nobody wants to know.
func NewReading(s source.Snapshot, interval time.Duration, tell func(Progress)) *Reading {
	r := &Reading{Snapshot: s, stop: func() {}}
	if tell == nil {
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
				tell(Progress{r.keys.Load(), r.bytes.Load()})
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

// Stop ends the telling; what follows is no more counted for anybody.
func (r *Reading) Stop() { r.stop() }

// Close ends the telling, then the snapshot.
func (r *Reading) Close() error {
	r.stop()
	return r.Snapshot.Close()
}

// readingInterval is the time between two updates that say how far reading is.
const readingInterval = 250 * time.Millisecond

// told is a snapshot whose reading a feed tells of.
func told(s source.Snapshot, emit func(history.Update)) *Reading {
	return NewReading(s, readingInterval, func(p Progress) { emit(history.Update{Progress: p.String()}) })
}

// readingWatcher is a source of readings.
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
	return told(s, w.emit), nil
}
