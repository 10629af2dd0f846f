package expr

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Kind is the kind of a Value.
type Kind uint8

// The kinds, as in planpb.GenericValue.
const (
	NoValue Kind = iota
	Bool
	Int
	Float
	Text
	List
)

func (k Kind) String() string {
	return [...]string{
		"nothing", "a boolean", "a whole number", "a floating-point number", "a string",
		"a list",
	}[min(k, List)]
}

// Value is a constant. Only the field of its Kind is set.
type Value struct {
	Kind  Kind
	Bool  bool
	Int   int64
	Float float64
	Text  string
	List  []Value
}

func boolValue(b bool) Value     { return Value{Kind: Bool, Bool: b} }
func intValue(i int64) Value     { return Value{Kind: Int, Int: i} }
func floatValue(f float64) Value { return Value{Kind: Float, Float: f} }

func (v *Value) String() string {
	switch v.Kind {
	case Bool:
		return strconv.FormatBool(v.Bool)
	case Int:
		return strconv.FormatInt(v.Int, 10)
	case Float:
		return strconv.FormatFloat(v.Float, 'g', -1, 64)
	case Text:
		return quoteShort(v.Text)
	case List:
		return fmt.Sprintf("a list of %d", len(v.List))
	default:
		return "nothing"
	}
}

// number returns a numeric value as the nearest float64.
func (v *Value) number() float64 {
	if v.Kind == Int {
		return float64(v.Int)
	}
	return v.Float
}

func (v *Value) numeric() bool { return v.Kind == Int || v.Kind == Float }

// literal parses a token that is a constant.
func literal(t token) (Value, error) {
	switch t.kind {
	case integer:
		i, err := strconv.ParseInt(t.text, 0, 64)
		if err != nil {
			return Value{}, fmt.Errorf("%s does not fit in 64 bits", t.text)
		}
		return intValue(i), nil
	case float:
		f, err := strconv.ParseFloat(t.text, 64)
		if err != nil {
			return Value{}, fmt.Errorf("%s does not fit in a double", t.text)
		}
		return floatValue(f), nil
	case boolean:
		return boolValue(t.text[0]|0x20 == 't'), nil
	default:
		s, err := unquote(t.text)
		return Value{Kind: Text, Text: s}, err
	}
}

// unquote parses a text literal as convertEscapeSingle of utils.go does: escapes are those of Go, and \' is '.
func unquote(s string) (string, error) {
	if len(s) < 2 {
		return "", errors.New("a string without quotes")
	}
	inner := s[1 : len(s)-1]
	if strings.IndexByte(inner, '\\') < 0 {
		return inner, nil
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(inner); i++ {
		switch c := inner[i]; {
		case c == '\\' && i+1 < len(inner):
			i++
			if inner[i] != '\'' {
				b.WriteByte('\\')
			}
			b.WriteByte(inner[i])
		case c == '"':
			b.WriteString(`\"`)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	out, err := strconv.Unquote(b.String())
	if err != nil {
		return "", errors.New(`an invalid escape: \x takes two digits, \u four, \ooo three`)
	}
	return out, nil
}

// arithmetic computes an operation on constants as operators.go does: integers wrap around, and division
// truncates towards zero.
func arithmetic(op string, a, b *Value, r Release) (Value, error) {
	if !a.numeric() || !b.numeric() {
		return Value{}, fmt.Errorf("%s takes numbers, not %s and %s", op, a.Kind, b.Kind)
	}
	whole := a.Kind == Int && b.Kind == Int
	switch op {
	case "%":
		if !whole {
			return Value{}, errors.New("% takes whole numbers")
		}
		if b.Int == 0 {
			return Value{}, errors.New("division by zero")
		}
		if b.Int == -1 {
			return intValue(0), nil
		}
		return intValue(a.Int % b.Int), nil
	case "/":
		if b.number() == 0 {
			return Value{}, errors.New("division by zero")
		}
	case "**":
		return power(a, b, whole, r), nil
	}
	if whole {
		return intValue(wholeArithmetic(op, a.Int, b.Int)), nil
	}
	return floatValue(floatArithmetic(op, a.number(), b.number())), nil
}

func power(a, b *Value, whole bool, r Release) Value {
	p := math.Pow(a.number(), b.number())
	if !whole || r.before(6) || b.Int < 0 || !(p < math.MaxInt64) || p < math.MinInt64 {
		return floatValue(p)
	}
	return intValue(int64(p))
}

func wholeArithmetic(op string, a, b int64) int64 {
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	default:
		if b == -1 {
			return -a
		}
		return a / b
	}
}

func floatArithmetic(op string, a, b float64) float64 {
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	default:
		return a / b
	}
}

// compareValues compares two constants. ok is false if they cannot be compared.
func compareValues(op string, a, b *Value) (result, ok bool) {
	switch {
	case a.Kind == Bool && b.Kind == Bool:
		return (a.Bool == b.Bool) == (op == "=="), op == "==" || op == "!="
	case a.Kind == Text && b.Kind == Text:
		return compare(op, a.Text, b.Text), true
	case a.Kind == Int && b.Kind == Int:
		return compare(op, a.Int, b.Int), true
	case a.numeric() && b.numeric():
		return compare(op, a.number(), b.number()), true
	}
	return false, false
}

// compare compares two values of the same type. With NaN, every comparison except != is false.
func compare[T int64 | float64 | float32 | string](op string, a, b T) bool {
	switch op {
	case "==":
		return a == b
	case "!=":
		return a != b
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	default:
		return a >= b
	}
}

// mirrored returns the comparison with its sides exchanged.
func mirrored(op string) string {
	switch op[0] {
	case '<':
		return ">" + op[1:]
	case '>':
		return "<" + op[1:]
	}
	return op
}
