// Package document inserts measured tables into documents. The text goes between two markers, below a line
// with the date and the commit of the measurement. The rest of the document stays unchanged.
package document

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Marks returns the lines that enclose the text with the given name.
func Marks(name string) (begin, end string) {
	return "<!-- " + name + ": begin -->", "<!-- " + name + ": end -->"
}

// Measured returns the line with the date of a measurement and the commit of the repository that holds the
// document.
func Measured(path string, now time.Time) string {
	at := "an unknown commit"
	git := func(args ...string) (string, error) {
		args = append([]string{"-C", filepath.Dir(path)}, args...)
		out, err := exec.Command("git", args...).Output() //nolint:gosec,noctx // the folder of a document
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

// Replace replaces the text between the markers of a name and leaves the rest unchanged.
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

// ReplaceMeasured is like Replace for text that was measured now. It puts the line of Measured first.
func ReplaceMeasured(path, name, text string) error {
	return Replace(path, name, Measured(path, time.Now())+"\n"+text)
}

// Verdict returns the result as a glyph and a word. The word can be searched for.
func Verdict(ok bool) string {
	if ok {
		return "✓ pass"
	}
	return "✗ short"
}
