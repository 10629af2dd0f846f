package tuitest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"kitescope/inspect/history"
	"kitescope/inspect/model"
	"kitescope/tui/draw"
)

// Program is a running UI.
type Program struct {
	keys io.WriteCloser
	Out  *Output
	done chan error
	stop context.CancelFunc
}

// Start runs a UI on a simulated keyboard and terminal.
func Start(run func(ctx context.Context, in io.Reader, out io.Writer) error) *Program {
	in, keys := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	p := &Program{keys: keys, Out: NewOutput(), done: make(chan error, 1), stop: stop}
	go func() {
		p.done <- run(ctx, in, p.Out)
		_ = in.Close() // never fails
	}()
	return p
}

// Press types a text.
func (p *Program) Press(s string) { _, _ = io.WriteString(p.keys, s) }

// Wait waits until the output contains a text.
func (p *Program) Wait(tb testing.TB, text string) {
	tb.Helper()
	for range 6000 {
		if strings.Contains(p.Out.Plain(), text) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	tb.Fatalf("no %q in the output:\n%s", text, p.Out.Plain())
}

// Redrawn waits until the whole screen, after a redraw, contains a text. For a changed line the renderer writes
// only the difference from the frame before, e.g. "4" after "30 of 30", and which frames are drawn depends on the
// machine.
func (p *Program) Redrawn(tb testing.TB, text string) {
	tb.Helper()
	for range 100 {
		p.Press("\x0c")
		time.Sleep(50 * time.Millisecond)
		if strings.Contains(p.Out.Plain(), text) {
			return
		}
	}
	tb.Fatalf("no %q in the output:\n%s", text, p.Out.Plain())
}

// End waits until the UI has quit.
func (p *Program) End(tb testing.TB) {
	tb.Helper()
	if err := <-p.done; err != nil {
		tb.Errorf("Run: %v", err)
	}
	p.stop()
}

// Interrupt ends the context of the UI and waits for it to return.
func (p *Program) Interrupt(tb testing.TB) {
	tb.Helper()
	p.stop()
	if err := <-p.done; !errors.Is(err, context.Canceled) {
		tb.Errorf("Run: %v, want that it was interrupted", err)
	}
}

// Output collects the output to a terminal.
type Output struct {
	mu     sync.Mutex
	bytes  bytes.Buffer
	Writes chan time.Time // times of writes
}

// NewOutput returns an empty Output.
func NewOutput() *Output { return &Output{Writes: make(chan time.Time, 1<<16)} }

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.Writes <- time.Now():
	default:
	}
	return o.bytes.Write(p)
}

// Len returns the number of bytes written.
func (o *Output) Len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bytes.Len()
}

// Raw returns everything that was written.
func (o *Output) Raw() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bytes.String()
}

// Plain returns everything that was written, without escape sequences.
func (o *Output) Plain() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return ansi.Strip(o.bytes.String())
}

// FeedFunc implements history.Feed by a function.
type FeedFunc func(ctx context.Context, emit func(history.Update))

// Follow implements history.Feed.
func (f FeedFunc) Follow(ctx context.Context, emit func(history.Update)) { f(ctx, emit) }

// Once returns a feed that delivers one live cluster and nothing more.
func Once(c *model.Cluster) history.Feed {
	return FeedFunc(func(ctx context.Context, emit func(history.Update)) {
		emit(history.Update{Cluster: c, Live: true})
		<-ctx.Done()
	})
}

// Written returns the escape sequence that a terminal with the colours of p receives before text in style s.
func Written(p colorprofile.Profile, s draw.Style) string {
	var out strings.Builder
	w := &colorprofile.Writer{Forward: &out, Profile: p}
	_, _ = w.WriteString(s.On("x"))
	before, _, _ := strings.Cut(out.String(), "x")
	return before
}
