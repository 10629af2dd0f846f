package encode

import (
	"math"
	"strconv"
	"time"
)

type scalarKind uint8

const (
	text         scalarKind = iota
	integer                 // n
	id                      // n, in quotes
	number                  // f with at most four decimals
	exact                   // f with all digits
	whole                   // f with all digits, without an exponent unless very small or large; n is its size in bits
	seconds                 // n nanoseconds, to the millisecond
	secondsExact            // n nanoseconds
	boolean                 // n
	moment                  // n nanoseconds since 1970, truncated to milliseconds
	quoted                  // s, which needs no escaping
)

// scalar is a value other than an object or list.
type scalar struct {
	kind scalarKind
	n    int64
	f    float64
	s    string
}

// append appends the value in JSON or YAML. quote appends a string.
func (s *scalar) append(dst []byte, quote func(dst []byte, s string) []byte) []byte {
	switch s.kind {
	case integer:
		return strconv.AppendInt(dst, s.n, 10)
	case id:
		return append(strconv.AppendInt(append(dst, '"'), s.n, 10), '"')
	case number:
		return AppendNumber(dst, s.f)
	case exact:
		return AppendExact(dst, s.f)
	case whole:
		return appendWhole(dst, s.f, int(s.n))
	case seconds:
		return AppendSeconds(dst, s.n)
	case secondsExact:
		return strconv.AppendFloat(dst, time.Duration(s.n).Seconds(), 'f', -1, 64)
	case boolean:
		return strconv.AppendBool(dst, s.n != 0)
	case moment:
		return append(AppendTime(append(dst, '"'), s.n), '"')
	case quoted:
		return append(append(append(dst, '"'), s.s...), '"')
	default:
		return quote(dst, s.s)
	}
}

// value returns the value for templates.
func (s *scalar) value(harmless func(string) string) any {
	switch s.kind {
	case integer:
		return s.n
	case id:
		return strconv.FormatInt(s.n, 10)
	case number, exact, whole:
		return s.f
	case seconds:
		return float64(s.n/1e6) / 1e3
	case secondsExact:
		return time.Duration(s.n).Seconds()
	case boolean:
		return s.n != 0
	case moment:
		return string(AppendTime(nil, s.n))
	default:
		return harmless(s.s)
	}
}

// AppendSeconds appends a duration in nanoseconds as seconds, with at most three decimals.
func AppendSeconds(dst []byte, ns int64) []byte {
	ms := time.Duration(ns).Round(time.Millisecond).Milliseconds()
	return strconv.AppendFloat(dst, float64(ms)/1e3, 'f', -1, 64)
}

func trimZeros(dst []byte) []byte {
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// AppendNumber appends a float with at most four decimals.
func AppendNumber(dst []byte, f float64) []byte {
	dst = trimZeros(strconv.AppendFloat(dst, f, 'f', 4, 64))
	if dst[len(dst)-1] == '.' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// AppendExact appends the shortest representation that parses as the same number.
func AppendExact(dst []byte, f float64) []byte { return strconv.AppendFloat(dst, f, 'g', -1, 64) }

// appendWhole appends the shortest representation without an exponent, unless the number is below 1e-6 or at
// least 1e21.
func appendWhole(dst []byte, f float64, size int) []byte {
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, f, format, -1, size)
}

// AppendTime appends nanoseconds since 1970 as RFC 3339 in UTC, with milliseconds unless they are zero.
func AppendTime(dst []byte, ns int64) []byte {
	t := time.Unix(0, ns).UTC()
	if t.Nanosecond() < 1e6 {
		return t.AppendFormat(dst, time.RFC3339)
	}
	return t.AppendFormat(dst, "2006-01-02T15:04:05.000Z07:00")
}
