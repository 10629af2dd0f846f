package log

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// shownExamples is the maximum number of examples of a kind in a note. All are counted.
const shownExamples = 5

// shownNames is the maximum number of names (of keys, methods) in one note.
const shownNames = 20

// tally counts omissions by kind, and keeps the first few examples of each.
type tally struct {
	kinds  []string // in the order of their first appearance
	byKind map[string]*kindCount
}

type kindCount struct {
	count    int
	examples []string
}

// add counts one omission of a kind ("broken lines, skipped"). The example may be "".
func (t *tally) add(kind, example string) {
	if t.byKind == nil {
		t.byKind = map[string]*kindCount{}
	}
	k := t.byKind[kind]
	if k == nil {
		k = &kindCount{}
		t.byKind[kind] = k
		t.kinds = append(t.kinds, kind)
	}
	k.count++
	if example != "" && len(k.examples) < shownExamples {
		k.examples = append(k.examples, example)
	}
}

// notes returns a sentence for each kind.
func (t *tally) notes() (notes []string) {
	for _, kind := range t.kinds {
		k := t.byKind[kind]
		text := fmt.Sprintf("%s: %d", kind, k.count)
		if len(k.examples) > 0 {
			text += " (" + strings.Join(k.examples, "; ")
			if k.count > len(k.examples) {
				text += "; ..."
			}
			text += ")"
		}
		notes = append(notes, text)
	}
	return notes
}

// names counts by name. It limits the number of names and their length.
type names map[string]int

const (
	maxNames = 1000
	maxName  = 100
)

// other is the name for all names beyond maxNames.
const other = "(others)"

func (n names) add(name string) {
	if len(name) > maxName {
		name = strings.Clone(name[:maxName])
	}
	if _, ok := n[name]; !ok && len(n) >= maxNames {
		name = other
	}
	n[name]++
}

// list returns "a 5, b 3, ...", the most frequent first.
func (n names) list() string {
	keys := slices.SortedFunc(maps.Keys(n), func(a, b string) int {
		if n[a] != n[b] {
			return n[b] - n[a]
		}
		return strings.Compare(a, b)
	})
	var out []string
	for _, k := range keys[:min(len(keys), shownNames)] {
		out = append(out, fmt.Sprintf("%s %d", printable(k), n[k]))
	}
	if len(keys) > shownNames {
		out = append(out, fmt.Sprintf("and %d more", len(keys)-shownNames))
	}
	return strings.Join(out, ", ")
}

// printable truncates an external name, and quotes it if it has spaces, quotes or characters that are not printable.
func printable(name string) string {
	if len(name) > 80 {
		name = name[:80] + "..."
	}
	if strings.ContainsFunc(name, func(r rune) bool {
		return r == ' ' || r == '"' || r > 0xffff || r == '\ufffd' || !strconv.IsPrint(r)
	}) {
		return fmt.Sprintf("%q", name)
	}
	return name
}

var errNonFinite = errors.New("a value is not a finite number")
