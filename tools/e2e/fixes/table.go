package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"kitescope/tools/e2e/lab"
)

// verdict returns the last cell of a row: the result of the steps.
func (o *Outcome) verdict(release string, day time.Time) string {
	at := fmt.Sprintf("played on %s, %s (%s)", release, day.Format(time.DateOnly), o.Play.Name)
	if o.Failed != nil {
		return at + ": **not cured**: " + lab.Clean(o.Failed.Error())
	}
	return fmt.Sprintf("%s: cured after %.0f s, printed %.0f s", at, o.Took.Seconds(), o.within())
}

// record writes a verdict into the rows of the table for the check whose fix ends with the sentence text.
func record(file, check, text, verdict string) error {
	document, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	lines := strings.SplitAfter(string(document), "\n")
	done := false
	for i, line := range lines {
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "| "), " |"), " | ")
		if len(cells) != 4 || !strings.Contains(cells[0], check) && !strings.Contains(cells[0], "more") ||
			!form(cells[1]).MatchString(text) {
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

// form returns an expression that matches the sentences of a cell of fixes. The command is ignored, and …
// matches any text.
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
