package words

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sanitize replaces control characters, direction marks, invisible characters and invalid UTF-8 by visible
// escapes, because a terminal would interpret them. It also escapes line breaks. Every name that comes from a
// cluster must pass through it.
func Sanitize(s string) string {
	if Plain(s) {
		return s
	}
	return string(AppendSanitized(nil, s))
}

// SanitizeLines is like Sanitize but keeps line breaks and tabs, for texts of several lines.
func SanitizeLines(s string) string {
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
			b.WriteString(Sanitize(part))
		}
	}
	return b.String()
}

// Plain reports whether s is printable ASCII. Nearly all names are.
func Plain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// AppendSanitized appends Sanitize(s) to dst.
func AppendSanitized(dst []byte, s string) []byte {
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

// Hidden reports whether a rune has an effect but no visible glyph, according to its Unicode properties:
// controls, format characters (e.g. direction marks, joiners, interlinear marks, tags), line and paragraph
// separators, and code points that a font may omit (Default_Ignorable_Code_Point of DerivedCoreProperties.txt:
// soft hyphens, variation selectors, fillers and reserved code points). Noncharacters are hidden too, because XML
// does not allow them.
func Hidden(r rune) bool {
	if r < 0xa0 {
		return r < 0x20 || r >= 0x7f
	}
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point,
		unicode.Variation_Selector, unicode.Noncharacter_Code_Point)
}

// appendEscape appends a rune as \u and four digits, or as \U and eight digits above U+FFFF.
func appendEscape(dst []byte, r rune) []byte {
	if r > 0xffff {
		return fmt.Appendf(dst, `\U%08x`, r)
	}
	return fmt.Appendf(dst, `\u%04x`, r)
}

// OneLine replaces each run of blanks and line breaks by a single blank.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// maxMessage limits the length of a message in bytes, because messages of servers and files can be of any length.
const maxMessage = 4 << 10

// Message returns s as a single line that is safe for a terminal, because keys and names in s are untrusted. It
// cuts the middle of a message of more than maxMessage bytes: the start names the failed operation, and the end
// the reason.
func Message(s string) string {
	if cut := len(s) - maxMessage; cut > 0 {
		s = strings.ToValidUTF8(s[:maxMessage/2], "") + fmt.Sprintf(" ... (%d bytes) ... ", cut) +
			strings.ToValidUTF8(s[len(s)-maxMessage/2:], "")
	}
	return Sanitize(OneLine(s))
}
