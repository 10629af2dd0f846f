package expr

import (
	"math"
	"strings"
)

// tester tests a value of JSON or of an array. applies is false if the value has another kind than the constant:
// only != holds then.
type tester func(v *Value) (pass, applies bool)

// valueTest returns a test that compares with a constant. Integers are compared exactly, other numbers as
// doubles, as in segcore.
func valueTest(op string, with Value) tester {
	switch with.Kind {
	case Bool:
		want := with.Bool
		return func(v *Value) (bool, bool) {
			if v.Kind != Bool {
				return false, false
			}
			return compare(op, boolInt(v.Bool), boolInt(want)), true
		}
	case Text:
		test := textTester(op, with.Text)
		return func(v *Value) (bool, bool) { return v.Kind == Text && test(v.Text), v.Kind == Text }
	case Int:
		return func(v *Value) (bool, bool) {
			if v.Kind == Int {
				return compare(op, v.Int, with.Int), true
			}
			return v.Kind == Float && compare(op, v.Float, float64(with.Int)), v.Kind == Float
		}
	default:
		return func(v *Value) (bool, bool) {
			return v.numeric() && compare(op, v.number(), with.Float), v.numeric()
		}
	}
}

func boolInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func textTester(op, with string) func(string) bool {
	switch op {
	case "==":
		return func(s string) bool { return s == with }
	case "!=":
		return func(s string) bool { return s != with }
	}
	return func(s string) bool { return compare(op, s, with) }
}

// setTest returns a test for one of several values. It is like == with each value, except that a float equals
// an integer only if it converts to exactly that integer.
func setTest(values []Value) tester {
	texts, ints, floats, bools := map[string]bool{}, map[int64]bool{}, map[float64]bool{}, [2]bool{}
	for i := range values {
		switch v := &values[i]; v.Kind {
		case Text:
			texts[v.Text] = true
		case Int:
			ints[v.Int] = true
		case Float:
			floats[v.Float] = true
		case Bool:
			bools[boolInt(v.Bool)] = true
		case NoValue, List:
		}
	}
	return func(v *Value) (bool, bool) {
		switch v.Kind {
		case Text:
			return texts[v.Text], true
		case Bool:
			return bools[boolInt(v.Bool)], true
		case Int:
			return ints[v.Int] || len(floats) > 0 && floats[float64(v.Int)], true
		case Float:
			whole := math.Floor(v.Float) == v.Float && math.Abs(v.Float) < 1<<63
			return floats[v.Float] || whole && ints[int64(v.Float)], true
		default:
			return false, false
		}
	}
}

// sumTest returns a test that applies an operation to the value and compares the result. Both constants have
// the same kind.
func sumTest(op string, by Value, comparison string, with Value, old bool) tester {
	return func(v *Value) (bool, bool) {
		switch {
		case !v.numeric():
			return false, false
		case by.Kind == Int && v.Kind == Int:
			return compare(comparison, wholeSum(op, v.Int, by.Int, old), with.Int), true
		}
		x := floatSum(op, v.number(), by.number())
		if op == "%" && by.Kind == Int && old {
			x = math.Trunc(x) // the result is converted to an integer
		}
		return compare(comparison, x, with.number()), true
	}
}

// wholeSum computes an operation on integers. If old is set (before 2.6), the remainder is computed in doubles.
func wholeSum(op string, a, b int64, old bool) int64 {
	switch {
	case op != "%":
		return wholeArithmetic(op, a, b)
	case old:
		return int64(math.Mod(float64(a), float64(b)))
	case b == -1:
		return 0
	}
	return a % b
}

func floatSum(op string, a, b float64) float64 {
	if op == "%" {
		return math.Mod(a, b)
	}
	return floatArithmetic(op, a, b)
}

// likeTester returns a test of a pattern by the rules of translatePatternMatch. Releases before 2.4 support %
// only at the end and leave escapes unchanged.
func likeTester(pattern string, r Release) (func(string) bool, error) {
	if r.before(4) {
		return oldLike(pattern)
	}
	if pattern == "" {
		return func(s string) bool { return s == "" }, nil
	}
	leading, trailing := pattern[0] == '%', len(pattern) > 1 && pattern[len(pattern)-1] == '%'
	middle := pattern
	if trailing {
		middle = strings.TrimRight(middle, "%")
	}
	if leading {
		middle = strings.TrimLeft(middle, "%")
	}
	if inner, plain := unescape(middle); plain {
		switch {
		case leading && trailing, leading && middle == "":
			return func(s string) bool { return strings.Contains(s, inner) }, nil
		case leading:
			return func(s string) bool { return strings.HasSuffix(s, inner) }, nil
		case trailing:
			return func(s string) bool { return strings.HasPrefix(s, inner) }, nil
		default:
			return func(s string) bool { return s == inner }, nil
		}
	}
	parts := wildcards(pattern)
	return func(s string) bool { return matches(s, parts) }, nil
}

// unescape removes the backslashes before wildcards. plain is false if s has a wildcard that is not escaped.
func unescape(s string) (out string, plain bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && (s[i+1] == '%' || s[i+1] == '_'):
			i++
			b.WriteByte(s[i])
		case c == '%' || c == '_':
			return "", false
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), true
}

// wildcards returns the parts of a pattern: bytes, anyBytes or anyByte. A backslash makes the next byte
// literal.
func wildcards(pattern string) (parts []int16) {
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '%':
			parts = append(parts, anyBytes)
		case '_':
			parts = append(parts, anyByte)
		case '\\':
			if i++; i < len(pattern) {
				parts = append(parts, int16(pattern[i]))
			}
		default:
			parts = append(parts, int16(c))
		}
	}
	return parts
}

// The wildcards of a pattern: any number of bytes, and one byte. The regular expressions of segcore match
// bytes, not characters.
const (
	anyBytes int16 = -1
	anyByte  int16 = -2
)

// matches reports whether all of s matches the parts. It backtracks only to the last %, so its time is at most
// len(s) times len(parts).
func matches(s string, parts []int16) bool {
	at, part, star, mark := 0, 0, -1, 0
	for at < len(s) {
		switch {
		case part < len(parts) && parts[part] == anyBytes:
			star, mark = part, at
			part++
		case part < len(parts) && (parts[part] == anyByte || parts[part] == int16(s[at])):
			part++
			at++
		case star >= 0:
			mark++
			part, at = star+1, mark
		default:
			return false
		}
	}
	for part < len(parts) && parts[part] == anyBytes {
		part++
	}
	return part == len(parts)
}
