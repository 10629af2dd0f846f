package facts

import (
	"cmp"
	"slices"
	"time"

	"kitescope/inspect/model"
)

// SealPolicy holds the conditions under which DataCoord seals a growing segment (segment_allocation_policy.go): it
// reaches a share of its maximum size or a maximum age, or nothing was written to it for a while and it is not too
// small.
type SealPolicy struct {
	maxSize    float64 // size of a full segment, in MB
	Proportion float64
	MaxLife    time.Duration
	MaxIdle    time.Duration
	MinSize    float64 // in MB; smaller segments are never sealed for being idle
	Source     string
	Known      bool // maxSize was reported, so the policy is not only defaults
}

// SealPolicy reads the policy from the cluster's configuration. The defaults are those of configs/milvus.yaml:
// maxSize 512 and sealProportion 0.25 in 2.1, 512 and 0.23 in 2.2 and 2.3, 1024 and 0.12 since 2.4. The others are
// the same in all versions: maxLife 86400, maxIdleTime 600, minSizeFromIdleToSealed 16.
func (f *Facts) SealPolicy() SealPolicy {
	maxSize, proportion := 1024.0, 0.12
	switch r := ReleaseOf(f.Cluster); {
	case r.Before(Release{2, 2}):
		maxSize, proportion = 512, 0.25
	case r.Before(Release{2, 4}):
		maxSize, proportion = 512, 0.23
	}
	roles := DataCoords()
	const prefix = "dataCoord.segment."
	var s SealPolicy
	s.maxSize, s.Source = f.setting(prefix+"maxSize", maxSize, roles...)
	s.Proportion, _ = f.setting(prefix+"sealProportion", proportion, roles...)
	life, _ := f.setting(prefix+"maxLife", 86400, roles...)
	idle, _ := f.setting(prefix+"maxIdleTime", 600, roles...)
	s.MinSize, _ = f.setting(prefix+"minSizeFromIdleToSealed", 16, roles...)
	_, s.Known = f.Setting(prefix+"maxSize", roles...)
	s.MaxLife, s.MaxIdle = time.Duration(life*float64(time.Second)), time.Duration(idle*float64(time.Second))
	return s
}

// IdleRows returns the number of rows above which a segment is sealed for being idle.
func (s *SealPolicy) IdleRows(maxRows int64) int64 {
	if s.maxSize <= 0 {
		return 0
	}
	return int64(s.MinSize / s.maxSize * float64(maxRows))
}

// SealsIdle reports whether a segment is large enough to be sealed for being idle.
func (s *SealPolicy) SealsIdle(o *OpenSegment) bool { return o.Rows > s.IdleRows(o.MaxRows) }

// FullRows returns the number of rows at which a segment is sealed for being full.
func (s *SealPolicy) FullRows(maxRows int64) int64 { return int64(s.Proportion * float64(maxRows)) }

// OpenSegment is a segment that is not flushed yet, with the facts about it from all sources.
type OpenSegment struct {
	*model.Segment
	Rows int64
	// StartedAt is the time at which its first row was written, zero if it is unknown.
	StartedAt time.Time
	// WrittenAt is the time at which rows were last written to it, as far as is known up to knownAt. Both are zero
	// if this is unknown.
	WrittenAt, knownAt time.Time
	// WrittenSource is the source of WrittenAt.
	WrittenSource string
	// noInserts is set if the time of the last write is unknown, but the leaders of the segment consume no inserts now.
	noInserts bool
	// empty is set if it has no rows yet: no rows are recorded, and the leaders of its shard do not have the
	// segment.
	empty bool
	// Leaders are the nodes that serve it.
	Leaders []model.Served
}

// openSegments returns the segments of existing collections that are not flushed yet (growing, sealed or flushing),
// by collection and id.
func openSegments(f *Facts) []OpenSegment {
	all := f.Totals().ByState
	list := make([]OpenSegment, 0, all[model.SegmentGrowing]+all[model.SegmentSealed]+all[model.SegmentFlushing])
	asked := f.AskedAt()
	for _, x := range f.Collections {
		if x.Dropped() {
			continue
		}
		for _, s := range f.SegmentsIn(x.ID, openSegs) {
			if s.Level != model.LevelL0 && !s.Importing && !s.Fake {
				list = append(list, newOpenSegment(f, s, asked))
			}
		}
	}
	return list
}

