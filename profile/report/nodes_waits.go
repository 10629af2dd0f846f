package report

import (
	"math"

	"kitescope/profile"
)

// Waits is the time that goroutines waited for mutexes, from a mutex profile.
type Waits struct {
	Header
	// Waiting is the waiting time divided by the profiled time, i.e. the mean number of goroutines waiting at
	// a time. It is NaN if the profile has no duration, e.g. if it counts from the start of a process.
	Waiting float64
	// Places are the program's own functions that held the locks, sorted by the waiting time that they and
	// their callees caused, largest first.
	Places []Entry
}

// maxPlaces is the maximum length of Waits.Places.
const maxPlaces = 3

// NewWaits computes Waits from a mutex profile, or from the difference of two, which covers a window. Delays
// are estimates that runtime/pprof scales up, so they have no bounds. A process that does not record contention
// has no samples, like one without contention, and the caller must distinguish the two. NewWaits returns a
// Mismatch if delays are not in nanoseconds.
func NewWaits(p *profile.Profile) (*Waits, error) {
	top, err := NewTop(p, Options{SampleIndex: "delay", SortCum: true})
	if err != nil {
		return nil, err
	}
	w := &Waits{Header: top.Header, Waiting: math.NaN()}
	if w.Type.Unit != "nanoseconds" {
		return nil,
			&Mismatch{
				What:   "a profile of " + w.Type.String() + " where delays are counted in nanoseconds",
				Advice: "name a mutex profile",
			}
	}
	if w.Duration > 0 {
		w.Waiting = float64(w.Total) / float64(w.Duration)
	}
	for i := range top.Entries {
		if e := &top.Entries[i]; len(w.Places) < maxPlaces && e.Cum > 0 && isProgram(e.Function) {
			w.Places = append(w.Places, *e)
		}
	}
	return w, nil
}
