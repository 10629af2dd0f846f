package cli

import (
	"fmt"
	"time"

	"kitescope/inspect/session"
	"kitescope/inspect/source"
)

// ProgressAfter is the delay before progress is shown.
const ProgressAfter = 700 * time.Millisecond

// progress is a snapshot that shows its progress on the stderr terminal until it is stopped.
type progress struct {
	*session.Reading
	line *Transient
}

// StartProgress returns a snapshot that shows the progress of reading snapshot, if reading takes longer than
// ProgressAfter.
func (s *Streams) StartProgress(snapshot source.Snapshot) *progress {
	var tell func(session.Progress)
	if line := s.Transient; line != nil {
		tell = func(p session.Progress) { line.Show(p.String()) }
	}
	return &progress{session.NewReading(snapshot, ProgressAfter, tell), s.Transient}
}

// Done stops the progress and clears the line.
func (p *progress) Done() {
	p.Stop()
	p.line.Clear()
}

// Status replaces the progress line.
func (s *Streams) Status(format string, args ...any) {
	line := []rune(OneLine(fmt.Sprintf(format, args...)))
	if width, _ := s.Size(); width > 1 && len(line) >= width {
		line = line[:width-1]
	}
	s.Transient.Show(string(line))
}
