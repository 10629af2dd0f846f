package cli

import (
	"fmt"

	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
)

// Completeness says on stderr what clusters lack, and under --strict makes it exit 4.
func (a *App) Completeness(clusters ...*model.Cluster) error {
	return a.SayLacks(Lacks(clusters...))
}

// SayLacks says on stderr line by line what is lacking, and under --strict makes it exit 4.
func (a *App) SayLacks(lacks []string) error {
	for _, line := range lacks {
		a.Note("%s", line)
	}
	return a.Incomplete(lacks)
}

// SayGaps says on stderr what could not be read, and under --strict makes it exit 4.
func (a *App) SayGaps(gaps []source.Gap) error {
	for _, gap := range gaps {
		a.Warn("incomplete: could not read %s: %s", gap.Where, gap.Reason)
	}
	if a.Flags.Strict && len(gaps) > 0 {
		return &CodeError{Code: ExitIncomplete}
	}
	return nil
}

// Incomplete is the error of what lacks something under --strict.
func (a *App) Incomplete(lacks []string) error {
	if a.Flags.Strict && len(lacks) > 0 {
		return &CodeError{Code: ExitIncomplete}
	}
	return nil
}

// Lacks says line by line what could not be read of clusters, and who does not answer; none where nothing is missing.
func Lacks(clusters ...*model.Cluster) (lines []string) {
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, c := range clusters {
		where := "incomplete"
		if len(clusters) > 1 {
			where = c.Origin.Location + ": " + where
		}
		for i, gap := range c.Gaps {
			if i == 5 {
				say("%s: and %d more gaps", where, len(c.Gaps)-i)
				break
			}
			say("%s: could not read %s: %s", where, gap.Where, gap.Reason)
		}
		if n := len(c.Undecoded); n > 0 {
			say("%s: %d records could not be decoded in full, first: %s: %s (see: kitescope get undecoded)",
				where, n, c.Undecoded[0].Key, c.Undecoded[0].Reason)
		}
		if session.IsSilent(c.Etcd) {
			say("%s: %v", where, session.Silence(c.Etcd))
		}
		silent := session.SilentSessions(c)
		for i, line := range silent {
			if i == 5 {
				say("%s: and %d more sessions", where, len(silent)-i)
				break
			}
			say("%s: %s", where, line)
		}
	}
	return lines
}
