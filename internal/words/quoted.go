package words

import (
	"unicode/utf16"
	"unicode/utf8"
)

// AppendJSON appends s as a JSON string. It escapes C0 and C1 control characters, because a terminal would
// interpret them, and replaces invalid UTF-8 by U+FFFD.
func AppendJSON(dst []byte, s string) []byte { return appendQuoted(dst, s, appendSurrogates) }

// AppendYAML appends s as a quoted YAML string. YAML has escapes of eight digits and no surrogates.
func AppendYAML(dst []byte, s string) []byte { return appendQuoted(dst, s, appendEscape) }

// appendSurrogates appends a rune above U+FFFF as a surrogate pair, because escapes in JSON have four digits.
func appendSurrogates(dst []byte, r rune) []byte {
	high, low := utf16.EncodeRune(r)
	return appendEscape(appendEscape(dst, high), low)
}

// appendQuoted appends s in quotes. The function escape escapes a rune above U+FFFF.
func appendQuoted(dst []byte, s string, escape func([]byte, rune) []byte) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < 0x7f && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		size := 1
		if c < utf8.RuneSelf {
			dst = appendEscaped(dst, c)
		} else {
			dst, size = appendRune(dst, s[i:], escape)
		}
		i += size
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func appendEscaped(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\t':
		return append(dst, '\\', 't')
	case '\r':
		return append(dst, '\\', 'r')
	}
	return appendEscape(dst, rune(c))
}

// appendRune appends the first rune of s, of at least two bytes. It escapes a rune that a terminal or an editor
// would interpret, and returns the rune's size in bytes.
func appendRune(dst []byte, s string, escape func([]byte, rune) []byte) (out []byte, size int) {
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && size == 1:
		return append(dst, `\ufffd`...), 1
	case Hidden(r) && r > 0xffff:
		return escape(dst, r), size
	case Hidden(r):
		return appendEscape(dst, r), size
	}
	return append(dst, s[:size]...), size
}
