package expr

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// kind is the type of a token. Operators and keywords are distinguished by their text.
type kind uint8

const (
	end kind = iota
	operator
	keyword // its text is in lower case
	name
	path // a name with [keys]
	integer
	float
	boolean
	text
	emptyList
)

// token is a token of an expression. Its text is as in the source, but keywords are in lower case.
type token struct {
	kind kind
	text string
	at   int
}

func (t token) is(k kind, text string) bool { return t.kind == k && t.text == text }

// describe returns a description of the token for messages.
func (t token) describe() string {
	if t.kind == end {
		return "the end"
	}
	return quoteShort(t.text)
}

// keywords holds the keywords of the grammar. Each is written in lower case or in upper case, not mixed. A null
// test is a single token in the grammar, whose words are separated by one space.
var keywords = map[string]bool{
	"like": true, "exists": true, "text_match": true, "phrase_match": true, "random_sample": true, "interval": true,
	"iso": true,
	"and": true, "or": true, "not": true, "in": true, "is null": true, "is not null": true,
	"json_contains": true, "json_contains_all": true, "json_contains_any": true,
	"array_contains": true, "array_contains_all": true, "array_contains_any": true, "array_length": true,
	"st_equals": true, "st_touches": true, "st_overlaps": true, "st_crosses": true, "st_contains": true,
	"st_intersects": true,
	"st_within":     true, "st_dwithin": true, "st_isvalid": true, "element_filter": true,
	"match_all": true, "match_any": true, "match_least": true, "match_most": true, "match_exact": true,
}

// operators holds the operators, longest first.
var operators = []string{
	"**", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "=~", "!~",
	"<", ">", "=", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "(", ")", "[", "]", "{", "}", ",",
}

// lexer splits an expression into tokens. Like ANTLR, it always takes the longest token that fits.
type lexer struct {
	s  string
	at int
}

func (l *lexer) fail(at int, hint, format string, a ...any) error {
	return &Error{Expr: l.s, At: at, Text: fmt.Sprintf(format, a...), Hint: hint}
}

// next returns the current token and advances past it.
func (l *lexer) next() (token, error) {
	for l.at < len(l.s) && strings.IndexByte(" \t\r\n", l.s[l.at]) >= 0 {
		l.at++
	}
	at := l.at
	if at == len(l.s) {
		return token{end, "", at}, nil
	}
	switch c := l.s[at]; {
	case c == '"' || c == '\'':
		n, err := l.quoted(at)
		return l.take(text, n), err
	case nondigit(c) || strings.HasPrefix(l.s[at:], "$meta"):
		return l.word(), nil
	case digit(c) || c == '.' && at+1 < len(l.s) && digit(l.s[at+1]):
		k, n := number(l.s[at:])
		return l.take(k, n), nil
	case c == '[':
		if inner := strings.TrimLeft(l.s[at+1:], " \t\r\n"); strings.HasPrefix(inner, "]") {
			return l.take(emptyList, len(l.s)-at-len(inner)+1), nil
		}
	}
	for _, o := range operators {
		if strings.HasPrefix(l.s[at:], o) {
			return l.take(operator, len(o)), nil
		}
	}
	if l.s[at] == '$' {
		return token{}, l.fail(at, "the dynamic field is $meta, or its keys alone", "unexpected $")
	}
	r, _ := utf8.DecodeRuneInString(l.s[at:])
	return token{}, l.fail(at, "", "unexpected character %q", r)
}

func (l *lexer) take(k kind, n int) token {
	t := token{k, l.s[l.at : l.at+n], l.at}
	l.at += n
	return t
}

// word reads a name, a name with keys, a keyword or a boolean.
func (l *lexer) word() token {
	s := l.s[l.at:]
	n := 1 // a $ at the start counts as a letter
	for n < len(s) && (nondigit(s[n]) || digit(s[n])) {
		n++
	}
	if keyed := l.keys(l.at+n) - l.at; keyed > n {
		return l.take(path, keyed)
	}
	for _, null := range []string{"is not null", "is null"} {
		if strings.HasPrefix(s, null) || strings.HasPrefix(s, strings.ToUpper(null)) {
			if len(s) == len(null) || !nondigit(s[len(null)]) && !digit(s[len(null)]) {
				t := l.take(keyword, len(null))
				t.text = null
				return t
			}
		}
	}
	t := l.take(name, n)
	lower := strings.ToLower(t.text)
	switch {
	case lower == "true" || lower == "false":
		if t.text == lower || t.text == strings.ToUpper(lower) || t.text == strings.ToUpper(lower[:1])+lower[1:] {
			t.kind = boolean
		}
	case keywords[lower] && (t.text == lower || t.text == strings.ToUpper(lower)):
		t.kind, t.text = keyword, lower
	}
	return t
}

