package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"kitescope/internal/words"
	"kitescope/profile/usage"
	"kitescope/render"
	"kitescope/render/profiles"
)

// usageScreen draws curves at the bottom of a terminal, again and again in the same place, and what a command prints above
// them.
type usageScreen struct {
	mu      sync.Mutex
	on      bool
	out     io.Writer
	size    func() (width, height int)
	now     func() time.Time
	options render.Options
	// lines are drawn now, at width; drawn is when.
	lines []string
	width int
	drawn time.Time
	// rest is a line of the command that has not ended.
	rest []byte
}

// screen is on where curves can be drawn and nothing else is written to the terminal.
func (w *watching) screen() *usageScreen {
	name := w.format.Name()
	return &usageScreen{
		on:  w.OutTTY && !w.App.Flags.Quiet && w.Getenv("TERM") != "dumb" && (name == "table" || name == "wide"),
		out: w.Out, size: w.Size, now: w.Now, options: w.options.Options,
	}
}

// leastRedraw is how often curves are drawn at most: several processes answer at the same moment.
const leastRedraw = 100 * time.Millisecond

// update draws what is known now.
func (s *usageScreen) update(u *usage.Usage) {
	if !s.on {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if now.Sub(s.drawn) < leastRedraw {
		return
	}
	s.drawn = now
	width, height := s.size()
	if width < 20 || height < 5 {
		return
	}
	var b strings.Builder
	b.WriteString(s.erase(width))
	s.width = width
	s.lines = profiles.UsageChart(u, now, width, height-1, s.options)
	b.WriteString(s.text())
	_, _ = io.WriteString(s.out, b.String()) // the report at the end tells if nobody reads
}

// erase moves to where the curves begin and takes them away.
func (s *usageScreen) erase(width int) string {
	switch {
	case len(s.lines) == 0:
		return ""
	case width != s.width: // the terminal has wrapped the old lines anew, nobody knows how
		return "\x1b[H\x1b[2J"
	}
	return fmt.Sprintf("\x1b[%dA\r\x1b[J", len(s.lines))
}

func (s *usageScreen) text() string {
	if len(s.lines) == 0 {
		return ""
	}
	return strings.Join(s.lines, "\n") + "\n"
}

// maxRest bounds a line of a command that does not end.
const maxRest = 8 << 10

// Write prints lines of the command above the curves.
func (s *usageScreen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rest = append(s.rest, p...)
	end := bytes.LastIndexAny(s.rest, "\r\n") + 1
	if end == 0 && len(s.rest) > maxRest {
		end = len(s.rest)
	}
	if end > 0 {
		s.print(s.rest[:end])
		s.rest = append(s.rest[:0], s.rest[end:]...)
	}
	return len(p), nil
}

func (s *usageScreen) print(text []byte) {
	var b strings.Builder
	b.WriteString(s.erase(s.width))
	for line := range strings.FieldsFuncSeq(string(text), func(r rune) bool { return r == '\n' || r == '\r' }) {
		b.WriteString(words.Harmless(line) + "\n")
	}
	b.WriteString(s.text())
	_, _ = io.WriteString(s.out, b.String())
}

// end leaves the last curves standing, with a blank line below them.
func (s *usageScreen) end() {
	if !s.on {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.rest) > 0 {
		s.print(s.rest)
		s.rest = nil
	}
	if len(s.lines) > 0 {
		s.lines = nil
		_, _ = io.WriteString(s.out, "\n")
	}
}
