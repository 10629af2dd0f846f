// Package words formats what people read: counts, percentages, sizes, spans of time, lists of names, and text of others. What
// enters is a value, what leaves is one line of text.
// Nothing here knows what the values mean.
package words

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// around is more than what stands between the ends of a text that was cut.
const around = 100

// Keep is a text of most bytes at the most, more than a few hundred: of a longer one its ends, its length, and what tells it from
// others with the same ends.
func Keep(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := (most - around) / 2
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%s...(%d bytes, %x)...%s",
		strings.ToValidUTF8(text[:end], ""), len(text), sum[:8], strings.ToValidUTF8(text[len(text)-end:], ""))
}

// Few lists the first names of a list: "none", "a", "a and b", "a, b, c and 4 more".
func Few(names []string) string {
	const most = 4
	if n := len(names); n > 1 && n <= most {
		return List("and", names...)
	}
	return FirstOf(names, most-1, ", ")
}

// FirstOf joins up to most names, and says how many more there are: "none", "a; b", "a; b; c and 4 more".
func FirstOf(names []string, most int, separator string) string {
	switch {
	case len(names) == 0:
		return "none"
	case len(names) <= most:
		return strings.Join(names, separator)
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], separator), len(names)-most)
}

// NonEmpty leaves out what is empty; the list is reused.
func NonEmpty(list []string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}

// Sentence returns text with a capital, unless its first word is one of the names, or looks like a name: querynode-19, dataCoord.gc, docs:.
func Sentence(text string, names ...string) string {
	first, _, _ := strings.Cut(text, " ")
	if text == "" || slices.Contains(names, first) || strings.ContainsFunc(first, func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') }) {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// LowerFirst is a sentence as it goes on behind other words; its first letter is one of ASCII. Abbreviations stay as they are.
func LowerFirst(s string) string {
	if len(s) < 2 || s[1] >= 'A' && s[1] <= 'Z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
