package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Harmless replaces what a terminal would obey or misread (control characters,
// direction marks, invisible ones, invalid UTF-8) by visible escapes. Line breaks are
// escaped too. Every name that comes from a cluster passes through it.
func Harmless(s string) string {
	if plain(s) {
		return s
	}
	return string(appendHarmless(nil, s))
}

// harmless keeps line breaks and tabs, for texts of several lines.
func harmless(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		for j, part := range strings.Split(line, "\t") {
			if j > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(Harmless(part))
		}
	}
	return b.String()
}

// plain reports whether s is printable ASCII, as nearly all names are.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

func appendHarmless(dst []byte, s string) []byte {
	if plain(s) {
		return append(dst, s...)
	}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = append(dst, '\\', 'x', hexDigits[s[i]>>4], hexDigits[s[i]&15])
		case r == '\n':
			dst = append(dst, '\\', 'n')
		case r == '\t':
			dst = append(dst, '\\', 't')
		case r < 0x20 || r == 0x7f:
			dst = append(dst, '\\', 'x', hexDigits[r>>4], hexDigits[r&15])
		case hidden(r):
			dst = appendEscape(dst, r)
		default:
			dst = append(dst, s[i:i+size]...)
		}
		i += size
	}
	return dst
}

// hidden reports whether a rune acts without being seen, by the properties that Unicode gives it: controls, format
// characters (among them direction marks, joiners, interlinear marks, tags), separators of lines, and what a font may
// leave out altogether (Default_Ignorable_Code_Point of DerivedCoreProperties.txt: soft hyphens, variation selectors,
// fillers, what is reserved for such), and what is no character at all, which XML has no place for.
func hidden(r rune) bool {
	if r < 0xa0 {
		return r < 0x20 || r >= 0x7f
	}
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Noncharacter_Code_Point)
}

// appendEscape appends a rune as \u and four digits, or \U and eight.
func appendEscape(dst []byte, r rune) []byte {
	if r > 0xffff {
		return fmt.Appendf(dst, `\U%08x`, r)
	}
	return fmt.Appendf(dst, `\u%04x`, r)
}

// width is the number of terminal cells of harmless text.
func width(s []byte) int {
	for _, c := range s {
		if c >= utf8.RuneSelf {
			return ansi.StringWidth(string(s))
		}
	}
	return len(s)
}

// fit cuts harmless text to a number of cells, with an ellipsis.
func fit(s string, cells int, ellipsis string) string {
	return ansi.Truncate(s, cells, ellipsis)
}
