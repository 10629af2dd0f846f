package check

import (
	"sync"
	"time"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
)

// Judge judges a cluster again and again: each time anew, but for what it has worked out before of objects that are still the
// same ones. Of a cluster in which little has changed that is nearly all. Of what is gone it keeps
// nothing. The zero Judge is ready, and good for several goroutines.
type Judge struct {
	mutex   sync.Mutex
	kept    kept
	latency latency.Latest
}

// Run judges a cluster by some checks, as the function of that name does.
func (j *Judge) Run(c *model.Cluster, now time.Time, checks []*Check) *Report {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.kept.Latency = &j.latency
	return j.kept.run(c, now, checks)
}

// Latency is where the requests of a cluster spend their time, as checks see it: nobody else has to work it out. It does not wait for
// checks.
func (j *Judge) Latency(c *model.Cluster) *latency.Latency { return j.latency.Of(c) }

// kept is what one run leaves to the next.
type kept struct {
	facts.Kept
	// asked is the same of the metadata of when the processes were asked, nil where that is no other.
	asked *kept
}
