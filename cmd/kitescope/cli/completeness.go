package cli

import (
	"fmt"

	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
)

// Completeness writes the missing parts of clusters to stderr. With --strict it returns an error of exit code 4
// if there are any.
func (a *App) Completeness(clusters ...*model.Cluster) error {
	return a.WarnMissing(MissingParts(clusters...))
}

// CheckRead returns an error of exit code 1 if the cluster is entirely unknown because its etcd does not
// respond.
func CheckRead(c *model.Cluster) error {
	if c.Loaded == 0 && c.Etcd.Unresponsive() {
		return &CodeError{Code: ExitFailed}
	}
	return nil
}

// WarnMissing writes the missing parts to stderr, one per line. With --strict it returns an error of exit code 4
// if there are any.
func (a *App) WarnMissing(missing []string) error {
	for _, line := range missing {
		a.Note("%s", line)
	}
	return a.Incomplete(len(missing) > 0)
}

// WarnGaps writes a warning for each range that could not be read. With --strict it returns an error of exit
// code 4 if there are any.
func (a *App) WarnGaps(gaps []source.Gap) error {
	for _, gap := range gaps {
		a.Warn("incomplete: could not read %s: %s", gap.Where, gap.Reason)
	}
	return a.Incomplete(len(gaps) > 0)
}

// Incomplete returns an error of exit code 4 if something is missing and --strict is set.
func (a *App) Incomplete(missing bool) error {
	if a.Flags.Strict && missing {
		return &CodeError{Code: ExitIncomplete}
	}
	return nil
}

// MissingParts returns one line for each part of the clusters that could not be read and for each process that did not
// respond.
func MissingParts(clusters ...*model.Cluster) (lines []string) {
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
		if c.Etcd.Unresponsive() {
			say("%s: %v", where, session.UnresponsiveError(c.Etcd))
		}
		silent := session.UnresponsiveSessions(c)
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
