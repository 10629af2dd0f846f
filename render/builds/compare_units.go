package builds

import (
	"math"
	"strconv"
	"strings"

	"kitescope/internal/words"
	"kitescope/render"
)

// prefix is a larger or smaller unit of a base unit.
type prefix struct {
	name, ascii string
	factor      float64
}

// prefixesOf are the units in which values of a base unit are shown, smallest first. A unit that is not known
// has none but itself: nobody says that "points" may be counted in thousands.
func prefixesOf(base string) []prefix {
	switch base {
	case "s", "sec":
		return []prefix{{"ns", "ns", 1e-9}, {"µs", "us", 1e-6}, {"ms", "ms", 1e-3}, {"s", "s", 1}}
	case "B":
		return []prefix{{"B", "B", 1}, {"KiB", "KiB", 1 << 10}, {"MiB", "MiB", 1 << 20}, {"GiB", "GiB", 1 << 30}, {"TiB", "TiB", 1 << 40}, {"PiB", "PiB", 1 << 50}}
	case "", "1":
		return []prefix{{"", "", 1}, {"M", "M", 1e6}, {"G", "G", 1e9}, {"T", "T", 1e12}}
	}
	return []prefix{{base, base, 1}}
}

// MeasureText writes values of one metric, in a unit and with digits that suit all of them.
type MeasureText struct {
	factor   float64
	suffix   string
	decimals int
	// small values are written with an exponent.
	exponent bool
}

// Digits that are shown: of the largest value, so that a change of 0.1% can be seen, and at least of the others.
const (
	measureDigits = 4
	leastDigits   = 3
)

// NewMeasureText chooses how values are written whose unit, without a prefix, is "s", "B", "1/s", "B/s", "%", "" or any word.
func NewMeasureText(unit string, ascii bool, values ...float64) MeasureText {
	most, least := 0.0, math.Inf(1)
	for _, v := range values {
		if v = math.Abs(v); v > 0 && !math.IsInf(v, 0) {
			most, least = max(most, v), min(least, v)
		}
	}
	base, per, has := strings.Cut(unit, "/")
	prefixes := prefixesOf(base)
	best := prefixes[0]
	for _, p := range prefixes {
		if most/p.factor >= 1 {
			best = p
		}
	}
	if most == 0 {
		for _, p := range prefixes {
			if p.factor == 1 {
				best = p
			}
		}
	}
	name := best.name
	if ascii {
		name = best.ascii
	}
	const widest = 12
	m := MeasureText{factor: best.factor, suffix: render.ShortenMiddle(render.Harmless(name), widest, "~")}
	if has {
		m.suffix += "/" + render.ShortenMiddle(render.Harmless(per), widest, "~")
	}
	if m.suffix != "" && m.suffix[0] != '/' && m.suffix[0] != '%' {
		m.suffix = " " + m.suffix
	}
	if most == 0 {
		return m
	}
	m.decimals = words.DecimalsFor(most/m.factor, measureDigits)
	m.decimals = max(m.decimals, min(m.decimals+leastDigits, words.DecimalsFor(least/m.factor, leastDigits)))
	const mostDecimals = 8
	if m.decimals > mostDecimals {
		m.exponent, m.decimals = true, leastDigits
		return m
	}
	for m.decimals > 0 && m.roundAlike(values) {
		m.decimals--
	}
	return m
}

// roundAlike reports whether the last decimal of all values is 0.
func (m *MeasureText) roundAlike(values []float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		if text := strconv.FormatFloat(v/m.factor, 'f', m.decimals, 64); text[len(text)-1] != '0' {
			return false
		}
	}
	return true
}

// Text is a value with its unit: "12.34 ms", "1203/s", "?".
func (m MeasureText) Text(x float64) string {
	if math.IsNaN(x) {
		return words.UnknownMark
	}
	return m.Number(x) + m.suffix
}

// Number is a value without its unit.
func (m MeasureText) Number(x float64) string {
	switch {
	case math.IsNaN(x):
		return words.UnknownMark
	case math.IsInf(x, 0):
		return strconv.FormatFloat(x, 'f', -1, 64)
	case m.exponent:
		return strconv.FormatFloat(x/m.factor, 'e', m.decimals, 64)
	}
	text := strconv.FormatFloat(x/m.factor, 'f', m.decimals, 64)
	if x != 0 && strings.Trim(text, "-0.") == "" { // it is something
		return "<" + strings.TrimPrefix(text[:len(text)-1], "-") + "1"
	}
	return text
}

// Unit is the unit of Number, "" if there is none.
func (m MeasureText) Unit() string { return strings.TrimPrefix(m.suffix, " ") }

// intervalText is an interval of ratios: "+6.1 to +8.4%".
func intervalText(low, high float64) string {
	if math.IsNaN(low) && math.IsNaN(high) {
		return words.UnknownMark
	}
	return render.ChangeNumber(low) + " to " + render.ChangeNumber(high) + "%"
}

// PercentOfAll is a share of 1 in percent, for prose: "67%".
func PercentOfAll(share float64) string {
	x := 100 * share
	switch size := math.Abs(x); {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return words.UnknownMark + "%"
	case x == 0:
		return "0%"
	case size < 0.05:
		return "<0.1%"
	case size < 9.95:
		return trimZero(strconv.FormatFloat(x, 'f', 1, 64)) + "%"
	case size > 99.5 && x < 100: // what is not all is not rounded to it
		return strconv.FormatFloat(min(x, 99.9), 'f', 1, 64) + "%"
	}
	return strconv.FormatFloat(x, 'f', 0, 64) + "%"
}

// shareCell is a share of 1 in percent with one decimal, for columns.
func shareCell(share float64) string {
	x := 100 * share
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return words.UnknownMark
	case x == 0:
		return "0%"
	case math.Abs(x) < 0.05:
		return "<0.1%"
	}
	if x > 99.95 && x < 100 { // what is not all is not rounded to it
		x = 99.9
	}
	return strings.Replace(strconv.FormatFloat(x, 'f', 1, 64), "100.0", "100", 1) + "%"
}

func trimZero(s string) string { return strings.TrimSuffix(s, ".0") }
