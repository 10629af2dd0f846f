package tui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// program is a running UI.
type program struct {
	keys io.WriteCloser
	out  *output
	done chan error
	stop context.CancelFunc
}

// start runs a UI on what is typed and a terminal.
func start(run func(ctx context.Context, in io.Reader, out io.Writer) error) *program {
	in, keys := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	p := &program{keys: keys, out: newOutput(), done: make(chan error, 1), stop: stop}
	go func() {
		p.done <- run(ctx, in, p.out)
		in.Close()
	}()
	return p
}

func (p *program) press(s string) { _, _ = io.WriteString(p.keys, s) }

// wait waits until the output has a text.
func (p *program) wait(tb testing.TB, text string) {
	tb.Helper()
	for range 6000 {
		if strings.Contains(p.out.plain(), text) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	tb.Fatalf("no %q in the output:\n%s", text, p.out.plain())
}

// redrawn waits until the whole screen, drawn anew, has a text. Of a line that changed the renderer writes what differs
// from the frame before, which may be "4" where "30 of 30" stood: which frames there are depends on the machine.
func (p *program) redrawn(tb testing.TB, text string) {
	tb.Helper()
	for range 100 {
		p.press("\x0c")
		time.Sleep(50 * time.Millisecond)
		if strings.Contains(p.out.plain(), text) {
			return
		}
	}
	tb.Fatalf("no %q in the output:\n%s", text, p.out.plain())
}

func (p *program) end(tb testing.TB) {
	tb.Helper()
	if err := <-p.done; err != nil {
		tb.Errorf("Run: %v", err)
	}
	p.stop()
}

// interrupt ends the context that the UI runs in.
func (p *program) interrupt(tb testing.TB) {
	tb.Helper()
	p.stop()
	if err := <-p.done; !errors.Is(err, context.Canceled) {
		tb.Errorf("Run: %v, want that it was interrupted", err)
	}
}

// output collects what a terminal would receive.
type output struct {
	mu     sync.Mutex
	bytes  bytes.Buffer
	writes chan time.Time
}

func newOutput() *output { return &output{writes: make(chan time.Time, 1<<16)} }

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.writes <- time.Now():
	default:
	}
	return o.bytes.Write(p)
}

func (o *output) len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bytes.Len()
}

// raw is all that was written.
func (o *output) raw() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bytes.String()
}

func (o *output) plain() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return ansi.Strip(o.bytes.String())
}
