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
