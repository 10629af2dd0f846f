// Package document puts measured tables into a document: what enters is Markdown, what leaves is the
// document with that text between two marks, and the rest as it was.
package document

import (
	"fmt"
	"os"
	"strings"
)

// Marks are the lines between which the text of a name stands.
func Marks(name string) (begin, end string) {
	return "<!-- " + name + ": begin -->", "<!-- " + name + ": end -->"
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

// Verdict is a word and a glyph, so that it can be searched for.
func Verdict(ok bool) string {
	if ok {
		return "✓ pass"
	}
	return "✗ short"
}
