package cli

import (
	"fmt"
	"time"

	"kitescope/inspect/session"
	"kitescope/inspect/source"
)

// ProgressAfter is when a person hears that reading takes long.
const ProgressAfter = 700 * time.Millisecond

// progress is a snapshot that says on a terminal's stderr how far it is read, until it is stopped.
type progress struct {
	*session.Reading
	line *Transient
}

// StartProgress tells how far a snapshot is read, if that takes long.
func (s *Streams) StartProgress(of source.Snapshot) *progress {
	var tell func(session.Progress)
	if line := s.Transient; line != nil {
		tell = func(p session.Progress) { line.Show(p.String()) }
	}
	return &progress{session.NewReading(of, ProgressAfter, tell), s.Transient}
}

// Done ends that.
func (p *progress) Done() {
	p.Stop()
	p.line.Clear()
}

// Status replaces the line about progress.
func (s *Streams) Status(format string, args ...any) {
	line := []rune(OneLine(fmt.Sprintf(format, args...)))
	if width, _ := s.Size(); width > 1 && len(line) >= width {
		line = line[:width-1]
	}
	s.Transient.Show(string(line))
}
