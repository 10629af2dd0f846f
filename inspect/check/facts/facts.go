// Package facts is what checks judge a cluster by. What enters is a Cluster, what leaves are Facts: the Cluster itself, and what several
// checks want to know of it.
//
//  1. Kept.Facts offers them for one run: each is worked out when the first check asks.
//  2. What depends on nothing but objects that are still the same ones comes from the run before: digests of a collection's segments,
//     odds of what is in memory, views of what processes say against each other.
//  3. Nothing that is kept knows the time: what is old enough to be a finding, each run judges anew.
package facts

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"kitescope/inspect/balance"
	"kitescope/inspect/impact"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/inspect/place"
)

// Facts are what checks judge a cluster by: the cluster itself, and what several checks want to know of it, worked out when the
// first one asks, and kept from one run to the next where nothing has changed.
type Facts struct {
	*model.Cluster
	// Now is the time of the cluster's state, by the cluster's own clock: ages count to it. The clock of the machine that
	// read the cluster is ahead of that one by Ahead.
	Now   time.Time
	Ahead time.Duration
	// Unread, if there is one, is told of each setting that is asked for and unknown, and why it is.
	Unread func(key, why string)
	// Balance is the survey of what query nodes serve.
	Balance *balance.Survey

	// Open are the segments that are not flushed yet, by collection and id.
	Open func() []OpenSegment
	// Nodes are the query nodes that said what they serve.
	Nodes func() map[model.NodeID]*model.LiveNode
	// Views are nil if the processes were not asked.
	Views *Views
	// Latency is where the requests of the last window spend their time.
	Latency func() *latency.Latency
	// Impact is what clients feel of each kind of request; Places are the states of all components, and where requests break.
	Impact func() *impact.Impact
	Places func() *place.Places
	// Rewrites are nil if nobody watched etcd.
	Rewrites *Rewrites

	digests func() map[model.CollectionID]*Digest
	odds    func() map[model.CollectionID]*Odds
	works   func() map[model.CollectionID]Work
}

// Kept are what the facts of one cluster leave to those of the next: what has not changed is not worked out again. Of what is gone
// nothing is kept. Its zero value is ready.
type Kept struct {
	surveyor balance.Surveyor
	digests  map[model.CollectionID]*Digest
	odds     map[model.CollectionID]*Odds
	views    *Views
	felt     *felt
	// rewrites is how often keys were written so far.
	rewrites *Rewrites
	// Latency has the budgets for others as well; nil: for these facts and the next alone.
	Latency *latency.Latest
}

// Facts are the facts of a cluster, whose state is of a time by the clock of who read it. What they leave behind stands in next, once it
// has been asked for.
func (k *Kept) Facts(c *model.Cluster, now time.Time, next *Kept) *Facts {
	f := &Facts{Cluster: c, Now: now, Balance: k.survey(c, next), Ahead: ClockAhead(c)}
	if !now.IsZero() {
		f.Now = now.Add(-f.Ahead)
	}
	k.share(f, next)
	return f
}

// Like is what is kept for another state of the cluster that some facts are of: nearly all of it is the same.
func (k *Kept) Like(f *Facts) Kept {
	return Kept{surveyor: k.surveyor, digests: f.digests(), Latency: k.Latency}
}

// survey adds up what nodes serve. Should that break, nothing is known of any node, and all checks that do without go on.
func (k *Kept) survey(c *model.Cluster, next *Kept) (s *balance.Survey) {
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
func (k *Kept) share(f *Facts, next *Kept) {
	c := f.Cluster
	f.Open = sync.OnceValue(func() []OpenSegment { return openSegments(f) })
	budgets := cmp.Or(k.Latency, new(latency.Latest))
	next.Latency, f.Latency = budgets, func() *latency.Latency { return budgets.Of(c) }
	if next.felt = k.felt; !next.felt.isOf(c) {
		next.felt = newFelt(c)
	}
	f.Impact, f.Places = next.felt.impact, next.felt.places
	f.works = sync.OnceValue(func() map[model.CollectionID]Work { return worksOf(f.Balance) })
	f.Nodes = sync.OnceValue(func() map[model.NodeID]*model.LiveNode { return servingNodes(c.Runtime) })
	f.digests = sync.OnceValue(func() map[model.CollectionID]*Digest {
		next.digests = digests(c, k.digests)
		return next.digests
	})
	f.odds = sync.OnceValue(func() map[model.CollectionID]*Odds {
		next.odds = allOdds(c, f.digests(), f.Balance, k.odds)
		return next.odds
	})
	switch {
	case c.Runtime == nil:
	case k.views != nil && k.views.runtime == c.Runtime:
		f.Views = k.views
	default:
		f.Views = newViews(c.Runtime)
	}
	next.views = f.Views
	before := k.rewrites
	if !f.Watched() { // what was written before the end of a file is all there is to go by, of each moment anew
		before = nil
	}
	next.rewrites = before.next(f.Written())
	f.Rewrites = next.rewrites
}

// felt keeps the impact and the places of a cluster with the answers that they were computed from. Segments do not change them.
type felt struct {
	runtime  *model.Runtime
	etcd     *model.Etcd
	storage  *model.Storage
	loaded   model.Part
	version  string
	sessions []*model.Session
	impact   func() *impact.Impact
	places   func() *place.Places
}

func newFelt(c *model.Cluster) *felt {
	x := &felt{runtime: c.Runtime, etcd: c.Etcd, storage: c.Storage, loaded: c.Loaded, version: c.Version.Text, sessions: c.Sessions}
	x.impact = sync.OnceValue(func() *impact.Impact { return impact.Of(c) })
	x.places = sync.OnceValue(func() *place.Places { return place.Of(c, x.impact()) })
	return x
}

// isOf reports whether x still holds for c. Facts about the storage are always computed again, because settings are compared with them.
func (x *felt) isOf(c *model.Cluster) bool {
	return x != nil && x.storage == nil && c.Storage == nil && x.runtime == c.Runtime && x.etcd == c.Etcd && x.loaded == c.Loaded &&
		x.version == c.Version.Text && slices.Equal(x.sessions, c.Sessions)
}

// digests are those of all collections that exist or have segments; kept ones where nothing has changed.
func digests(c *model.Cluster, before map[model.CollectionID]*Digest) map[model.CollectionID]*Digest {
	all := make(map[model.CollectionID]*Digest, len(c.Collections))
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
func allOdds(c *model.Cluster, of map[model.CollectionID]*Digest, survey *balance.Survey, before map[model.CollectionID]*Odds) map[model.CollectionID]*Odds {
	ids := c.Runtime.ServedCollections()
	all := make(map[model.CollectionID]*Odds, len(ids))
	for _, id := range ids {
		if all[id] = before[id]; !all[id].isOf(of[id], c.Runtime) {
			all[id] = newOdds(c, id, of[id], survey)
		}
	}
	return all
}
