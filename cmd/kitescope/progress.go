package main

import (
	"fmt"
	"time"

	"kitescope/inspect/session"
	"kitescope/inspect/source"
)

// progressAfter is when a person hears that reading takes long.
const progressAfter = 700 * time.Millisecond

// progress is a snapshot that says on a terminal's stderr how far it is read, until it is stopped.
type progress struct {
	*session.Reading
	line *transient
}

// startProgress tells how far a snapshot is read, if that takes long.
func (a *app) startProgress(s source.Snapshot) *progress {
	var tell func(session.Progress)
	if line := a.transient; line != nil {
		tell = func(p session.Progress) { line.show(p.String()) }
	}
	return &progress{session.NewReading(s, progressAfter, tell), a.transient}
}

// stop ends that.
func (p *progress) stop() {
	p.Stop()
	p.line.clear()
}

// status replaces the line about progress.
func (a *app) status(format string, args ...any) {
	line := []rune(oneLine(fmt.Sprintf(format, args...)))
	if width, _ := a.size(); width > 1 && len(line) >= width {
		line = line[:width-1]
	}
	a.transient.show(string(line))
}
