package report

import (
	"math"

	"kitescope/profile"
)

// Waits is how long goroutines waited for mutexes, by a mutex profile.
type Waits struct {
	Header
	// Waiting is the time that was waited over the time that was profiled: how many goroutines waited at a time, on
	// average. NaN if the profile does not say how long that was, as one that counts from the start of a process.
	Waiting float64
	// Places are the program's own functions that held the locks, by what was waited for them, with all that they called.
	Places []Entry
}

// mostPlaces is how many functions are told.
const mostPlaces = 3

// NewWaits reads a mutex profile, or what was added to one during a window. Delays are estimates that runtime/pprof scales up, so
// that they have no bounds. A process that records no contention has no samples, and so has one without contention: who asks has
// to tell them apart.
func NewWaits(p *profile.Profile) (*Waits, error) {
	top, err := NewTop(p, Options{SampleIndex: "delay", SortCum: true})
	if err != nil {
		return nil, err
	}
	w := &Waits{Header: top.Header, Waiting: math.NaN()}
	if w.Type.Unit != "nanoseconds" {
		return nil, &Mismatch{What: "a profile of " + w.Type.String() + " where delays are counted in nanoseconds", Advice: "name a mutex profile"}
	}
	if w.Duration > 0 {
		w.Waiting = float64(w.Total) / float64(w.Duration)
	}
	for i := range top.Entries {
		if e := &top.Entries[i]; len(w.Places) < mostPlaces && e.Cum > 0 && isProgram(e.Function) {
			w.Places = append(w.Places, *e)
		}
	}
	return w, nil
}
