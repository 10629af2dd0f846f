package check

import (
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
)

// Slowdown is what a finding costs a kind of request, and what its cure would give.
type Slowdown struct {
	// Collection is 0 where it is of the requests of all collections.
	Collection model.CollectionID
	Request    latency.Request
	// Phase is where the time goes. Ms is how much of the mean request it is because of the finding, Mean the whole, in milliseconds.
	Phase    latency.Name
	Ms, Mean float64
	// Parts are what of Ms is in each phase, where it is of several; nil: all of it is in Phase.
	Parts []SlowPart
	// Within is how much of the mean request is in the phases of Parts, for whatever reason; 0: unknown.
	Within float64
	// Gain is what the mean would lose if it were cured: at least, and at most, as a phase cannot take less than nothing.
	Gain latency.Interval
}

// SlowPart is what of a slowdown is in one phase.
type SlowPart struct {
	Phase latency.Name
	// Parent tells phases of one name apart, such as what is unexplained at each level; "" is any.
	Parent latency.Name
	Ms     float64
}

// In is how many milliseconds of a phase are because of the finding.
func (s *Slowdown) In(p *latency.Phase) float64 {
	if len(s.Parts) == 0 && s.Phase == p.Name {
		return s.Ms
	}
	ms := 0.0
	for _, x := range s.Parts {
		if x.Phase == p.Name && (x.Parent == "" || x.Parent == p.Parent) {
			ms += x.Ms
		}
	}
	return ms
}

// Phases returns how many milliseconds the mean request of a budget spends in the phases of the finding.
func (s *Slowdown) Phases(b *latency.Budget) float64 {
	ms := 0.0
	for _, p := range b.Root.Leaves() {
		if s.In(p) > 0 {
			ms += p.Ms
		}
	}
	return ms
}

// Of reports whether it is one of the requests of a budget.
func (s *Slowdown) Of(b *latency.Budget) bool {
	return s.Request == b.Request && (s.Collection == b.Collection || s.Collection == 0 || b.Collection == 0)
}
