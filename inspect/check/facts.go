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

// keptFacts are what the facts of one cluster leave to those of the next: what has not changed is not worked out again. Of what is gone
// nothing is kept. Its zero value is ready.
type keptFacts struct {
	surveyor balance.Surveyor
	digests  map[model.CollectionID]*digest
	odds     map[model.CollectionID]*odds
	views    *views
	// rewrites is how often keys were written so far.
	rewrites *rewrites
}

// of are the facts of a cluster, whose state is of a time by the clock of who read it. What they leave behind stands in next, once it
// has been asked for.
func (k *keptFacts) of(c *model.Cluster, now time.Time, next *keptFacts) *Facts {
	f := &Facts{Cluster: c, Now: now, Balance: k.survey(c, next), Ahead: clockAhead(c)}
	if !now.IsZero() {
		f.Now = now.Add(-f.Ahead)
	}
	k.share(f, next)
	return f
}

// like is what is kept for another state of the cluster that some facts are of: nearly all of it is the same.
func (k *keptFacts) like(f *Facts) keptFacts {
	return keptFacts{surveyor: k.surveyor, digests: f.digests()}
}

// survey adds up what nodes serve. Should that break, nothing is known of any node, and all checks that do without go on.
func (k *keptFacts) survey(c *model.Cluster, next *keptFacts) (s *balance.Survey) {
	defer func() {
		if recover() != nil {
			s = &balance.Survey{Asked: c.Runtime != nil, Unknown: c.Runtime.QueryNodes()}
		}
	}()
	s = k.surveyor.Take(c)
	next.surveyor = k.surveyor
	return s
}

// share works out what several checks use, each when it is asked for. What is worked out stands in next.
func (k *keptFacts) share(f *Facts, next *keptFacts) {
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

// digests are those of all collections that exist or have segments; kept ones where nothing has changed.
func digests(c *model.Cluster, before map[model.CollectionID]*digest) map[model.CollectionID]*digest {
	all := make(map[model.CollectionID]*digest, len(c.Collections))
	add := func(id model.CollectionID) {
		if all[id] != nil {
			return
		}
		all[id] = before[id].next(c, id)
	}
	for _, x := range c.Collections {
		add(x.ID)
	}
	for _, id := range c.SegmentOwners() {
		add(id)
	}
	return all
}

// allOdds are those of all collections of which something is served; kept ones where nothing has changed.
func allOdds(c *model.Cluster, of map[model.CollectionID]*digest, before map[model.CollectionID]*odds) map[model.CollectionID]*odds {
	ids := c.Runtime.ServedCollections()
	all := make(map[model.CollectionID]*odds, len(ids))
	for _, id := range ids {
		if all[id] = before[id]; !all[id].isOf(of[id], c.Runtime) {
			all[id] = newOdds(c, id, of[id])
		}
	}
	return all
}
