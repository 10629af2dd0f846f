package check

import (
	"sync"
	"time"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
)

// Judge runs checks on a cluster repeatedly. It reuses earlier results for objects that have not changed,
// which is nearly all of them if the cluster changed little. It drops results for objects that are gone. The
// zero Judge is ready for use, also by several goroutines.
type Judge struct {
	mutex   sync.Mutex
	cache   cache
	latency latency.Latest
}

// Run runs checks on a cluster like the function Run.
func (j *Judge) Run(c *model.Cluster, now time.Time, checks []*Check) *Report {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.cache.Latency = &j.latency
	return j.cache.run(c, now, checks)
}

// Latency returns the latency budgets of a cluster. It shares them with the checks, so they are computed
// once. It does not wait for running checks.
func (j *Judge) Latency(c *model.Cluster) *latency.Latency { return j.latency.Compute(c) }

// cache holds the results that one run passes on to the next.
type cache struct {
	facts.Cache
	// atQuery holds the same for the metadata at the time when the processes were queried. It is nil if that is
	// the newest metadata.
	atQuery *cache
}
