package profile

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Unit is a unit of values. Name is its displayed name and Factor its size in the first unit of its family.
type Unit struct {
	Name    string
	Factor  float64
	aliases []string
}

// unitFamilies holds groups of units that convert into each other. Aliases and factors are those of `go tool
// pprof` (github.com/google/pprof internal/measurement: UnitTypes), so that both tools show the same numbers
// for a profile.
var unitFamilies = [][]Unit{
	{
		{"B", 1, []string{"b", "byte"}},
		{"KiB", 1 << 10, []string{"kb", "kbyte", "kilobyte"}},
		{"MiB", 1 << 20, []string{"mb", "mbyte", "megabyte"}},
		{"GiB", 1 << 30, []string{"gb", "gbyte", "gigabyte"}},
		{"TiB", 1 << 40, []string{"tb", "tbyte", "terabyte"}},
		{"PiB", 1 << 50, []string{"pb", "pbyte", "petabyte"}},
	},
	{
		{"ns", 1, []string{"ns", "nanosecond"}},
		{"us", 1e3, []string{"μs", "us", "microsecond"}},
		{"ms", 1e6, []string{"ms", "millisecond"}},
		{"s", 1e9, []string{"s", "sec", "second"}},
		{"h", 3600e9, []string{"hour", "hr"}},
	},
	{ // Google Compute Units: converted, but never chosen for display
		{"", 1, []string{"nanogcu"}},
		{"", 1e3, []string{"microgcu"}},
		{"", 1e6, []string{"milligcu"}},
		{"", 1e9, []string{"gcu"}},
		{"", 1e12, []string{"kilogcu"}},
		{"", 1e15, []string{"megagcu"}},
		{"", 1e18, []string{"gigagcu"}},
		{"", 1e21, []string{"teragcu"}},
		{"", 1e24, []string{"petagcu"}},
	},
}

// FindUnit returns a unit and its family, smallest unit first. It ignores case and a plural s. It returns nil
// if the unit is unknown.
func FindUnit(unit string) (family []Unit, found *Unit) {
	unit = strings.ToLower(unit)
	if utf8.RuneCountInString(unit) > 2 {
		unit = strings.TrimSuffix(unit, "s")
	}
	for _, family := range unitFamilies {
		if i := slices.IndexFunc(family, func(u Unit) bool { return slices.Contains(u.aliases, unit) }); i >= 0 {
			return family, &family[i]
		}
	}
	return nil, nil
}

// sameDimension reports whether values in one unit can be converted to the other unit.
func sameDimension(a, b string) bool {
	if a == b {
		return true
	}
	family, _ := FindUnit(a)
	other, _ := FindUnit(b)
	return family != nil && other != nil && &family[0] == &other[0]
}

// unitRatio returns the factor that converts a value between two units of the same dimension.
func unitRatio(from, to string) float64 {
	if from == to {
		return 1
	}
	_, f := FindUnit(from)
	_, t := FindUnit(to)
	return f.Factor / t.Factor
}
