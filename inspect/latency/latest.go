package latency

import (
	"sync"

	"kitescope/inspect/model"
)

// Latest are the budgets of what processes said last, for all that want them: worked out once, when the first one asks. A cluster
// changes more often than its processes are asked, and budgets are of the metadata of when they were (model.Cluster.AsAsked). The zero
// value is ready, and good for several goroutines.
type Latest struct {
	mutex   sync.Mutex
	of      *model.Runtime
	latency func() *Latency // nil until somebody asked
}

// Of is what the function of that name makes of a cluster. It waits if somebody is at it.
func (l *Latest) Of(c *model.Cluster) *Latency {
	return l.take(c)()
}

func (l *Latest) take(c *model.Cluster) func() *Latency {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.latency == nil || l.of != c.Runtime {
		l.of, l.latency = c.Runtime, sync.OnceValue(func() *Latency { return Of(c.AsAsked()) })
	}
	return l.latency
}
