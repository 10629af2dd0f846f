package check

import (
	"slices"
	"strconv"
	"time"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

// This file is the one place that keeps checks from comparing what is of different times. Metadata moves on with every
// event of etcd; the answers of processes, and of the message queue, are those of the last asking. So
//
//  1. checks that need answers (joins) judge the metadata of when the processes were asked, by the time at which
//     they had answered: the joint facts; all others judge the newest metadata;
//  2. what changed while they answered has no time that both share: no finding is about it (Report, settled).
//
// Single objects that have a time of their own, as segments and checkpoints do, are held against AskedAt.

// needsAnswers are the needs that processes, or their queue, have to meet.
const needsAnswers = NeedDistribution | NeedRecovery | NeedQueryCoord | NeedConfig | NeedMetrics | NeedSystem | NeedQueue | NeedAnswers | NeedProcesses

// joins reports whether a check holds what processes say against metadata.
func (x *Check) joins() bool { return x.Needs&needsAnswers != 0 }

// joint are the facts that are of one time: those of the newest metadata, where no other time is known.
func (k *kept) joint(newest *facts.Facts, now time.Time, next *kept) *facts.Facts {
	c := newest.AsAsked()
	if c == newest.Cluster {
		return newest
	}
	if at := c.Runtime.To; !now.IsZero() && !at.IsZero() && at.Before(now) {
		now = at
	}
	if k.asked == nil { // nearly all of it is the same
		k.asked = &kept{Kept: k.Like(newest)}
	}
	next.asked = &kept{}
	return k.asked.Facts(c, now, &next.asked.Kept)
}

// settled reports whether nothing changed about an object while the processes were asked, as far as the check cares.
func (p *Pass) settled(ref model.Ref) bool {
	if !p.check.joins() || len(p.Unsettled()) == 0 {
		return true
	}
	id, ok := CollectionOf(p.Cluster, ref)
	return !ok || !slices.Contains(p.Unsettled(), id)
}

// CollectionOf returns the collection that an object is or belongs to; ok is false if that is none, or not known.
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

// unsettled reports whether a check that found something before could say nothing of it now.
func (r *Report) unsettled(f *Finding) bool {
	id, ok := CollectionOf(r.Cluster, f.Object)
	return ok && slices.Contains(r.Unsettled, id) && slices.ContainsFunc(r.Results, func(x *Result) bool { return x.Check.ID == f.Check && x.Check.joins() })
}
