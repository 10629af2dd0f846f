package profiles

import (
	"math"
	"strconv"
	"strings"

	"kitescope/internal/words"
	"kitescope/profile"
	"kitescope/profile/flame"
)

// shortName drops the least informative parts of a name: the path before a Go package and the arguments of a C++
// function.
func shortName(name string) string {
	end := len(name)
	if strings.Contains(name, "::") {
		rest := strings.NewReplacer("(anonymous namespace)", strings.Repeat("_", len("(anonymous namespace)")),
			"operator()", "operator__").Replace(name)
		if i := strings.IndexByte(rest, '('); i > 0 {
			end = i
		}
	}
	// Only slashes before arguments and type parameters belong to a path.
	head := name[:end]
	if i := strings.IndexAny(head, "([<{ "); i >= 0 {
		head = head[:i]
	}
	if i := strings.LastIndexByte(head, '/'); i >= 0 && i+1 < len(head) && !strings.HasPrefix(name, "/") {
		return name[i+1 : end]
	}
	return name[:end]
}

// amount returns a value in the unit of a profile, with three significant digits.
func amount(v int64, unit string) string {
	switch unit {
	case "nanoseconds":
		return seconds(float64(v) / 1e9)
	case "microseconds":
		return seconds(float64(v) / 1e6)
	case "milliseconds":
		return seconds(float64(v) / 1e3)
	case "seconds":
		return seconds(float64(v))
	case "bytes":
		return words.Bytes(v)
	case "count", "":
		return words.Number(v)
	}
	return words.Number(v) + " " + words.Sanitize(unit)
}

// seconds formats a time in the unit that gives one to three digits before the point.
func seconds(s float64) string {
	abs := math.Abs(s)
	for _, u := range []struct {
		size float64
		name string
	}{{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}} {
		if abs >= u.size {
			return digits(s/u.size) + " " + u.name
		}
	}
	if s == 0 {
		return "0 s"
	}
	return digits(s*1e9) + " ns"
}

// digits formats a number with three significant digits.
func digits(f float64) string {
	decimals := 2
	switch abs := math.Abs(f); {
	case abs >= 99.95:
		decimals = 0
	case abs >= 9.995:
		decimals = 1
	}
	return strconv.FormatFloat(f, 'f', decimals, 64)
}

// signed returns an amount with its sign.
func signed(v int64, unit string) string {
	if v > 0 {
		return "+" + amount(v, unit)
	}
	return amount(v, unit)
}

// points formats a difference in percentage points.
func points(f float64) string {
	text := strconv.FormatFloat(f, 'f', 1, 64)
	switch {
	case text == "0.0" || text == "-0.0":
		return "±0"
	case f > 0:
		return "+" + text
	}
	return text
}

// relativeText returns a relative change: "+48%", "new", "gone".
func relativeText(before, after int64) string {
	switch {
	case before == 0 && after == 0:
		return "-"
	case before == 0:
		return "new"
	case after == 0:
		return "gone"
	}
	f := 100 * (float64(after) - float64(before)) / math.Abs(float64(before))
	if math.Abs(f) >= 9999.5 {
		return "x" + digits(float64(after)/float64(before))
	}
	if math.Abs(f) < 0.05 {
		return "±0%"
	}
	sign := ""
	if f > 0 {
		sign = "+"
	}
	decimals := 0
	if math.Abs(f) < 9.95 {
		decimals = 1
	}
	return sign + strconv.FormatFloat(f, 'f', decimals, 64) + "%"
}

// pValueText formats a p-value.
func pValueText(p float64) string {
	switch {
	case math.IsNaN(p):
		return "p unknown"
	case p < 0.001:
		return "p < 0.001"
	}
	return "p " + strconv.FormatFloat(p, 'f', 3, 64)
}

// kindText returns the name of a sample type, e.g. "cpu", "inuse_space".
func kindText(t profile.ValueType) string { return words.Sanitize(t.Type) }

// changeP returns the p-value of equal shares of a frame on both sides, or NaN if it is unknown.
func changeP(t *flame.Tree, frame int32) float64 {
	if t.PValues == nil {
		return math.NaN()
	}
	return t.PValues[frame]
}
