package profile

import (
	"math"
	"slices"

	"kitescope/internal/hints"
)

// Aligned holds two profiles whose sum is their difference.
type Aligned struct {
	New   *Profile
	Minus *Profile // the base with negated values
}

// Align prepares two profiles so that Merge yields the difference that `go tool pprof -base` shows
// (google/pprof internal/driver: fetchProfiles). It reduces both to their common types, in the finer unit of
// the two, and negates the values of the base. It returns a hints.Error if they have no type in common or if
// their periods have different types.
func Align(p, base *Profile) (*Aligned, error) {
	p, base, err := toCommonTypes(p, base)
	if err != nil {
		return nil, err
	}
	return &Aligned{New: p, Minus: base.Scale(slices.Repeat([]float64{-1}, len(base.Types)))}, nil
}

// WithColumn returns the profile with an additional type. Its value for sample i is value(i).
func (p *Profile) WithColumn(t ValueType, value func(i int) int64) *Profile {
	out := *p
	width := len(p.Types)
	out.Types = append(slices.Clip(slices.Clone(p.Types)), t)
	out.Values = make([]int64, 0, p.Len()*(width+1))
	for i := range p.Len() {
		out.Values = append(append(out.Values, p.Values[i*width:(i+1)*width]...), value(i))
	}
	return &out
}

// NormalFactors returns the factor for each type of p that makes its total equal to the base's (google/pprof
// profile/merge.go: Normalize). The factor is 0 for a type whose total in p is 0. It returns an error if the
// numbers of types differ or if all totals of the base are 0.
func NormalFactors(p, base *Profile) ([]float64, error) {
	if len(p.Types) != len(base.Types) {
		return nil, noCommonType(p, base)
	}
	sums, baseSums := p.sums(), base.sums()
	if !slices.ContainsFunc(baseSums, func(s int64) bool { return s != 0 }) {
		return nil, hints.Errorf("take the base again while the program works, or compare without normalizing",
			"normalize by %s: its total is 0", base.baseDisplayName())
	}
	factors := make([]float64, len(sums))
	for i, s := range sums {
		if s != 0 {
			factors[i] = float64(baseSums[i]) / float64(s)
		}
	}
	return factors, nil
}

// sums returns the sum of all values of each type.
func (p *Profile) sums() []int64 {
	sums := make([]int64, len(p.Types))
	for i := range p.Len() {
		for kind := range sums {
			sums[kind] += p.Value(i, kind)
		}
	}
	return sums
}

// Scale returns the profile with the values of each type multiplied by a factor. As in google/pprof (ScaleN),
// a sample is kept if at least one of the scaled values is not 0.
func (p *Profile) Scale(factors []float64) *Profile {
	if !slices.ContainsFunc(factors, func(f float64) bool { return f != 1 }) {
		return p
	}
	out := *p
	out.Values = slices.Clone(p.Values)
	width := len(p.Types)
	keep := make([]bool, p.Len())
	dropped := false
	for i := range keep {
		for kind, v := range out.Values[i*width : (i+1)*width] {
			if factors[kind] != 1 {
				v = scaled(v, factors[kind])
				out.Values[i*width+kind] = v
				keep[i] = keep[i] || v != 0
			}
		}
		dropped = dropped || !keep[i]
	}
	if dropped {
		out.choose(func(i int, stack []uint32) ([]uint32, bool) { return stack, keep[i] })
	}
	return &out
}

// scaled returns v times factor, clamped to the range of int64.
func scaled(v int64, factor float64) int64 {
	if factor == -1 {
		return -v
	}
	f := math.Round(float64(v) * factor)
	switch {
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	}
	return int64(f)
}

