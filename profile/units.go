package profile

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Unit is a unit of values: the name it is written with, and its size in the first unit of its family.
type Unit struct {
	Name    string
	Factor  float64
	aliases []string
}

// unitFamilies are units that convert into each other. Aliases and factors are those of `go tool pprof`
// (github.com/google/pprof internal/measurement: UnitTypes), so that the same profile shows the same figures in both.
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
	{ // Google's computing units, which are converted and not chosen for a table
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

// FindUnit finds a unit, in upper or lower case, with or without a plural s, and the units that it converts into, the smallest
// first; nil for others.
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

// sameDimension reports whether values of one unit can be converted into the other.
func sameDimension(a, b string) bool {
	if a == b {
		return true
	}
	family, _ := FindUnit(a)
	other, _ := FindUnit(b)
	return family != nil && other != nil && &family[0] == &other[0]
}

// unitRatio is what a value of one unit is multiplied by to be of another of the same dimension.
func unitRatio(from, to string) float64 {
	if from == to {
		return 1
	}
	_, f := FindUnit(from)
	_, t := FindUnit(to)
	return f.Factor / t.Factor
}
