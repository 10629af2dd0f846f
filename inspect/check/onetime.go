package check

import (
	"slices"
	"strconv"
	"time"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

// This file keeps checks from comparing data of different times. Metadata changes with every event of etcd,
// but the responses of processes and of the message queue are from the last query. Therefore:
//
//  1. Checks that need responses (needsResponses) get the metadata at the time of the query, and that time as now: the
//     joint facts. All other checks get the newest metadata.
//  2. If an object changed while the processes responded, its metadata and the responses have no common time.
//     No finding is about it (Report, settled).
//
// Single objects with a time of their own, such as segments and checkpoints, are compared with AskedAt.

// responseNeeds holds the needs for data from processes or from the message queue.
const responseNeeds = NeedDistribution | NeedRecovery | NeedQueryCoord | NeedConfig | NeedMetrics | NeedSystem |
	NeedQueue | NeedResponses | NeedProcesses

// needsResponses reports whether a check compares data from processes with metadata.
func (x *Check) needsResponses() bool { return x.Needs&responseNeeds != 0 }

// factsAtQuery returns the facts at the time when the processes were queried. It returns the newest facts if that
// time is unknown or their metadata is the same.
func (k *cache) factsAtQuery(newest *facts.Facts, now time.Time, next *cache) *facts.Facts {
	c := newest.AtQuery()
	if c == newest.Cluster {
		return newest
	}
	if at := c.Runtime.To; !now.IsZero() && !at.IsZero() && at.Before(now) {
		now = at
	}
	if k.atQuery == nil { // nearly all results are the same
		k.atQuery = &cache{Cache: k.Derive(newest)}
	}
	next.atQuery = &cache{}
	return k.atQuery.Facts(c, now, &next.atQuery.Cache)
}

// unchanged reports whether an object did not change while the processes were queried. It returns true for
// checks that do not compare responses with metadata.
func (p *Pass) unchanged(ref model.Ref) bool {
	if !p.check.needsResponses() || len(p.ChangedDuringQuery()) == 0 {
		return true
	}
	id, ok := CollectionOf(p.Cluster, ref)
	return !ok || !slices.Contains(p.ChangedDuringQuery(), id)
}

// CollectionOf returns the collection that an object is or belongs to. ok is false if there is none or it is
// unknown.
func CollectionOf(c *model.Cluster, ref model.Ref) (owner model.CollectionID, ok bool) {
	if ref.Resource == "vchannels" {
		if v := c.VChannel(ref.ID); v != nil {
			return v.Collection, true
		}
		return 0, false
	}
	id, err := strconv.ParseInt(ref.ID, 10, 64)
	if err != nil {
		return 0, false
	}
	switch ref.Resource {
	case "collections":
		return model.CollectionID(id), true
	case "segments":
		if s := c.Segment(model.SegmentID(id)); s != nil {
			return s.Collection, true
		}
	case "partitions":
		if p := c.Partition(model.PartitionID(id)); p != nil {
			return p.Collection, true
		}
	case "indexes":
		if i := c.Index(model.IndexID(id)); i != nil {
			return i.Collection, true
		}
	case "replicas":
		for _, r := range c.Replicas {
			if r.ID == model.ReplicaID(id) {
				return r.Collection, true
			}
		}
	}
	return 0, false
}

// changedDuringQuery reports whether the check of an older finding could not judge its object now, because the object
// changed while the processes were queried.
func (r *Report) changedDuringQuery(f *Finding) bool {
	id, ok := CollectionOf(r.Cluster, f.Object)
	return ok && slices.Contains(r.Unsettled, id) &&
		slices.ContainsFunc(r.Results,
			func(x *Result) bool { return x.Check.ID == f.Check && x.Check.needsResponses() })
}
