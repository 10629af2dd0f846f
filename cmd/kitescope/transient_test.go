package main

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/source"
)

// screen simulates a terminal to which both streams write. lines returns the visible lines, after carriage
// returns with "clear the line".
type screen struct {
	mu  sync.Mutex
	raw bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw.Write(p)
}

func (s *screen) lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := strings.Split(s.raw.String(), "\n")
	for i, line := range lines {
		lines[i] = line[strings.LastIndex("\r\x1b[K"+line, "\r\x1b[K"):]
	}
	return lines
}

// TestOutputReplacesProgress checks that output and a warning replace the progress line on the same terminal.
func TestOutputReplacesProgress(t *testing.T) {
	shown := &screen{}
	s := scriptStreams(shown, shown, map[string]string{"TERM": "xterm"})
	s.OutTTY, s.ErrTTY, s.Size = true, true, func() (int, int) { return 80, 24 }
	s.Transient = &cli.Transient{W: shown}
	a := &cli.App{Streams: s}
	a.Status("reading: %d keys", 12345)
	a.Warn("incomplete: could not read page 7")
	a.Status("reading: %d keys", 23456)
	if code := run(t.Context(), s, []string{"version"}); code != cli.ExitOK {
		t.Fatalf("exit %d", code)
	}
	lines := shown.lines()
	if lines[0] != "kitescope: incomplete: could not read page 7" || !strings.HasPrefix(lines[1], "kitescope ") {
		t.Errorf("the terminal shows %q", lines)
	}
}

// TestProgressStops checks that the progress line of a slow scan is cleared before a message is printed.
func TestProgressStops(t *testing.T) {
	shown := &screen{}
	a := &cli.App{Streams: &cli.Streams{Err: shown, Transient: &cli.Transient{W: shown}}}
	p := a.StartProgress(slowSnapshot{})
	if err := p.Scan(context.Background(), nil, func(source.KV) error { return nil }); err != nil {
		t.Fatal(err)
	}
	a.Warn("wide open")
	p.Done()
	if lines := shown.lines(); lines[0] != "kitescope: wide open" {
		t.Errorf("the terminal shows %q", lines)
	}
	if !strings.Contains(shown.raw.String(), "reading: 1 keys") {
		t.Errorf("no progress was shown: %q", shown.raw.String())
	}
}

// slowSnapshot is a snapshot with one key and a slow scan.
type slowSnapshot struct{ source.Snapshot }

func (slowSnapshot) Scan(_ context.Context, _ []source.Range, yield func(source.KV) error) error {
	err := yield(source.KV{Key: []byte("by-dev/meta/x")})
	time.Sleep(cli.ProgressAfter + cli.ProgressAfter/2)
	return err
}

// TestNotedOnce checks that the same note is printed only once.
func TestNotedOnce(t *testing.T) {
	var errs bytes.Buffer
	a := &cli.App{Streams: &cli.Streams{Err: &errs}}
	for range 3 {
		a.Note("%s has no samples", "x.pb.gz")
	}
	a.Note("%s has no samples", "y.pb.gz")
	if want := "kitescope: x.pb.gz has no samples\nkitescope: y.pb.gz has no samples\n"; errs.String() != want {
		t.Errorf("said %q, want %q", errs.String(), want)
	}
}
