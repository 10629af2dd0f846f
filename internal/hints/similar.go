package hints

import (
	"fmt"
	"slices"
	"strings"
)

// UnknownError is the error for a word that matches no known name.
type UnknownError struct {
	// What is the kind of the unknown name, e.g. "resource" or "column of segments". Word is the name.
	What, Word string
	// Known holds all accepted names.
	Known []string
	// Also holds further names that the message may suggest but does not list.
	Also []string
}

// maxListed is the largest number of names that a message lists. With more names, the caller should describe
// how to list them.
const maxListed = 50

func (e *UnknownError) Error() string {
	near := Similar(e.Word, slices.Concat(e.Known, e.Also))
	if len(near) > 0 {
		return fmt.Sprintf("unknown %s %q%s", e.What, e.Word, Suggestion(near))
	}
	if len(e.Known) > maxListed {
		return fmt.Sprintf("unknown %s %q", e.What, e.Word)
	}
	return fmt.Sprintf("unknown %s %q; available: %s", e.What, e.Word, strings.Join(e.Known, ", "))
}

// Suggestion returns the end of a message that suggests the names in similar, or "" if similar is empty.
func Suggestion(similar []string) string {
	if len(similar) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(similar, " or ") + "?"
}

// Similar returns at most three known names, nearest first, that are spelled like word, start with it, or have
// its parts in another order.
func Similar(word string, known []string) []string {
	word = strings.ToLower(word)
	type candidate struct {
		name     string
		distance int
	}
	var list []candidate
	for _, name := range known {
		d := editDistance(word, strings.ToLower(name))
		if strings.HasPrefix(strings.ToLower(name), word) && word != "" {
			d = 1
		}
		if d > 1 && sameParts(word, name) { // "idle-node" for "node-idle"
			d = 1
		}
		if d <= max(1, len(word)/3) {
			list = append(list, candidate{name, d})
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return a.distance - b.distance })
	var names []string
	for _, c := range list[:min(3, len(list))] {
		names = append(names, c.name)
	}
	return names
}

// sameParts reports whether two names have the same parts, in any order. Parts are separated by "-" or "_".
func sameParts(a, b string) bool {
	parts := func(s string) []string {
		list := strings.FieldsFunc(s, func(r rune) bool { return r == '-' || r == '_' })
		slices.Sort(list)
		return list
	}
	return slices.Equal(parts(a), parts(strings.ToLower(b)))
}

// editDistance counts the insertions, deletions, replacements and swaps of neighbors that turn a into b (optimal
// string alignment).
func editDistance(a, b string) int {
	before, last, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			replace := last[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			next[j] = min(replace, last[j]+1, next[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, last, next = last, next, before
	}
	return last[len(b)]
}
