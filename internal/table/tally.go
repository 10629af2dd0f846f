package table

// Tally is how many findings there are of each severity.
type Tally struct{ Errors, Warnings, Infos int }

// worse is by how much one severity outweighs the next: no number of the lesser ones makes up for one of the greater.
const worse = 10_000

// Cell is a cell of kind Findings; checks are the ids of those that found something.
func (t Tally) Cell(checks []string) Cell {
	return Cell{Int: int64(t.Errors + t.Warnings + t.Infos), List: checks, Float: t.Weight()}
}

// Plus are both together.
func (t Tally) Plus(other Tally) Tally {
	return Tally{t.Errors + other.Errors, t.Warnings + other.Warnings, t.Infos + other.Infos}
}

// Weight orders tallies: the worse ones are more.
func (t Tally) Weight() float64 {
	capped := func(n int) float64 { return float64(min(n, worse-1)) }
	return (capped(t.Errors)*worse+capped(t.Warnings))*worse + capped(t.Infos)
}

// TallyOf is the tally of a cell of kind Findings.
func TallyOf(c Cell) Tally {
	all := int(c.Float)
	return Tally{all / (worse * worse), all / worse % worse, all % worse}
}

// Role is how the worst of them looks; Dim where there are none.
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
