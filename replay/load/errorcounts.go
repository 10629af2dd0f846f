package load

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// OtherErrors is the text for errors beyond the most frequent ones.
const OtherErrors = "other errors"

const (
	maxShownErrors = 10
	// maxErrors limits the number of texts that are counted separately until the most frequent are known.
	maxErrors  = 200
	errorRunes = 300
)

// errorCounts counts errors by text. Texts that differ only in numbers, e.g. ports, ids and times, are counted
// together.
type errorCounts struct {
	mu     sync.Mutex
	groups map[string]*group
	other  int64
}

type group struct {
	text  string // of the first error; the pattern once another text differs
	count int64
}

func newErrorCounts() *errorCounts { return &errorCounts{groups: map[string]*group{}} }

func (f *errorCounts) add(err error) {
	text := printable(err.Error())
	pattern := withoutNumbers(text)
	f.mu.Lock()
	defer f.mu.Unlock()
	g := f.groups[pattern]
	switch {
	case g == nil && len(f.groups) >= maxErrors:
		f.other++
		return
	case g == nil:
		g = &group{text: text}
		f.groups[pattern] = g
	case g.text != text:
		g.text = pattern
	}
	g.count++
}

// counts returns the counts of the most frequent texts, and the count of all others as OtherErrors.
func (f *errorCounts) counts() map[string]int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.groups) == 0 {
		return nil
	}
	all := make([]*group, 0, len(f.groups))
	for _, g := range f.groups {
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.text, b.text))
	})
	counts, other := map[string]int64{}, f.other
	for i, g := range all {
		if i < maxShownErrors {
			counts[g.text] += g.count
		} else {
			other += g.count
		}
	}
	if other > 0 {
		counts[OtherErrors] += other
	}
	return counts
}

// printable returns text on one line of limited length, without characters that control a terminal.
func printable(text string) string {
	var b strings.Builder
	n, blank := 0, false
	for _, r := range strings.TrimSpace(text) {
		if n >= errorRunes {
			b.WriteString("...")
			break
		}
		switch {
		case unicode.IsSpace(r):
			if blank {
				continue
			}
			r = ' '
		case !unicode.IsPrint(r):
			r = unicode.ReplacementChar
		}
		blank = r == ' '
		b.WriteRune(r)
		n++
	}
	if n == 0 {
		return "an error without text"
	}
	return b.String()
}

// numbers matches words of hexadecimal digits, e.g. trace ids, and runs of digits.
var numbers = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b[0-9a-fA-F]{6,}\b|[0-9]+`) })

// withoutNumbers replaces every number by #.
func withoutNumbers(text string) string { return numbers().ReplaceAllString(text, "#") }
