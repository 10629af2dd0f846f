package check

import (
	"sync"
	"time"

	"kitescope/inspect/balance"
	"kitescope/inspect/model"
)

// Facts are what checks judge a cluster by: the cluster itself, and what several checks want to know of it, worked out when the
// first one asks, and kept from one run to the next where nothing has changed.
type Facts struct {
	*model.Cluster
	// Now is the time of the cluster's state, by the cluster's own clock: ages count to it. The clock of the machine that
	// read the cluster is ahead of that one by Ahead.
	Now   time.Time
	Ahead time.Duration
	// Balance is the survey of what query nodes serve.
	Balance *balance.Survey

	// open are the segments that are not flushed yet, by collection and id.
	open func() []openSegment
	// nodes are the query nodes that said what they serve.
	nodes func() map[model.NodeID]*model.LiveNode
	// views are nil if the processes were not asked.
	views *views
	// rewrites are nil if nobody watched etcd.
	rewrites *rewrites

	digests func() map[model.CollectionID]*digest
	odds    func() map[model.CollectionID]*odds
	works   func() map[model.CollectionID]work
}

// share works out what several checks use, each when it is asked for. What is worked out stands in next.
func (k *kept) share(f *Facts, next *kept) {
	c := f.Cluster
	f.open = sync.OnceValue(func() []openSegment { return openSegments(f) })
	f.works = sync.OnceValue(func() map[model.CollectionID]work { return worksOf(f.Balance) })
	f.nodes = sync.OnceValue(func() map[model.NodeID]*model.LiveNode { return servingNodes(c.Runtime) })
	f.digests = sync.OnceValue(func() map[model.CollectionID]*digest {
		next.digests = digests(c, k.digests)
		return next.digests
	})
	f.odds = sync.OnceValue(func() map[model.CollectionID]*odds {
		next.odds = allOdds(c, f.digests(), k.odds)
		return next.odds
	})
	switch {
	case c.Runtime == nil:
	case k.views != nil && k.views.runtime == c.Runtime:
		f.views = k.views
	default:
		f.views = newViews(c.Runtime)
	}
	next.views = f.views
	next.rewrites = k.rewrites.next(f.written())
	f.rewrites = next.rewrites
}
