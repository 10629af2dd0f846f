package history

import (
	"context"
	"time"

	"kitescope/inspect/model"
)

// Feed is where Updates come from.
type Feed interface {
	// Follow calls emit for each new state until ctx ends or there will be no more, and not after it has returned. emit may
	// be called by any goroutine, and may block for a moment.
	Follow(ctx context.Context, emit func(Update))
}

// Update is one message of a Feed. Fields that have nothing to say are zero.
type Update struct {
	// Cluster is the newest state; nil where only the rest has changed.
	Cluster *model.Cluster
	// Err says why there is no newer state; the data known stays. It is taken back by an Update that has neither an Err nor
	// Progress, and by nothing else: a Cluster may be new by what processes say while etcd is gone.
	Err error
	// Since is when the source that Err is about was last heard of, zero if nobody knows.
	Since time.Time
	// Lost are the processes that answered before and do not now, the longest silent first.
	Lost []Lost
	// Live reports whether further Updates follow by themselves: of changes of Cluster, or of another attempt after an Err.
	Live bool
	// Progress is what is going on, for people: "reading: 120000 keys, 30 MiB".
	Progress string
	// Past is what the source keeps of what was. It is told of once, with the first Cluster of a source that is opened, and lasts
	// until Follow returns.
	Past Past
	// Then says that Cluster is not the newest state, but that of the moment which was asked for.
	Then bool
}

// Lost is a source that is not heard of any more.
type Lost struct {
	// Name is "querynode-7".
	Name string
	// Since is when it was last heard of.
	Since time.Time
}