// toCommonTypes returns both profiles reduced to their common types, in the order of the first profile and in the same
// units (google/pprof profile.CompatibilizeSampleTypes, internal/measurement: ScaleProfiles).
func toCommonTypes(p, base *Profile) (*Profile, *Profile, error) {
	var own, others []int
	for i, t := range p.Types {
		j := slices.IndexFunc(base.Types, func(b ValueType) bool { return b.Type == t.Type })
		if j >= 0 && slices.IndexFunc(p.Types, func(b ValueType) bool { return b.Type == t.Type }) == i {
			own, others = append(own, i), append(others, j)
		}
	}
	if len(own) == 0 {
		return nil, nil, noCommonType(p, base)
	}
	if p.PeriodType.Type != base.PeriodType.Type && p.PeriodType.Type != "" && base.PeriodType.Type != "" {
		return nil, nil, hints.Errorf("compare two profiles of one kind, taken in the same way",
			"compare %s with %s: one was sampled by %s, the other by %s", p.displayName(), base.baseDisplayName(),
			p.PeriodType, base.PeriodType)
	}
	p, base = p.onlyTypes(own), base.onlyTypes(others)
	factors, baseFactors := make([]float64, len(own)), make([]float64, len(own))
	for i := range own {
		factors[i], baseFactors[i] = 1, 1
		unit, baseUnit := p.Types[i].Unit, base.Types[i].Unit
		if unit == baseUnit {
			continue
		}
		if !sameDimension(unit, baseUnit) {
			return nil, nil, hints.Errorf("compare profiles of one kind",
				"compare %s with %s: %s is in %s there and in %s here", p.displayName(), base.baseDisplayName(),
				p.Types[i].Type, baseUnit, unit)
		}
		if ratio := unitRatio(unit, baseUnit); ratio >= 1 {
			factors[i], p.Types[i].Unit = ratio, baseUnit
		} else {
			baseFactors[i], base.Types[i].Unit = unitRatio(baseUnit, unit), unit
		}
	}
	p, base = p.Scale(factors), base.Scale(baseFactors)
	p.sharePeriod(base)
	return p, base, nil
}

// sharePeriod gives both profiles the same period type. It modifies them, so they must be copies.
func (p *Profile) sharePeriod(base *Profile) {
	if p.PeriodType == base.PeriodType {
		return
	}
	if p.PeriodType.Type == base.PeriodType.Type && sameDimension(p.PeriodType.Unit, base.PeriodType.Unit) {
		if ratio := unitRatio(p.PeriodType.Unit, base.PeriodType.Unit); ratio >= 1 {
			p.Period, p.PeriodType = scaled(p.Period, ratio), base.PeriodType
		} else {
			base.Period, base.PeriodType = scaled(base.Period, unitRatio(base.PeriodType.Unit, p.PeriodType.Unit)),
				p.PeriodType
		}
		return
	}
	if p.PeriodType.Type == "" {
		p.PeriodType, p.Period = base.PeriodType, base.Period
		return
	}
	base.PeriodType, base.Period = p.PeriodType, p.Period
}

// onlyTypes returns a copy with only the given types.
func (p *Profile) onlyTypes(kinds []int) *Profile {
	out := *p
	out.Types = make([]ValueType, len(kinds))
	same := len(kinds) == len(p.Types)
	for i, kind := range kinds {
		out.Types[i] = p.Types[kind]
		same = same && i == kind
	}
	if same {
		return &out
	}
	if !slices.ContainsFunc(out.Types, func(t ValueType) bool { return t.Type == p.DefaultType }) {
		out.DefaultType = out.Types[0].Type
	}
	out.Values = make([]int64, 0, p.Len()*len(kinds))
	for i := range p.Len() {
		for _, kind := range kinds {
			out.Values = append(out.Values, p.Value(i, kind))
		}
	}
	return &out
}

func (p *Profile) baseDisplayName() string {
	if p.Origin.Name == "" {
		return "the base"
	}
	return p.Origin.Name
}

func noCommonType(p, base *Profile) error {
	return hints.Errorf("compare two profiles of one kind: both of CPU, or both of the heap",
		"compare %s (%s) with %s (%s): they have no sample type in common", p.displayName(), typeList(p.Types),
		base.baseDisplayName(), typeList(base.Types))
}
