package cli

import (
	"fmt"
	"strings"
	"time"
)

// SetClock sets the clock to the fixed time of --now.
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

// Now returns the time of --now, of the demo, or of the process.
func (a *App) Now() time.Time {
	if a.clock != nil {
		return a.clock()
	}
	return a.Streams.Now()
}

// RunClock lets a fixed clock run on from its current time, because measurements need elapsed time.
func (a *App) RunClock() {
	if a.clock == nil {
		return
	}
	base, start := a.Now(), time.Now()
	a.clock = func() time.Time { return base.Add(time.Since(start)) }
}

// PlainTerminal reports whether the fonts of the terminal lack most symbols: dumb terminals, the Linux console, VT
// terminals and their emulations.
func (s *Streams) PlainTerminal() bool {
	term := s.Getenv("TERM")
	return term == "dumb" || term == "linux" || term == "ansi" || strings.HasPrefix(term, "vt")
}

// UseColor reports whether output has colour, by --color, NO_COLOR and whether standard output is a terminal.
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
