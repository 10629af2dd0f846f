package rules

import (
	"cmp"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
)

// Thresholds of loads with few segments left, which take little time. A node reads some hundred MB a second
// and retries every few seconds.
const (
	smallLoadAfter = 2 * time.Minute
	slowestLoad    = 10 << 20 // bytes per second
)

// unserved holds the segments of a loading collection or partition that no node serves.
type unserved struct {
	segments []*model.Segment
	bytes    int64
	known    bool
}

// leftToLoad returns the segments that should be served according to DataCoord and that no node serves.
func leftToLoad(p *check.Pass, id model.CollectionID, partition model.PartitionID) unserved {
	left := unserved{known: true}
	for _, v := range p.VChannelsOf(id) {
		r := p.Runtime.RecoveryOf(v.Name)
		if r == nil {
			p.NoteUnseen("segments left to load for " + v.Name + ": DataCoord did not report what should be served")
			return unserved{}
		}
		for _, segment := range r.Flushed {
			s := p.Segment(segment)
			if s == nil || s.Level == model.LevelL0 || partition != everyPartition && s.Partition != partition ||
				len(p.Runtime.Served(segment)) > 0 {
				continue
			}
			left.segments = append(left.segments, s)
			left.bytes += s.Bytes + s.IndexBytes
		}
	}
	slices.SortFunc(left.segments, func(a, b *model.Segment) int { return cmp.Compare(a.ID, b.ID) })
	return left
}

// timeout returns the time without progress after which a load counts as stuck. Its upper bound most is
// QueryCoord's own timeout.
func (u unserved) timeout(most time.Duration) time.Duration {
	if !u.known || len(u.segments) == 0 {
		return most
	}
	return min(most, smallLoadAfter+time.Duration(u.bytes/slowestLoad)*time.Second)
}
