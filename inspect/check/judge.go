package check

import (
	"sync"
	"time"

	"kitescope/inspect/balance"
	"kitescope/inspect/model"
)

// Judge judges a cluster again and again: each time anew, but for what it has worked out before of objects that are still the
// same ones. Of a cluster in which little has changed that is nearly all. Of what is gone it keeps
// nothing. The zero Judge is ready, and good for several goroutines.
type Judge struct {
	mutex sync.Mutex
	kept  kept
}

// Run judges a cluster by some checks, as the function of that name does.
func (j *Judge) Run(c *model.Cluster, now time.Time, checks []*Check) *Report {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	return j.kept.run(c, now, checks)
}

// kept is what one run leaves to the next.
type kept struct {
	surveyor balance.Surveyor
	digests  map[model.CollectionID]*digest
	odds     map[model.CollectionID]*odds
	views    *views
	// rewrites is how often keys were written so far.
	rewrites *rewrites
	// asked is the same of the metadata of when the processes were asked, nil where that is no other.
	asked *kept
}

// shared are facts that several checks use, worked out when the first one asks.
type shared struct {
	digests func() map[model.CollectionID]*digest
	odds    func() map[model.CollectionID]*odds
	open    func() []openSegment
	works   func() map[model.CollectionID]work
	nodes   func() map[model.NodeID]*model.LiveNode // query nodes that said what they serve
	// views are nil if the processes were not asked.
	views *views
	// rewrites are nil if nobody watched etcd.
	rewrites *rewrites
}

// share offers facts to the checks of one run. What is worked out stands in next.
func (k *kept) share(facts *Pass, next *kept) *shared {
	c := facts.Cluster
	s := &shared{
		open:  sync.OnceValue(func() []openSegment { return openSegments(facts) }),
		works: sync.OnceValue(func() map[model.CollectionID]work { return worksOf(facts.Balance) }),
		nodes: sync.OnceValue(func() map[model.NodeID]*model.LiveNode { return servingNodes(c.Runtime) }),
	}
	s.digests = sync.OnceValue(func() map[model.CollectionID]*digest {
		next.digests = digests(c, k.digests)
		return next.digests
	})
	s.odds = sync.OnceValue(func() map[model.CollectionID]*odds {
		next.odds = allOdds(c, s.digests(), k.odds)
		return next.odds
	})
	switch {
	case c.Runtime == nil:
	case k.views != nil && k.views.runtime == c.Runtime:
		s.views = k.views
	default:
		s.views = newViews(c.Runtime)
	}
	next.views = s.views
	next.rewrites = k.rewrites.next(facts.written())
	s.rewrites = next.rewrites
	return s
}

// digests are those of all collections that exist or have segments; kept ones where nothing has changed.
func digests(c *model.Cluster, before map[model.CollectionID]*digest) map[model.CollectionID]*digest {
	all := make(map[model.CollectionID]*digest, len(c.Collections))
	add := func(id model.CollectionID) {
		if all[id] != nil {
			return
		}
		if all[id] = before[id]; !all[id].isOf(c, id) {
			all[id] = newDigest(c, id)
		}
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
