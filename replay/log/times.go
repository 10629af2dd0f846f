package log

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// moment is a time of day, or a time since some beginning.
type moment struct {
	at       int64 // nanoseconds, since 1970 if absolute
	absolute bool
	known    bool
}

// timestamp reads RFC 3339 in quotes, or unix time: seconds, and above 1e11 milliseconds, above 1e14 microseconds, above
// 1e17 nanoseconds (1e11 seconds are in the year 5138).
func timestamp(value []byte) (moment, error) {
	if len(value) > 0 && value[0] == '"' {
		s, err := text(value)
		if err != nil {
			return moment{}, err
		}
		t, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			if t, err = time.Parse(time.DateTime, s); err != nil {
				return moment{}, fmt.Errorf("expected a time such as 2026-01-31T12:00:00Z, found %s", shown(value))
			}
		}
		return absolute(t)
	}
	for _, unit := range []struct {
		above float64
		scale int
	}{{1e17, 0}, {1e14, 3}, {1e11, 6}, {0, 9}} {
		x, err := strconv.ParseFloat(string(value), 64)
		if err != nil || x < 0 || x != x {
			break
		}
		if x >= unit.above {
			n, err := decimal(string(value), unit.scale)
			return moment{at: n, absolute: true, known: true}, err
		}
	}
	return moment{}, fmt.Errorf("expected a time (RFC 3339, or unix seconds or milliseconds), found %s", shown(value))
}

// absolute is a time that a difference of two can be made of without overflow.
func absolute(t time.Time) (moment, error) {
	if y := t.UTC().Year(); y < 1970 || y > 2200 {
		return moment{}, fmt.Errorf("expected a time from 1970 to 2200, found the year %d", y)
	}
	return moment{at: t.UnixNano(), absolute: true, known: true}, nil
}

// duration reads a number of units of 10 to the power of scale nanoseconds.
func duration(value []byte, scale int) (time.Duration, error) {
	n, err := decimal(string(value), scale)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("expected a number of 0 or more, found %s", shown(value))
	}
	return time.Duration(n), nil
}

var errNumber = errors.New("expected a number")

// decimal is a number times 10 to the power of scale, to the digit: 0.1 seconds are 100,000,000 nanoseconds. Digits
// beyond are cut. Numbers with exponents are as exact as a float64.
func decimal(s string, scale int) (int64, error) {
	if strings.ContainsAny(s, "eE") {
		x, err := strconv.ParseFloat(s, 64)
		if x = math.Round(x * math.Pow10(scale)); err != nil || !(math.Abs(x) < 9e18) {
			return 0, errNumber
		}
		return int64(x), nil
	}
	digits, fraction, _ := strings.Cut(s, ".")
	if strings.ContainsAny(fraction, "+-") {
		return 0, errNumber
	}
	if len(fraction) > scale {
		if strings.Trim(fraction[scale:], "0123456789") != "" {
			return 0, errNumber
		}
		fraction = fraction[:scale]
	}
	n, err := strconv.ParseInt(digits+fraction+strings.Repeat("0", scale-len(fraction)), 10, 64)
	if err != nil || n > 9e18 || n < -9e18 {
		return 0, errNumber
	}
	return n, nil
}

// appendDecimal writes n, in units of 10 to the power of -scale, as decimal reads it.
func appendDecimal(to []byte, n int64, scale int) []byte {
	s := strconv.FormatInt(n, 10)
	if n < 0 {
		to, s = append(to, '-'), s[1:]
	}
	if len(s) <= scale {
		s = strings.Repeat("0", scale+1-len(s)) + s
	}
	to = append(to, s[:len(s)-scale]...)
	if fraction := strings.TrimRight(s[len(s)-scale:], "0"); fraction != "" {
		to = append(append(to, '.'), fraction...)
	}
	return to
}
