package load

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// OtherErrors is what errors beyond the most frequent texts are counted as.
const OtherErrors = "other errors"

const (
	shownErrors = 10
	// keptErrors bounds the texts that are counted apart while nobody knows which are frequent.
	keptErrors = 200
	errorRunes = 300
)

// fails counts errors by text. Texts that differ in numbers alone, as ports, ids and times do, are one.
type fails struct {
	mu     sync.Mutex
	groups map[string]*group
	other  int64
}

type group struct {
	text  string // of the first; the pattern once another differs
	count int64
}

func newFails() *fails { return &fails{groups: map[string]*group{}} }

func (f *fails) add(err error) {
	text := printable(err.Error())
	pattern := withoutNumbers(text)
	f.mu.Lock()
	defer f.mu.Unlock()
	g := f.groups[pattern]
	switch {
	case g == nil && len(f.groups) >= keptErrors:
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

// counts are the most frequent texts, and how many others there were.
func (f *fails) counts() map[string]int64 {
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
		if i < shownErrors {
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

// printable is a text on one line, without what acts on a terminal, and no longer than a few lines of one.
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

// withoutNumbers has # for each number, and for words of hexadecimal digits as ids of traces are.
func withoutNumbers(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		j := i
		digits, hex := false, true
		for j < len(text) && isWord(text[j]) {
			digits = digits || isDigit(text[j])
			hex = hex && isHex(text[j])
			j++
		}
		switch {
		case j == i:
			b.WriteByte(text[i])
			j++
		case digits && hex && j-i >= 6:
			b.WriteByte('#')
		default:
			numbersOut(&b, text[i:j])
		}
		i = j
	}
	return b.String()
}

// numbersOut writes a word with # for each run of digits.
func numbersOut(b *strings.Builder, word string) {
	for i := range len(word) {
		switch {
		case !isDigit(word[i]):
			b.WriteByte(word[i])
		case i == 0 || !isDigit(word[i-1]):
			b.WriteByte('#')
		}
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }

func isWord(c byte) bool { return isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
