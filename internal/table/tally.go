package table

// Tally is the number of findings by severity.
type Tally struct{ Errors, Warnings, Infos int }

// severityRatio is the weight ratio between severities. Any number of findings weighs less than one finding of a higher
// severity.
const severityRatio = 10_000

// Cell returns a cell of kind Findings. checks are the ids of the checks with findings.
func (t Tally) Cell(checks []string) Cell {
	return Cell{Int: int64(t.Errors + t.Warnings + t.Infos), List: checks, Float: t.Weight()}
}

// Plus returns the sum of both tallies.
func (t Tally) Plus(other Tally) Tally {
	return Tally{t.Errors + other.Errors, t.Warnings + other.Warnings, t.Infos + other.Infos}
}

// Weight returns a number that orders tallies by severity, with worse tallies greater. Each count is capped at
// worse-1.
func (t Tally) Weight() float64 {
	capped := func(n int) float64 { return float64(min(n, severityRatio-1)) }
	return (capped(t.Errors)*severityRatio+capped(t.Warnings))*severityRatio + capped(t.Infos)
}

// TallyOf returns the tally of a cell of kind Findings.
func TallyOf(c Cell) Tally {
	all := int(c.Float)
	return Tally{all / (severityRatio * severityRatio), all / severityRatio % severityRatio, all % severityRatio}
}

// Role returns the role of the worst severity, or Dim without findings.
func (t Tally) Role() Role {
	switch {
	case t.Errors > 0:
		return Bad
	case t.Warnings > 0:
		return Warn
	case t.Infos > 0:
		return Accent
	}
	return Dim
}
