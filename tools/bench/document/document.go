// Package document puts measured tables into a document: what enters is Markdown, what leaves is the
// document with that text between two marks, below a line that says when and at which commit it was
// measured, and the rest as it was.
package document

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Marks are the lines between which the text of a name stands.
func Marks(name string) (begin, end string) {
	return "<!-- " + name + ": begin -->", "<!-- " + name + ": end -->"
}

// Measured is the line that says when, and at which commit of the repository that has the document, a table was measured.
func Measured(path string, now time.Time) string {
	at := "an unknown commit"
	git := func(args ...string) (string, error) {
		out, err := exec.Command("git", append([]string{"-C", filepath.Dir(path)}, args...)...).Output() //nolint:gosec,noctx // the folder of a document
		return strings.TrimSpace(string(out)), err
	}
	if commit, err := git("rev-parse", "--short", "HEAD"); err == nil {
		at = "commit " + commit
		if changed, err := git("status", "--porcelain", "--untracked-files=no"); err != nil || changed != "" {
			at += " with changes"
		}
	}
	return "Measured on " + now.UTC().Format(time.DateOnly) + " at " + at + ".\n"
}

// Replace puts text between the marks of a name and leaves the rest alone.
func Replace(path, name, text string) error {
	begin, end := Marks(name)
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(old), begin)
	if !ok {
		return fmt.Errorf("%s has no line %q", path, begin)
	}
	_, after, ok := strings.Cut(rest, end)
	if !ok {
		return fmt.Errorf("%s has no line %q", path, end)
	}
	return os.WriteFile(path, []byte(before+begin+"\n"+text+end+after), 0o644)
}

// ReplaceMeasured is Replace of what was measured now: the line of Measured comes first.
func ReplaceMeasured(path, name, text string) error {
	return Replace(path, name, Measured(path, time.Now())+"\n"+text)
}

// Verdict is a word and a glyph, so that it can be searched for.
func Verdict(ok bool) string {
	if ok {
		return "✓ pass"
	}
	return "✗ short"
}
