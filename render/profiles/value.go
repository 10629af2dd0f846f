package profiles

import (
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"kitescope/internal/words"
	"kitescope/profile"
	"kitescope/render"
)

// fitUnit returns the largest unit in which value, given in the smallest unit, is at least 1. It returns bytes or
// seconds for smaller values.
func fitUnit(family []profile.Unit, value float64) profile.Unit {
	best := family[max(0, slices.IndexFunc(family, func(u profile.Unit) bool { return u.Name == "s" }))]
	for _, u := range family {
		if value/u.Factor >= 1 {
			best = u
		}
	}
	return best
}

// scale converts values from one unit to another and formats them.
type scale struct {
	factor float64
	suffix string
}

// newScale returns a single unit for all values of a table, so that they are easy to compare. The unit fits the
// largest magnitude. It is smaller if a value above a thousandth of that magnitude would otherwise be shown as
// less than 0.01.
func newScale(unit string, total int64, values iter.Seq[int64]) scale {
	if unit == "hundredths of a percent" {
		return scale{0.01, "%"}
	}
	family, from := profile.FindUnit(unit)
	if from == nil || from.Name == "" {
		return scale{1, plainUnit(unit)}
	}
	most := math.Abs(float64(total))
	for v := range values {
		most = max(most, math.Abs(float64(v)))
	}
	least := most
	for v := range values {
		if x := math.Abs(float64(v)); x > most/1000 {
			least = min(least, x)
		}
	}
	to := fitUnit(family, most*from.Factor)
	if least*from.Factor/to.Factor < 0.01 {
		to = fitUnit(family, 100*least*from.Factor)
	}
	return scale{from.Factor / to.Factor, " " + to.Name}
}

// plainUnit returns the suffix of a unit that cannot be scaled, which is empty for counts.
func plainUnit(unit string) string {
	switch unit {
	case "count", "sample", "samples", "unit", "":
		return ""
	}
	return " " + render.Harmless(unit)
}

// oneScale returns the scale of a single value.
func oneScale(unit string, value int64) scale {
	return newScale(unit, value, func(yield func(int64) bool) { yield(value) })
}

// text formats a value with its unit: "1.48 s", "0".
func (s scale) text(value int64) string { return s.float(float64(value)) }

func (s scale) float(value float64) string {
	text := strings.TrimSuffix(strconv.FormatFloat(value*s.factor, 'f', 2, 64), ".00")
	switch {
	case value == 0:
		return "0"
	case text == "0" || text == "-0": // not zero
		return "<0.01" + s.suffix
	}
	return text + s.suffix
}

// change formats a value with its sign.
func (s scale) change(value int64) string {
	text := s.text(value)
	if value > 0 {
		return "+" + text
	}
	return text
}

// Scaled formats a single value: "12.34 MiB".
func Scaled(value int64, unit string) string { return oneScale(unit, value).text(value) }

// ScaledChange formats a single difference with its sign: "+12.34 MiB".
func ScaledChange(value int64, unit string) string { return oneScale(unit, value).change(value) }

// SignedPercent formats a relative change in percent with its sign.
func SignedPercent(f float64) string {
	text := words.Percent(math.Abs(f))
	switch {
	case f == 0 || text[0] == '<' || text == words.UnknownMark:
		return text
	case f < 0:
		return "-" + text
	}
	return "+" + text
}

// nanoseconds converts a value of a time unit to nanoseconds. ok is false for other units.
func nanoseconds(value int64, unit string) (ns float64, ok bool) {
	family, u := profile.FindUnit(unit)
	if u == nil || family[0].Name != "ns" {
		return 0, false
	}
	return float64(value) * u.Factor, true
}

// magnitudes returns the values that determine a table's unit: flat, or cum where flat is 0.
func magnitudes[T any](list []T, flat, cum func(T) int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for _, x := range list {
			v := flat(x)
			if v == 0 {
				v = cum(x)
			}
			if !yield(v) {
				return
			}
		}
	}
}
