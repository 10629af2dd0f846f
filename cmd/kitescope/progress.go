package main

import (
	"context"
	"fmt"
	"sync"
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
	if !a.errTTY || a.flags.quiet {
		close(p.gone)
		return p
	}
	go func() {
		defer close(p.gone)
		tick := time.NewTicker(progressAfter)
		defer tick.Stop()
		shown := false
		for {
			select {
			case <-tick.C:
				shown = true
				fmt.Fprintf(a.err, "\r\x1b[Kreading: %d keys, %d MiB", p.keys.Load(), p.bytes.Load()>>20)
			case <-p.done:
				if shown {
					fmt.Fprint(a.err, "\r\x1b[K")
				}
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

// statusLine is a line about progress on a terminal's stderr, which each next one replaces.
type statusLine struct {
	app   *app
	mu    sync.Mutex // goroutines of a build tell how far it is
	shown bool
}

func (a *app) status() *statusLine { return &statusLine{app: a} }

func (s *statusLine) say(format string, args ...any) {
	if s.app.flags.quiet || !s.app.errTTY {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = true
	line := []rune(oneLine(fmt.Sprintf(format, args...)))
	if width, _ := s.app.size(); width > 1 && len(line) >= width {
		line = line[:width-1]
	}
	_, _ = fmt.Fprintf(s.app.err, "\r\x1b[K%s", string(line)) // nothing to do about an error
}

// stop takes the line away.
func (s *statusLine) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown {
		_, _ = fmt.Fprint(s.app.err, "\r\x1b[K")
		s.shown = false
	}
}
