package render

import (
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
			dst = append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
		default:
			dst = append(dst, s[i:i+size]...)
		}
		i += size
	}
	return dst
}

// hidden reports whether a rune acts without being seen: C1 controls, direction marks,
// zero width characters, separators of lines, the byte order mark.
func hidden(r rune) bool {
	switch {
	case r < 0x80:
		return r < 0x20 || r == 0x7f
	case r <= 0x9f, r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0xfeff:
		return true
	}
	return unicode.Is(unicode.Cc, r)
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