// keys returns the end of the [keys] that immediately follow: texts or integers in brackets, without spaces.
func (l *lexer) keys(at int) int {
	for at+1 < len(l.s) && l.s[at] == '[' {
		in := at + 1
		switch c := l.s[in]; {
		case c == '"' || c == '\'':
			n, err := l.quoted(in)
			if err != nil {
				return at
			}
			in += n
		case digit(c):
			for in < len(l.s) && digit(l.s[in]) && (l.s[at+1] != '0' || in == at+1) {
				in++
			}
		default:
			return at
		}
		if in >= len(l.s) || l.s[in] != ']' {
			return at
		}
		at = in + 1
	}
	return at
}

// quoted returns the length of the text literal that starts with the quote at s[at].
func (l *lexer) quoted(at int) (int, error) {
	quote := l.s[at]
	for i := at + 1; i < len(l.s); i++ {
		switch c := l.s[i]; c {
		case quote:
			return i + 1 - at, nil
		case '\r', '\n':
			return 0, l.fail(at, `write \n for a line break`, "a string without its closing %c", quote)
		case '\\':
			i++
			if i < len(l.s) && strings.IndexByte(`'"?abfnrtv\01234567xuU`, l.s[i]) < 0 {
				r, _ := utf8.DecodeRuneInString(l.s[i:])
				escaped := strings.Trim(strconv.QuoteRune(r), "'")
				return 0, l.fail(i-1, `a backslash itself is \\: \\`+escaped, `\%s is not an escape in a string`,
					escaped)
			}
		}
	}
	return 0, l.fail(at, "", "a string without its closing %c", quote)
}

func nondigit(c byte) bool    { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }
func digit(c byte) bool       { return c >= '0' && c <= '9' }
func hex(c byte) bool         { return digit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }
func octal(c byte) bool       { return c >= '0' && c <= '7' }
func binaryDigit(c byte) bool { return c == '0' || c == '1' }

// run returns the number of consecutive bytes from at on for which match returns true.
func run(s string, at int, match func(byte) bool) int {
	n := at
	for n < len(s) && match(s[n]) {
		n++
	}
	return n - at
}

// number returns the kind and the length of the longest number at the start of s.
func number(s string) (kind, int) {
	k := integer
	var n int
	prefix := byte(0)
	if len(s) > 1 && s[0] == '0' {
		prefix = s[1] | 0x20
	}
	switch {
	case prefix == 'x':
		n = max(1, 2+run(s, 2, hex))
		if n == 2 {
			n = 1 // 0, followed by a name that starts with x
		}
		if m := hexFloat(s); m > n {
			return float, m
		}
		return k, n
	case prefix == 'b' && run(s, 2, binaryDigit) > 0:
		return k, 2 + run(s, 2, binaryDigit)
	case s[0] == '0':
		n = 1 + run(s, 1, octal)
	default:
		n = run(s, 0, digit)
	}
	whole := run(s, 0, digit)
	m := whole
	fraction := m < len(s) && s[m] == '.'
	if fraction {
		m += 1 + run(s, m+1, digit)
	}
	if e := exponent(s, m, 'e'); e > m {
		return float, e
	}
	if fraction {
		return float, m
	}
	return k, n
}

// exponent returns the end of the exponent at m, or m if there is none.
func exponent(s string, m int, letter byte) int {
	if m >= len(s) || s[m]|0x20 != letter {
		return m
	}
	d := m + 1
	if d < len(s) && (s[d] == '+' || s[d] == '-') {
		d++
	}
	if n := run(s, d, digit); n > 0 {
		return d + n
	}
	return m
}

// hexFloat returns the length of a hexadecimal number with a binary exponent, or 0 if s does not start with
// one.
func hexFloat(s string) int {
	whole := run(s, 2, hex)
	m, part := 2+whole, 0
	if m < len(s) && s[m] == '.' {
		part = run(s, m+1, hex)
		m += 1 + part
	}
	if e := exponent(s, m, 'p'); e > m && whole+part > 0 {
		return e
	}
	return 0
}
