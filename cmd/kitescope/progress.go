package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"kitescope/inspect/source"
)

// progress is a snapshot that counts what is read through it, and says so on a
// terminal's stderr when it takes long.
type progress struct {
	source.Snapshot
	keys, bytes atomic.Int64
	done        chan struct{}
	gone        chan struct{}
}

const progressAfter = 700 * time.Millisecond

func (a *app) startProgress(s source.Snapshot) *progress {
	p := &progress{Snapshot: s, done: make(chan struct{}), gone: make(chan struct{})}
	if a.transient == nil {
		close(p.gone)
		return p
	}
	go func() {
		defer close(p.gone)
		tick := time.NewTicker(progressAfter)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				a.transient.show(fmt.Sprintf("reading: %d keys, %d MiB", p.keys.Load(), p.bytes.Load()>>20))
			case <-p.done:
				a.transient.clear()
				return
			}
		}
	}()
	return p
}

// Scan counts and passes on.
func (p *progress) Scan(ctx context.Context, ranges []source.Range, yield func(source.KV) error) error {
	return p.Snapshot.Scan(ctx, ranges, func(kv source.KV) error {
		p.keys.Add(1)
		p.bytes.Add(int64(len(kv.Key) + len(kv.Value)))
		return yield(kv)
	})
}

func (p *progress) stop() {
	close(p.done)
	<-p.gone
}

// status replaces the line about progress.
func (a *app) status(format string, args ...any) {
	line := []rune(oneLine(fmt.Sprintf(format, args...)))
	if width, _ := a.size(); width > 1 && len(line) >= width {
		line = line[:width-1]
	}
	a.transient.show(string(line))
}
