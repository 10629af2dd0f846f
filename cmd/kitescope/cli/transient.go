package cli

import (
	"bytes"
	"fmt"
	"io"
	"sync"
)

// Transient is the progress line on a stderr terminal. Each Show replaces it. Other output, on either stream,
// first erases it (see erase), so that no table starts in the middle of the line. A nil Transient shows nothing;
// it is used without a terminal and with --quiet.
type Transient struct {
	W     io.Writer
	mu    sync.Mutex // Show is called from several goroutines
	shown bool
}

// eraseLine returns to the first column and clears the line.
const eraseLine = "\r\x1b[K"

// Show replaces the line. text must not be wider than the terminal.
func (t *Transient) Show(text string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shown = true
	_, _ = io.WriteString(t.W, eraseLine+text) // errors are ignored
}

// Clear erases the line.
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

// write writes to a stream that may share the terminal with the line. It erases the line first. The line cannot
// reappear during the write.
func (t *Transient) write(w io.Writer, p []byte) (int, error) {
	if t == nil {
		return w.Write(p)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.erase()
	return w.Write(p)
}

// Notef prints one line on stderr. Callers must escape control characters in arguments from outside (see
// OneLine).
func (s *Streams) Notef(format string, args ...any) {
	_, _ = s.Transient.write(s.Err, []byte(s.Glyphs.Text(fmt.Sprintf(format+"\n", args...)))) // errors are ignored
}

// Hold buffers writes to stderr while the UI has the screen. The returned function restores stderr and prints
// the buffered text.
func (s *Streams) Hold() (restore func()) {
	kept := &lockedBuffer{}
	before, tty, line := s.Err, s.ErrTTY, s.Transient
	s.Err, s.ErrTTY, s.Transient = kept, false, nil
	return func() {
		s.Err, s.ErrTTY, s.Transient = before, tty, line
		kept.mu.Lock()
		defer kept.mu.Unlock()
		_, _ = kept.text.WriteTo(s.Err)
	}
}

// lockedBuffer is a buffer that is safe for concurrent use.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (h *lockedBuffer) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}
