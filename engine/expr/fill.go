package expr

import (
	"math"
	"strconv"
	"strings"
)

// Fill replaces each {name} in text by its value, as a literal. If a name has no value, the error is an *Error
// that names it.
func Fill(text string, values map[string]Value) (string, error) {
	if strings.IndexByte(text, '{') < 0 {
		return text, nil
	}
	l := lexer{s: text}
	var b strings.Builder
	from := 0
	for {
		t, err := l.next()
		if err != nil {
			return "", err
		}
		if t.kind == end {
			b.WriteString(text[from:])
			return b.String(), nil
		}
		if !t.is(operator, "{") {
			continue
		}
		called, err := l.next()
		if err != nil {
			return "", err
		}
		closing, err := l.next()
		if err != nil {
			return "", err
		}
		if called.kind != name || !closing.is(operator, "}") {
			return "", l.fail(t.at, "", "expected the name of a value in {}")
		}
		v, ok := values[called.text]
		if !ok {
			return "", l.fail(t.at, noParam, "no value for {%s}", called.text)
		}
		b.WriteString(text[from:t.at])
		v.write(&b)
		from = closing.at + 1
	}
}

// noParam is the hint for a {name} without a value.
const noParam = "give it in filter_params"

// write writes a value as a literal of the grammar, which has neither negative numbers nor infinities.
func (v *Value) write(b *strings.Builder) {
	switch v.Kind {
	case Bool:
		b.WriteString(strconv.FormatBool(v.Bool))
	case Int:
		switch {
		case v.Int == math.MinInt64:
			b.WriteString("(-9223372036854775807 - 1)")
		case v.Int < 0:
			b.WriteString("(" + strconv.FormatInt(v.Int, 10) + ")")
		default:
			b.WriteString(strconv.FormatInt(v.Int, 10))
		}
	case Float:
		s := strconv.FormatFloat(math.Abs(v.Float), 'g', -1, 64)
		if math.IsInf(v.Float, 0) || math.IsNaN(v.Float) {
			s = "(1e308 * 10)"
		} else if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		if math.Signbit(v.Float) {
			s = "(-" + s + ")"
		}
		b.WriteString(s)
	case Text:
		b.WriteString(strconv.Quote(v.Text))
	case List:
		b.WriteByte('[')
		for i := range v.List {
			if i > 0 {
				b.WriteString(", ")
			}
			v.List[i].write(b)
		}
		b.WriteByte(']')
	case NoValue:
	}
}
