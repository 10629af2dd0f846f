package redact

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Expression takes the values out of a filter expression of Milvus (internal/parser/planparserv2/Plan.g4): what a field is compared
// with may be a person's name or address. What is asked stays: fields, operators, functions, how long a list is, the keys of
// JSON, the names of {templates}. "?" is a value that was there.
//
//	email == "ada@example.com" and id in [1, 2, 3]   becomes   email == ? and id in [? x3]
func Expression(text string) string {
	e := expression{in: text}
	for e.at < len(text) {
		e.token()
	}
	return e.out.String()
}

// shown is how many bytes of an expression are worth showing.
const shown = 500

// BriefExpression is Expression, cut to a length that can be shown.
func BriefExpression(text string) string {
	text = Expression(text)
	if len(text) > shown {
		text = strings.ToValidUTF8(text[:shown], "") + "..."
	}
	return text
}

// expression is one on its way.
type expression struct {
	in  string
	at  int
	out strings.Builder
	// word is the name that was read last, "" behind anything else; sign is the last character that is no blank.
	word string
	sign byte
}

// token takes what comes next: a name, a value, a list of values, or a sign.
func (e *expression) token() {
	rest := e.in[e.at:]
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case r == '"', r == '\'':
		e.value(quoted(rest))
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

// name copies a name or a word of the language. A string may have a letter before it that says how it is escaped.
func (e *expression) name(rest string) {
	size := strings.IndexFunc(rest, func(r rune) bool { return !nameStart(r) && !unicode.IsDigit(r) })
	if size < 0 {
		size = len(rest)
	}
	if size == 1 && len(rest) > 1 && (rest[1] == '"' || rest[1] == '\'') && strings.IndexByte("rRuUlL", rest[0]) >= 0 {
		e.value(1 + quoted(rest[1:]))
		return
	}
	e.word, e.sign = rest[:size], 'a'
	e.out.WriteString(rest[:size])
	e.at += size
}

// bracket takes a key of JSON, meta["city"], as it is, and of a list how many values it has.
func (e *expression) bracket(rest string) {
	if e.sign == ']' || e.word != "" && !strings.EqualFold(e.word, "in") {
		if inside := rest[1:]; inside != "" && (inside[0] == '"' || inside[0] == '\'') {
			size := quoted(inside)
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

// plainList counts the values of a list that has nothing but values, and how long it is; 0 for others.
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
			at += quoted(text[at:])
		case c >= '0' && c <= '9', c == '.':
			at += numberEnd(text[at:])
		default:
			return 0, 0
		}
		n++
	}
}

// quoted is where a string ends that begins here: behind its closing quote, or with the text.
func quoted(text string) int {
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

// numberEnd is where a number ends: 1, 0x1f, 1.5e-7.
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

// plainKey reports whether a key is a name rather than a value that stands in the place of one.
func plainKey(key string) bool {
	const longest = 64
	return key != "" && len(key) <= longest && nameStart(rune(key[0])) &&
		strings.IndexFunc(key, func(r rune) bool { return !nameStart(r) && !unicode.IsDigit(r) }) < 0
}
