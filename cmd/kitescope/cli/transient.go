package cli

import (
	"bytes"
	"fmt"
	"io"
	"sync"
)

// Transient is the one line about progress on a terminal's stderr: each next one replaces it, and
// whatever else is printed, on either stream, first takes it away (see clear), so that no table
// begins in the middle of it. A nil transient is where there is no terminal, or --quiet: it shows nothing.
type Transient struct {
	W     io.Writer
	mu    sync.Mutex // what is under way tells from goroutines of its own
	shown bool
}

// eraseLine returns to the first column and clears the line.
const eraseLine = "\r\x1b[K"

// Show replaces the line. It must not be longer than the terminal is wide.
func (t *Transient) Show(text string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shown = true
	_, _ = io.WriteString(t.W, eraseLine+text) // nothing to do about an error
}

// Clear takes the line away.
func (t *Transient) Clear() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.erase()
}

func (t *Transient) erase() {
	if t.shown {
		_, _ = io.WriteString(t.W, eraseLine)
		t.shown = false
	}
}

// over writes to a stream that may be the terminal on which the line stands: the line goes first,
// and nobody shows a new one in between.
func (t *Transient) over(w io.Writer, p []byte) (int, error) {
	if t == nil {
		return w.Write(p)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.erase()
	return w.Write(p)
}

// Tell prints one line for people on stderr. What is in it comes from outside in part: it must not
// steer the terminal (see oneLine).
func (s *Streams) Tell(format string, args ...any) {
	_, _ = s.Transient.over(s.Err, []byte(s.Glyphs.Text(fmt.Sprintf(format+"\n", args...)))) // nothing to do about an error
}

// Hold keeps what is told on stderr from here on, as the UI has the screen; said tells it once that is gone.
func (s *Streams) Hold() (said func()) {
	kept := &heldText{}
	before, tty, line := s.Err, s.ErrTTY, s.Transient
	s.Err, s.ErrTTY, s.Transient = kept, false, nil
	return func() {
		s.Err, s.ErrTTY, s.Transient = before, tty, line
		kept.mu.Lock()
		defer kept.mu.Unlock()
		_, _ = kept.text.WriteTo(s.Err)
	}
}

// heldText is what was told from whatever goroutine.
type heldText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (h *heldText) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}