// newOpenSegment combines the facts about one segment. etcd records rows only at each sync, every 10 minutes or 16
// MB (dataNode.segment.syncPeriod, insertBufSize); DataCoord has the current rows in memory.
func newOpenSegment(f *Facts, s *model.Segment, asked time.Time) OpenSegment {
	o := OpenSegment{Segment: s, Rows: s.Rows, StartedAt: s.StartAt.Time()}
	for _, served := range f.Runtime.Served(s.ID) {
		if served.Leader == nil {
			continue
		}
		o.Leaders = append(o.Leaders, served)
		if o.StartedAt.IsZero() {
			o.StartedAt = growingSince(served.Leader, s.ID)
		}
	}
	switch d := f.Runtime.DataSegment(s.ID); {
	case d != nil && d.ExpireAt.Time().After(o.WrittenAt):
		o.Rows = max(o.Rows, d.Rows)
		o.WrittenAt, o.knownAt, o.WrittenSource = d.ExpireAt.Time(), asked, "DataCoord's last allocation"
	case d != nil:
		o.Rows = max(o.Rows, d.Rows)
	}
	if s.Details != nil && s.Details.Growing != nil {
		g := s.Details.Growing
		o.Rows = max(o.Rows, g.Rows)
		if o.StartedAt.IsZero() {
			o.StartedAt = g.CreatedAt
		}
		if g.ModifiedAt.After(o.WrittenAt) {
			o.WrittenAt, o.knownAt, o.WrittenSource = g.ModifiedAt, f.Now, "the streaming node's record"
		}
	}
	if o.WrittenSource == "" {
		o.fromCheckpoint(f.Cluster)
	}
	if len(o.Leaders) > 0 {
		o.noInserts = o.WrittenSource == "" && !slices.ContainsFunc(o.Leaders, consumesInserts)
		if v := o.Leaders[0].Leader; o.Rows == 0 && len(v.Growing) > 0 {
			o.Rows = f.GrowingRowsIn(v, s.ID)
		}
	}
	o.empty = o.Rows == 0 && o.WrittenSource == "" && len(o.Leaders) == 0 && len(f.Runtime.ShardViews(s.VChannel)) > 0
	return o
}

// consumesInserts reports whether a node consumes inserts, by Milvus's own average over the last 3 seconds
// (ratelimitutil.DefaultAvgDuration). It returns true if the node does not report a rate.
func consumesInserts(s model.Served) bool {
	q := QuotaOf(s.Node)
	if q == nil {
		return true
	}
	rate, ok := q.Rates["InsertConsumeThroughput"]
	return !ok || rate > 0
}

// fromCheckpoint derives the time of the last write from metadata only. The last allocation is recorded with each
// sync, and a channel's checkpoint is older than any row that is not synced yet (write_buffer.go: GetCheckpoint).
// So the record is complete up to the checkpoint.
func (o *OpenSegment) fromCheckpoint(c *model.Cluster) {
	written := o.ExpireAt.Time()
	v := c.VChannel(o.VChannel)
	if v == nil || written.IsZero() {
		return
	}
	if at := v.Checkpoint.At.Time(); at.After(written) {
		o.WrittenAt, o.knownAt, o.WrittenSource = written, at,
			"last allocation in etcd, complete up to the channel's checkpoint"
	}
}

// growingSince returns the start position of a growing segment in a leader's view, zero if the view does not have
// it.
func growingSince(v *model.LeaderView, id model.SegmentID) time.Time {
	i, ok := slices.BinarySearchFunc(v.Growing, id, func(g model.GrowingView, id model.SegmentID) int {
		return cmp.Compare(g.ID, id)
	})
	if !ok {
		return time.Time{}
	}
	return v.Growing[i].At.Time()
}

// Thresholds for a segment that is no longer written. Allocations last 2 seconds
// (dataCoord.segment.assignmentExpiration). Checkpoints are written once a minute
// (dataNode.channel.updateChannelCheckpointInterval: 60), so a checkpoint that is several minutes old means that
// rows wait for a sync or that the channel is stuck.
const (
	idleGrace       = 2 * time.Minute
	checkpointGrace = 3 * time.Minute
)

// IdleFor returns the time for which nothing was written. ok is false if the segment may still be written, or if
// that is unknown.
func (o *OpenSegment) IdleFor(now time.Time) (idle time.Duration, ok bool) {
	if o.WrittenAt.IsZero() || now.Sub(o.knownAt) > checkpointGrace {
		return 0, false
	}
	idle = o.knownAt.Sub(o.WrittenAt)
	return idle, idle >= idleGrace
}

// Abandoned reports whether the segment was abandoned: nothing was written for a while or, if that is unknown, it has
// been open for a while and nothing is written now.
func (o *OpenSegment) Abandoned(now time.Time) bool {
	_, idle := o.IdleFor(now)
	return idle || o.noInserts && !o.StartedAt.IsZero() && now.Sub(o.StartedAt) >= idleGrace
}

// MaybeAbandoned reports whether the segment may have been abandoned, but the data is insufficient to decide.
func (o *OpenSegment) MaybeAbandoned(now time.Time) bool {
	if !o.StartedAt.IsZero() && now.Sub(o.StartedAt) < idleGrace {
		return false
	}
	if written := o.ExpireAt.Time(); !written.IsZero() && now.Sub(written) < idleGrace {
		return false // it was written just now
	}
	if o.noInserts && !o.StartedAt.IsZero() || o.empty {
		return false
	}
	return o.WrittenAt.IsZero() || now.Sub(o.knownAt) > checkpointGrace
}

// QuotaOf returns the rates that a process reports for quotas, nil if it does not report them.
func QuotaOf(n *model.LiveNode) *model.QuotaMetrics {
	if n.System == nil {
		return nil
	}
	return n.System.Quota
}
