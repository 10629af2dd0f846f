package check

import (
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
)

// Slowdown is the delay that a finding adds to one kind of request, and the expected gain of a fix.
type Slowdown struct {
	// Collection is 0 for the requests of all collections.
	Collection model.CollectionID
	Request    latency.Request
	// Phase is the phase with the delay. Ms is the delay of the mean request because of the finding, Mean its
	// total time, in milliseconds.
	Phase    latency.Name
	Ms, Mean float64
	// Parts divides Ms among several phases. It is nil if all of Ms is in Phase.
	Parts []SlowPart
	// Within is the time of the mean request in the phases of Parts, for any reason, in milliseconds. 0 means
	// unknown.
	Within float64
	// Gain is the interval of the mean time, in milliseconds, that a fix would save. It is an interval
	// because a phase cannot take less than no time.
	Gain latency.Interval
}

// SlowPart is the part of a slowdown in one phase.
type SlowPart struct {
	Phase latency.Name
	// Parent distinguishes phases with the same name, e.g. the unexplained time at each level. "" matches
	// any.
	Parent latency.Name
	Ms     float64
}

// PhaseMs returns the milliseconds of a phase that the finding adds.
func (s *Slowdown) PhaseMs(p *latency.Phase) float64 {
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

// Phases returns the milliseconds that the mean request of a budget spends in the phases of the finding.
func (s *Slowdown) Phases(b *latency.Budget) float64 {
	ms := 0.0
	for _, p := range b.Root.Leaves() {
		if s.PhaseMs(p) > 0 {
			ms += p.Ms
		}
	}
	return ms
}

// Matches reports whether a slowdown is of the requests of a budget.
func (s *Slowdown) Matches(b *latency.Budget) bool {
	return s.Request == b.Request && (s.Collection == b.Collection || s.Collection == 0 || b.Collection == 0)
}
