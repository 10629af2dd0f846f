package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"kitescope/tools/e2e/lab"
)

// verdict is the last cell of a row: what became of following a step.
func (o *Outcome) verdict(release string, day time.Time) string {
	at := fmt.Sprintf("played on %s, %s (%s)", release, day.Format(time.DateOnly), o.Play.Name)
	if o.Failed != nil {
		return at + ": **not cured**: " + lab.Clean(o.Failed.Error())
	}
	return fmt.Sprintf("%s: cured after %.0f s, printed %.0f s", at, o.Took.Seconds(), o.within())
}

// record writes how a step was tried into its row of the table: the one of the check whose fix ends in the same sentence.
func record(file, check, text, verdict string) error {
	document, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	lines := strings.SplitAfter(string(document), "\n")
	done := false
	for i, line := range lines {
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "| "), " |"), " | ")
		if len(cells) != 4 || !strings.Contains(cells[0], check) && !strings.Contains(cells[0], "more") || !form(cells[1]).MatchString(text) {
			continue
		}
		cells[3] = verdict
		lines[i] = "| " + strings.Join(cells, " | ") + " |\n"
		done = true
	}
	if !done {
		return fmt.Errorf("%s has no row of %s for %q", file, check, text)
	}
	return os.WriteFile(file, []byte(strings.Join(lines, "")), 0o644)
}

// form matches the sentences that a cell of fixes stands for: the command is left out, and … is anything.
func form(cell string) *regexp.Regexp {
	if strings.HasPrefix(cell, "`") {
		_, cell, _ = strings.Cut(cell, "`: ")
	}
	parts := strings.Split(cell, "…")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".+") + "$")
}
