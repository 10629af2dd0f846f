package words

import (
	"math"
	"strconv"
	"strings"
)

// Integer is a constraint for counts.
type Integer interface{ ~int | ~int32 | ~int64 }

// Number formats a count with thousands separators, e.g. "6,974".
func Number[N Integer](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Plural formats a count with a regular noun, whose plural ends with s or es, e.g. "1 segment", "3,000 segments",
// "2 processes", "2 prefixes".
func Plural[N Integer](n N, thing string) string {
	more := thing + "s"
	if strings.HasSuffix(thing, "s") || strings.HasSuffix(thing, "x") {
		more = thing + "es"
	}
	return Count(n, thing, more)
}

// Count formats a count with a noun, e.g. "1 query", "12,345 queries".
func Count[N Integer](n N, one, many string) string {
	return Number(n) + " " + Agree(n, one, many)
}

// Agree returns the form of a word that agrees with a count, e.g. Agree(n, "has", "have").
func Agree[N Integer](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Marks of a missing value.
const (
	// NoneMark marks a value that does not exist.
	NoneMark = "-"
	// UnknownMark marks a value that was not read.
	UnknownMark = "?"
)

// OrUnknown returns s, or "?" if s is empty.
func OrUnknown(s string) string {
	if s == "" {
		return UnknownMark
	}
	return s
}

// OrNone returns s, or "-" if s is empty.
func OrNone(s string) string {
	if s == "" {
		return NoneMark
	}
	return s
}

// Percent formats a percentage, 0 to 100, rounded to at most one decimal: "28.3%". It does not round a value
// below 100 up to "100%" ("99.9%") or a value other than 0 to "0%" ("<0.1%"). It returns "?" for NaN and
// infinities.
func Percent(p float64) string { return string(AppendPercent(nil, p)) }

// Share formats a fraction, 0 to 1, as Percent does.
func Share(part float64) string { return Percent(100 * part) }

// AppendPercent appends Percent(p) to dst.
func AppendPercent(dst []byte, p float64) []byte {
	const noise = 1e-9 // rounding error of sums of 100
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

// Bytes formats a size in units of 1024 with at most three significant digits, and in whole bytes below 1024:
// "512 B", "1.2 MiB".
func Bytes(n int64) string { return string(AppendBytes(nil, n)) }

// AppendBytes appends Bytes(n) to dst.
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

// ThreeDigits formats x with at least three significant digits: "0.642", "1.00", "12.3", "123", "1,234". It
// returns "0" for 0, and "?" for NaN and infinities.
func ThreeDigits(x float64) string {
	switch a := math.Abs(x); {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return UnknownMark
	case a >= 1e15: // beyond any measurement
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

// Setting formats a number that a user set: like ThreeDigits, without trailing zeros after the decimal point.
func Setting(x float64) string {
	s := ThreeDigits(x)
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// DecimalsFor returns how many decimals are needed to show x, which is above 0, with the given number of
// significant digits.
func DecimalsFor(x float64, digits int) int {
	return max(0, digits-1-int(math.Floor(math.Log10(x))))
}
