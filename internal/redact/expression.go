package redact

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Expression replaces the values in a Milvus filter expression (internal/parser/planparserv2/Plan.g4) by "?", because
// they may be personal, e.g. a name or an address. It keeps fields, operators, functions, the lengths of lists, the
// keys of JSON, and the names of {templates}.
//
//	email == "ada@example.com" and id in [1, 2, 3]   becomes   email == ? and id in [? x3]
func Expression(text string) string {
	e := expression{in: text}
	for e.at < len(text) {
		e.token()
	}
	return e.out.String()
}

// maxBrief is the maximum length of a brief expression in bytes.
const maxBrief = 500

// BriefExpression returns Expression(text), cut to at most 500 bytes and "..." if it is longer.
func BriefExpression(text string) string {
	text = Expression(text)
	if len(text) > maxBrief {
		text = strings.ToValidUTF8(text[:maxBrief], "") + "..."
	}
	return text
}

// expression is the state of Expression.
type expression struct {
	in  string
	at  int
	out strings.Builder
	// word is the name that was read last, or "" after anything but a name. sign is the last character that is not a
	// space.
	word string
	sign byte
}

// token reads the next token: a name, a value, a list of values, or a sign.
func (e *expression) token() {
	rest := e.in[e.at:]
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case r == '"', r == '\'':
		e.value(stringEnd(rest))
	case r >= '0' && r <= '9', r == '.' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9':
		e.value(numberEnd(rest))
	case nameStart(r):
		e.name(rest)
	case r == '[':
		e.bracket(rest)
	default:
		e.out.WriteString(rest[:size])
		e.at += size
		if !unicode.IsSpace(r) {
			e.word, e.sign = "", rest[0]
		}
	}
}

func (e *expression) value(size int) {
	e.out.WriteByte('?')
	e.at += size
	e.word, e.sign = "", '?'
}

// name copies a name or a keyword. A letter right before a string is its prefix (e.g. for raw strings) and belongs to
// the value.
func (e *expression) name(rest string) {
	size := strings.IndexFunc(rest, func(r rune) bool { return !nameStart(r) && !unicode.IsDigit(r) })
	if size < 0 {
		size = len(rest)
	}
	if size == 1 && len(rest) > 1 && (rest[1] == '"' || rest[1] == '\'') && strings.IndexByte("rRuUlL", rest[0]) >= 0 {
		e.value(1 + stringEnd(rest[1:]))
		return
	}
	e.word, e.sign = rest[:size], 'a'
	e.out.WriteString(rest[:size])
	e.at += size
}

// bracket copies a key of JSON unchanged, e.g. meta["city"]. It replaces a list of values by the number of its
// values.
func (e *expression) bracket(rest string) {
	if e.sign == ']' || e.word != "" && !strings.EqualFold(e.word, "in") {
		if inside := rest[1:]; inside != "" && (inside[0] == '"' || inside[0] == '\'') {
			size := stringEnd(inside)
			if key := strings.Trim(inside[:size], `"'`); size < len(inside) && inside[size] == ']' && plainKey(key) {
				e.out.WriteString(rest[:size+2])
				e.at += size + 2
				e.word, e.sign = "", ']'
				return
			}
		}
	} else if n, size := plainList(rest); n > 1 {
		e.out.WriteString("[? x" + strconv.Itoa(n) + "]")
		e.at += size
		e.word, e.sign = "", ']'
		return
	}
	e.out.WriteByte('[')
	e.at++
	e.word, e.sign = "", '['
}

// plainList returns the number of values in a list and its length in bytes, or 0 for both if the list contains
// anything else.
func plainList(text string) (n, size int) {
	at := 1
	for {
		at += len(text[at:]) - len(strings.TrimLeft(text[at:], " \t\r\n,+-"))
		if at >= len(text) {
			return 0, 0
		}
		switch c := text[at]; {
		case c == ']':
			return n, at + 1
		case c == '"', c == '\'':
			at += stringEnd(text[at:])
		case c >= '0' && c <= '9', c == '.':
			at += numberEnd(text[at:])
		default:
			return 0, 0
		}
		n++
	}
}

// stringEnd returns the end of the string that text starts with: the offset after its closing quote, or the length
// of text if the quote is missing.
func stringEnd(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0]:
			return i + 1
		}
	}
	return len(text)
}

// numberEnd returns the end of the number that text starts with, e.g. 1, 0x1f, 1.5e-7.
func numberEnd(text string) int {
	for i := 1; i < len(text); i++ {
		c := text[i]
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '.':
		case (c == '+' || c == '-') && (text[i-1] == 'e' || text[i-1] == 'E'):
		default:
			return i
		}
	}
	return len(text)
}

func nameStart(r rune) bool { return r == '_' || r == '$' || unicode.IsLetter(r) }

// plainKey reports whether a key is a name, and not a value used as a key.
func plainKey(key string) bool {
	const longest = 64
	return key != "" && len(key) <= longest && nameStart(rune(key[0])) &&
		strings.IndexFunc(key, func(r rune) bool { return !nameStart(r) && !unicode.IsDigit(r) }) < 0
}
