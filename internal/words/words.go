// Package words formats values as text for people: counts, percentages, sizes, durations, lists of names, and
// untrusted text. Its functions return a single line of text unless noted, and do not depend on the meaning of
// the values.
package words

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// maxMarker is an upper bound, in bytes, of the marker between both ends of a truncated text.
const maxMarker = 100

// Truncate truncates text to no more than limit bytes, which must be at least a few hundred. A truncated text consists
// of both ends, the length, and a hash that distinguishes it from other texts with the same ends.
func Truncate(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := (limit - maxMarker) / 2
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%s...(%d bytes, %x)...%s",
		strings.ToValidUTF8(text[:end], ""), len(text), sum[:8], strings.ToValidUTF8(text[len(text)-end:], ""))
}

// Summarize formats the first names of a list: "none", "a", "a and b", "a, b, c and 4 more".
func Summarize(names []string) string {
	const most = 4
	if n := len(names); n > 1 && n <= most {
		return List("and", names...)
	}
	return FirstOf(names, most-1, ", ")
}

// FirstOf joins the first names, at most limit of them, and appends how many were left out: "none", "a; b", "a;
// b; c and 4 more".
func FirstOf(names []string, limit int, separator string) string {
	switch {
	case len(names) == 0:
		return "none"
	case len(names) <= limit:
		return strings.Join(names, separator)
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:limit], separator), len(names)-limit)
}

// NonEmpty removes empty texts from the list in place.
func NonEmpty(list []string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}

// Sentence capitalizes text unless its first word is one of names or looks like a name, e.g. querynode-19,
// dataCoord.gc, docs:.
func Sentence(text string, names ...string) string {
	first, _, _ := strings.Cut(text, " ")
	if text == "" || slices.Contains(names, first) ||
		strings.ContainsFunc(first, func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') }) {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// LowerFirst lowercases the first letter, which must be ASCII, so that s can follow other words in a sentence. It
// keeps abbreviations.
func LowerFirst(s string) string {
	if len(s) < 2 || s[1] >= 'A' && s[1] <= 'Z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
