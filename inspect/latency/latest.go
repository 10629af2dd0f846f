package latency

import (
	"sync"

	"kitescope/inspect/model"
)

// Latest caches the budgets of the most recent process data for several callers. They are computed once, at the
// first call. A cluster changes more often than its processes are scraped, so the budgets use the metadata from
// the time of the scrape (model.Cluster.AtQuery). The zero value is ready to use, and safe for concurrent use.
type Latest struct {
	mutex   sync.Mutex
	runtime *model.Runtime
	latency func() *Latency // nil before the first call
}

// Compute returns the budgets of a cluster, as the function Compute does. It waits if another goroutine is computing
// them.
func (l *Latest) Compute(c *model.Cluster) *Latency {
	return l.take(c)()
}

func (l *Latest) take(c *model.Cluster) func() *Latency {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.latency == nil || l.runtime != c.Runtime {
		l.runtime, l.latency = c.Runtime, sync.OnceValue(func() *Latency { return Compute(c.AtQuery()) })
	}
	return l.latency
}
