package profile

import (
	"fmt"
	"slices"
	"strings"

	"kitescope/internal/hints"
)

// column is the source of a value of the result.
type column struct {
	from  int     // index of the value in the added profile
	ratio float64 // factor for the value
}

// typeDefault holds a profile's default type, and all its types, which show whether the merge removed any.
type typeDefault struct {
	types []ValueType
	kind  string
}

// addTypes computes the columns for a profile. It changes nothing if the profile is incompatible with the
// previous ones.
func (m *Merger) addTypes(p *Profile) error {
	if m.count == 0 {
		m.p.Types, m.p.PeriodType, m.p.Period = slices.Clone(p.Types), p.PeriodType, p.Period
		m.columns = identity(len(p.Types))
	} else if err := m.commonTypes(p); err != nil {
		return err
	}
	m.row = make([]int64, len(m.columns))
	if last := len(m.defaults) - 1; last < 0 || m.defaults[last].kind != p.DefaultType ||
		!slices.Equal(m.defaults[last].types, p.Types) {
		m.defaults = append(m.defaults, typeDefault{p.Types, p.DefaultType})
	}
	return nil
}

func identity(n int) []column {
	columns := make([]column, n)
	for i := range columns {
		columns[i] = column{i, 1}
	}
	return columns
}

// incompatible returns the error for incompatible profiles.
func (m *Merger) incompatible(p *Profile, what, here, there string) error {
	name := p.Origin.Name
	if name == "" {
		name = fmt.Sprintf("profile %d", m.count+1)
	}
	return hints.Errorf("only profiles of one kind can be merged or compared: CPU with CPU, heap with heap",
		"%s has %s %s, earlier ones have %s", name, what, here, there)
}

func typeList(types []ValueType) string {
	if len(types) == 0 {
		return "none"
	}
	words := make([]string, len(types))
	for i, t := range types {
		words[i] = t.String()
	}
	return strings.Join(words, ", ")
}

// commonTypes keeps the types that this profile has too, matched by name, in the finer unit (google/pprof
// profile/merge.go: CompatibilizeSampleTypes, internal/measurement: ScaleProfiles).
func (m *Merger) commonTypes(p *Profile) error {
	if p.PeriodType == m.p.PeriodType && slices.Equal(p.Types, m.p.Types) {
		m.uncounted = m.uncounted || m.p.Period != p.Period
		m.p.Period = max(m.p.Period, p.Period)
		m.columns = identity(len(p.Types))
		return nil
	}
	if p.PeriodType.Type != m.p.PeriodType.Type || !sameDimension(p.PeriodType.Unit, m.p.PeriodType.Unit) {
		return m.incompatible(p, "the period type", p.PeriodType.String(), m.p.PeriodType.String())
	}
	var kept []int
	var columns []column
	factors := make([]float64, len(m.p.Types))
	for i, t := range m.p.Types {
		from := slices.IndexFunc(p.Types, func(other ValueType) bool { return other.Type == t.Type })
		if from < 0 {
			continue
		}
		unit := p.Types[from].Unit
		if !sameDimension(unit, t.Unit) {
			return m.incompatible(p, "the sample types", typeList(p.Types), typeList(m.p.Types))
		}
		kept, factors[i] = append(kept, i), 1
		c := column{from, unitRatio(unit, t.Unit)}
		if c.ratio < 1 { // the unit of p is finer
			c.ratio, factors[i] = 1, unitRatio(t.Unit, unit)
		}
		columns = append(columns, c)
	}
	if len(kept) == 0 && len(m.p.Types) > 0 {
		return m.incompatible(p, "the sample types", typeList(p.Types), typeList(m.p.Types))
	}
	m.scalePeriod(p)
	m.keepTypes(p, kept, columns, factors)
	m.columns = columns
	return nil
}

// keepTypes removes the values of all types but kept from the result, and scales the remaining values.
func (m *Merger) keepTypes(p *Profile, kept []int, columns []column, factors []float64) {
	isChanged := len(kept) < len(m.p.Types) || slices.ContainsFunc(factors, func(f float64) bool { return f != 1 })
	if !isChanged {
		return
	}
	width := len(m.p.Types)
	values := m.p.Values[:0]
	for i := range m.p.Len() {
		for _, k := range kept {
			v := m.p.Values[i*width+k]
			if factors[k] != 1 {
				v = scaled(v, factors[k])
			}
			values = append(values, v) // never overwrites unread values
		}
	}
	m.p.Values = values
	types := make([]ValueType, len(kept))
	for j, k := range kept {
		types[j] = m.p.Types[k]
		if factors[k] != 1 {
			types[j].Unit = p.Types[columns[j].from].Unit
		}
	}
	m.p.Types = types
}

func (m *Merger) scalePeriod(p *Profile) {
	here, there := p.Period, m.p.Period
	ratio := unitRatio(p.PeriodType.Unit, m.p.PeriodType.Unit)
	if ratio < 1 {
		there = scaled(there, unitRatio(m.p.PeriodType.Unit, p.PeriodType.Unit))
		m.p.PeriodType.Unit = p.PeriodType.Unit
	} else {
		here = scaled(here, ratio)
	}
	m.p.Period, m.uncounted = max(here, there), m.uncounted || here != there
}

// defaultType returns the first default type that a profile sets. If the merge removed that type, or other
// types of a profile without a default, it returns the first type.
func (m *Merger) defaultType() string {
	has := func(types []ValueType, kind string) bool {
		return slices.ContainsFunc(types, func(t ValueType) bool { return t.Type == kind })
	}
	for _, d := range m.defaults {
		isWhole := slices.EqualFunc(d.types, m.p.Types, func(a, b ValueType) bool { return a.Type == b.Type })
		switch {
		case !isWhole && !has(m.p.Types, d.kind):
			return m.p.Types[0].Type
		case d.kind != "":
			return d.kind
		}
	}
	return ""
}
