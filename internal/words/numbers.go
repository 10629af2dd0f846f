package words

import (
	"math"
	"strconv"
	"strings"
)

// Integer is what things are counted in.
type Integer interface{ ~int | ~int32 | ~int64 }

// Number writes a count with its thousands apart: "6,974".
func Number[N Integer](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Plural counts things whose plural ends with s: "1 segment", "3,000 segments", "2 processes", "2 prefixes".
func Plural[N Integer](n N, thing string) string {
	more := thing + "s"
	if strings.HasSuffix(thing, "s") || strings.HasSuffix(thing, "x") {
		more = thing + "es"
	}
	return Count(n, thing, more)
}

// Count is a number with its noun: "1 query", "12,345 queries".
func Count[N Integer](n N, one, many string) string {
	return Number(n) + " " + Agree(n, one, many)
}

// Agree is the form of a word that goes with a count: Agree(n, "has", "have").
func Agree[N Integer](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Marks of what has no value.
const (
	// NoneMark stands for "there is none".
	NoneMark = "-"
	// UnknownMark stands for "it was not looked at".
	UnknownMark = "?"
)

// OrUnknown is s, "?" if it is empty.
func OrUnknown(s string) string {
	if s == "" {
		return UnknownMark
	}
	return s
}

// OrNone is s, "-" if it is empty.
func OrNone(s string) string {
	if s == "" {
		return NoneMark
	}
	return s
}

// Percent writes a percentage, 0 to 100, with at most one decimal, rounded; but what is not all is not rounded to it, and what is
// not nothing is not, either: "28.3%", "99.9%", "<0.1%"; "?" of what is no number.
func Percent(p float64) string { return string(AppendPercent(nil, p)) }

// Share is Percent of a part of 1.
func Share(part float64) string { return Percent(100 * part) }

// AppendPercent appends Percent.
func AppendPercent(dst []byte, p float64) []byte {
	const noise = 1e-9 // of sums that come to 100
	switch {
	case math.IsNaN(p) || math.IsInf(p, 0):
		return append(dst, UnknownMark...)
	case math.Abs(p) > noise && math.Abs(p) < 0.1:
		return append(dst, "<0.1%"...)
	case p < 100-noise:
		p = min(p, 99.9)
	}
	return append(strconv.AppendFloat(dst, math.Round(p*10)/10, 'f', -1, 64), '%')
}

// Bytes writes a size in units of 1024 with three significant digits at most, and whole bytes below 1024: "512 B", "1.2 MiB".
func Bytes(n int64) string { return string(AppendBytes(nil, n)) }

// AppendBytes appends Bytes.
func AppendBytes(dst []byte, n int64) []byte {
	units := [...]string{" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"}
	unit, f := 0, math.Abs(float64(n))
	for f >= 999.5 && unit < len(units)-1 && (unit > 0 || f >= 1024) {
		f /= 1024
		unit++
	}
	if n < 0 {
		dst = append(dst, '-')
	}
	decimals := 0
	if unit > 0 && f < 99.95 {
		decimals = 1
	}
	return append(strconv.AppendFloat(dst, f, 'f', decimals, 64), units[unit]...)
}

// ThreeDigits writes at least three digits: "0.642", "1.00", "12.3", "123", "1,234"; "0" of nothing, "?" of what is no number.
func ThreeDigits(x float64) string {
	switch a := math.Abs(x); {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return UnknownMark
	case a >= 1e15: // more than anybody measures
		return strconv.FormatFloat(x, 'g', 3, 64)
	case a >= 99.95:
		return Number(int64(math.Round(x)))
	case a >= 9.995:
		return strconv.FormatFloat(x, 'f', 1, 64)
	case a >= 0.9995:
		return strconv.FormatFloat(x, 'f', 2, 64)
	case a == 0:
		return "0"
	}
	return strconv.FormatFloat(x, 'f', min(9, DecimalsFor(math.Abs(x), 3)), 64)
}

// Setting is ThreeDigits of a number that somebody gave: without decimals that are none.
func Setting(x float64) string {
	s := ThreeDigits(x)
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// DecimalsFor is how many decimals show so many digits of a number above 0.
func DecimalsFor(x float64, digits int) int {
	return max(0, digits-1-int(math.Floor(math.Log10(x))))
}
