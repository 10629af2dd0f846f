// Package facts derives from a Cluster the facts that several checks use.
//
// Cache.Facts returns the Facts of one run: e.g. the balance of query nodes, the latency of requests, their impact on
// clients, and the places where they break. Each fact is computed on first use. Results that depend only on unchanged
// objects are reused from the previous run: digests of a collection's segments, anomalies of segments in memory,
// and comparisons of the responses of processes. Cached results do not depend on the time: each run decides which
// objects are old enough for a finding.
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

// Facts holds the cluster and the facts that several checks use. They are computed on first use and reused by the
// next run if nothing has changed.
type Facts struct {
	*model.Cluster
	// Now is the time of the cluster's state by the cluster's own clock; ages are computed relative to it. ClockSkew is
	// how far the clock of the machine that read the cluster is ahead of that clock.
	Now       time.Time
	ClockSkew time.Duration
	// OnUnknownSetting, if not nil, is called for each setting that a check reads and that is unknown, with the reason.
	OnUnknownSetting func(key, why string)
	// Balance is the survey of what query nodes serve.
	Balance *balance.Survey

	// Open returns the segments that are not flushed yet, by collection and id.
	Open func() []OpenSegment
	// Nodes returns the query nodes that reported what they serve.
	Nodes func() map[model.NodeID]*model.LiveNode
	// Views is nil if the processes were not asked.
	Views *Views
	// Latency returns where the requests of the last window spend their time.
	Latency func() *latency.Latency
	// Impact returns the effect on clients for each kind of request. Places returns the states of all components,
	// and where requests fail.
	Impact func() *impact.Impact
	Places func() *place.Places
	// Rewrites is nil if the writes to etcd are unknown.
	Rewrites *Rewrites

	digests   func() map[model.CollectionID]*Digest
	anomalies func() map[model.CollectionID]*Anomalies
	works     func() map[model.CollectionID]Work
}

// Cache holds the results that the facts of one state pass on to the next, so that unchanged results are not
// computed again. Results for objects that are gone are dropped. Its zero value is ready for use.
type Cache struct {
	surveyor  balance.Surveyor
	digests   map[model.CollectionID]*Digest
	anomalies map[model.CollectionID]*Anomalies
	views     *Views
	impact    *impactCache
	// rewrites holds the write rates of keys up to now.
	rewrites *Rewrites
	// Latency caches the latency budgets and may be shared with others; if it is nil, only this Cache and the next
	// use it.
	Latency *latency.Latest
}

// Facts returns the facts of a cluster whose state is of the time now, by the clock of the reader. Results for the
// next run are stored in next as they are computed.
func (k *Cache) Facts(c *model.Cluster, now time.Time, next *Cache) *Facts {
	f := &Facts{Cluster: c, Now: now, Balance: k.survey(c, next), ClockSkew: ClockAhead(c)}
	if !now.IsZero() {
		f.Now = now.Add(-f.ClockSkew)
	}
	k.setUp(f, next)
	return f
}

// Derive returns the cached results for another state of the cluster of f, which shares nearly all objects with it.
func (k *Cache) Derive(f *Facts) Cache {
	return Cache{surveyor: k.surveyor, digests: f.digests(), Latency: k.Latency}
}

// survey adds up what nodes serve. If it panics, it returns a survey in which all nodes are unknown, so that the
// checks that do not need it can run.
func (k *Cache) survey(c *model.Cluster, next *Cache) (s *balance.Survey) {
	defer func() {
		if recover() != nil {
			s = &balance.Survey{HasRuntime: c.Runtime != nil, Unknown: c.Runtime.QueryNodes()}
		}
	}()
	s = k.surveyor.Take(c)
	next.surveyor = k.surveyor
	return s
}

// setUp sets up the facts that several checks use. Each is computed on first use, and its result is stored in next.
func (k *Cache) setUp(f *Facts, next *Cache) {
	c := f.Cluster
	f.Open = sync.OnceValue(func() []OpenSegment { return openSegments(f) })
	budgets := cmp.Or(k.Latency, new(latency.Latest))
	next.Latency, f.Latency = budgets, func() *latency.Latency { return budgets.Compute(c) }
	if next.impact = k.impact; !next.impact.validFor(c) {
		next.impact = newImpactCache(c)
	}
	f.Impact, f.Places = next.impact.impact, next.impact.places
	f.works = sync.OnceValue(func() map[model.CollectionID]Work { return workByCollection(f.Balance) })
	f.Nodes = sync.OnceValue(func() map[model.NodeID]*model.LiveNode { return servingNodes(c.Runtime) })
	f.digests = sync.OnceValue(func() map[model.CollectionID]*Digest {
		next.digests = digests(c, k.digests)
		return next.digests
	})
	f.anomalies = sync.OnceValue(func() map[model.CollectionID]*Anomalies {
		next.anomalies = allAnomalies(c, f.digests(), f.Balance, k.anomalies)
		return next.anomalies
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
	if !f.Watched() { // a file has only the writes before its end: compute them again for each moment
		before = nil
	}
	next.rewrites = before.next(f.EtcdWrites())
	f.Rewrites = next.rewrites
}

// impactCache caches the impact and the places of a cluster with the inputs that they were computed from. They do not
// depend on segments.
type impactCache struct {
	runtime  *model.Runtime
	etcd     *model.Etcd
	storage  *model.Storage
	loaded   model.Part
	version  string
	sessions []*model.Session
	impact   func() *impact.Impact
	places   func() *place.Places
}

func newImpactCache(c *model.Cluster) *impactCache {
	x := &impactCache{
		runtime: c.Runtime, etcd: c.Etcd, storage: c.Storage, loaded: c.Loaded, version: c.Version.Text,
		sessions: c.Sessions,
	}
	x.impact = sync.OnceValue(func() *impact.Impact { return impact.Measure(c) })
	x.places = sync.OnceValue(func() *place.Places { return place.Find(c, x.impact()) })
	return x
}

// validFor reports whether x is still valid for c. It is never valid if storage is known, because the facts about
// storage depend on settings.
func (x *impactCache) validFor(c *model.Cluster) bool {
	return x != nil && x.storage == nil && c.Storage == nil && x.runtime == c.Runtime && x.etcd == c.Etcd &&
		x.loaded == c.Loaded &&
		x.version == c.Version.Text && slices.Equal(x.sessions, c.Sessions)
}

// digests returns the digests of all collections that exist or have segments. It reuses those in before that are
// still valid.
func digests(c *model.Cluster, before map[model.CollectionID]*Digest) map[model.CollectionID]*Digest {
	all := make(map[model.CollectionID]*Digest, len(c.Collections))
	add := func(id model.CollectionID) {
		if all[id] != nil {
			return
		}
		if all[id] = before[id]; !all[id].validFor(c, id) {
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

// allAnomalies returns the Anomalies of all served collections. It reuses those in before that are still valid.
func allAnomalies(
	c *model.Cluster, byCollection map[model.CollectionID]*Digest, survey *balance.Survey,
	before map[model.CollectionID]*Anomalies,
) map[model.CollectionID]*Anomalies {
	ids := c.Runtime.ServedCollections()
	all := make(map[model.CollectionID]*Anomalies, len(ids))
	for _, id := range ids {
		if all[id] = before[id]; !all[id].validFor(byCollection[id], c.Runtime) {
			all[id] = newAnomalies(c, id, byCollection[id], survey)
		}
	}
	return all
}
