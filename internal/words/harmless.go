package words

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Harmless replaces what a terminal would obey or misread (control characters,
// direction marks, invisible ones, invalid UTF-8) by visible escapes. Line breaks are
// escaped too. Every name that comes from a cluster passes through it.
func Harmless(s string) string {
	if Plain(s) {
		return s
	}
	return string(AppendHarmless(nil, s))
}

// HarmlessLines keeps line breaks and tabs, for texts of several lines.
func HarmlessLines(s string) string {
	if Plain(s) {
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

// Plain reports whether s is printable ASCII, as nearly all names are.
func Plain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// AppendHarmless appends Harmless.
func AppendHarmless(dst []byte, s string) []byte {
	if Plain(s) {
		return append(dst, s...)
	}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = fmt.Appendf(dst, `\x%02x`, s[i])
		case r == '\n':
			dst = append(dst, '\\', 'n')
		case r == '\t':
			dst = append(dst, '\\', 't')
		case r < 0x20 || r == 0x7f:
			dst = fmt.Appendf(dst, `\x%02x`, r)
		case Hidden(r):
			dst = appendEscape(dst, r)
		default:
			dst = append(dst, s[i:i+size]...)
		}
		i += size
	}
	return dst
}

// Hidden reports whether a rune acts without being seen, by the properties that Unicode gives it: controls, format
// characters (among them direction marks, joiners, interlinear marks, tags), separators of lines, and what a font may
// leave out altogether (Default_Ignorable_Code_Point of DerivedCoreProperties.txt: soft hyphens, variation selectors,
// fillers, what is reserved for such), and what is no character at all, which XML has no place for.
func Hidden(r rune) bool {
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

// OneLine is a text with each run of blanks and line breaks as one blank.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// maxMessage bounds a message in bytes: what a server or a file says in it may have no end.
const maxMessage = 4 << 10

// Message makes one line of a message that a terminal shows and does not obey: keys
// and names in it come from outside. A long one loses its middle: what failed stands before, why behind.
func Message(s string) string {
	if cut := len(s) - maxMessage; cut > 0 {
		s = strings.ToValidUTF8(s[:maxMessage/2], "") + fmt.Sprintf(" ... (%d bytes) ... ", cut) + strings.ToValidUTF8(s[len(s)-maxMessage/2:], "")
	}
	return Harmless(OneLine(s))
}
