package history

import (
	"context"
	"time"

	"kitescope/inspect/model"
)

// Feed is a source of Updates.
type Feed interface {
	// Follow calls emit for each new state until ctx ends or the source is exhausted, and never after it has
	// returned. It may call emit from any goroutine. emit may block briefly.
	Follow(ctx context.Context, emit func(Update))
}

// Update is one message of a Feed. Unchanged fields are zero.
type Update struct {
	// Cluster is the newest state; nil if only other fields changed.
	Cluster *model.Cluster
	// Err is the reason why no newer state is available. The previous data stays valid. Only an Update without
	// Err and Progress clears it, because a Cluster may have new process data while etcd is down.
	Err error
	// Since is the time of the last response from the source of Err, zero if unknown.
	Since time.Time
	// Lost are the processes that responded before and no longer do, sorted by time of the last response.
	Lost []Lost
	// Live reports whether further Updates follow automatically: changes of Cluster, or another attempt after an
	// Err.
	Live bool
	// Progress describes the current activity for display, e.g. "reading: 120000 keys, 30 MiB".
	Progress string
	// Past gives access to the source's past. It is set once, with the first Cluster of a newly opened source, and
	// is valid until Follow returns.
	Past Past
	// Historical means that Cluster is the state at the requested moment, not the newest.
	Historical bool
}

// Lost is a source that no longer responds.
type Lost struct {
	// Name is e.g. "querynode-7".
	Name string
	// Since is the time of its last response.
	Since time.Time
}
