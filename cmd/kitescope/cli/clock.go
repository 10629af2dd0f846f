package cli

import (
	"fmt"
	"strings"
	"time"
)

// SetClock stops the clock at what --now says.
func (a *App) SetClock() error {
	if a.Flags.Now == "" {
		return nil
	}
	start, err := time.Parse(time.RFC3339, a.Flags.Now)
	if err != nil {
		return Usage(fmt.Errorf("--now %q is not a time", a.Flags.Now), "for example: --now 2026-11-20T09:06:11Z")
	}
	a.stopClock(start)
	return nil
}

func (a *App) stopClock(at time.Time) { a.clock = func() time.Time { return at } }

// Now is the time by --now, the demo's, or that of the process.
func (a *App) Now() time.Time {
	if a.clock != nil {
		return a.clock()
	}
	return a.Streams.Now()
}

// RunClock lets a clock that was stopped run on from there: what is measured takes time.
func (a *App) RunClock() {
	if a.clock == nil {
		return
	}
	base, start := a.Now(), time.Now()
	a.clock = func() time.Time { return base.Add(time.Since(start)) }
}

// PlainTerminal reports whether the terminal is one of those whose fonts lack most signs: the Linux
// console, and what speaks as the VT terminals did.
func (s *Streams) PlainTerminal() bool {
	term := s.Getenv("TERM")
	return term == "dumb" || term == "linux" || term == "ansi" || strings.HasPrefix(term, "vt")
}

// UseColor settles --color, NO_COLOR and whether out is a terminal.
func (a *App) UseColor() (bool, error) {
	switch a.Flags.color {
	case "always":
		return true, nil
	case "never":
		return false, nil
	case "auto", "":
		return a.OutTTY && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb", nil
	}
	return false, Usagef("--color must be auto, always or never, not %q", a.Flags.color)
}
