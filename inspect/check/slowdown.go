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
	// Gain is what the mean would lose if it were cured: at least, and at most, as a phase cannot take less than nothing.
	Gain latency.Interval
}
