package facts

import (
	"cmp"
	"slices"
	"time"

	"kitescope/inspect/model"
)

// SealPolicy is when DataCoord closes a growing segment (segment_allocation_policy.go): at a part of
// its largest size, at an age, or when nothing was written for a while and it is not too small.
type SealPolicy struct {
	maxSize    float64 // MB of a full segment
	Proportion float64
	MaxLife    time.Duration
	MaxIdle    time.Duration
	MinSize    float64 // MB, below which a segment is never closed for being idle
	From       string
	Known      bool // not only the version's defaults
}

// SealPolicy reads the policy from the cluster's own configuration. Defaults are those of configs/milvus.yaml: maxSize
// 512 and sealProportion 0.25 in 2.1, 512 and 0.23 in 2.2 and 2.3, 1024 and 0.12 since 2.4; the others are
// the same in all: maxLife 86400, maxIdleTime 600, minSizeFromIdleToSealed 16.
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
	s.maxSize, s.From = f.setting(prefix+"maxSize", maxSize, roles...)
	s.Proportion, _ = f.setting(prefix+"sealProportion", proportion, roles...)
	life, _ := f.setting(prefix+"maxLife", 86400, roles...)
	idle, _ := f.setting(prefix+"maxIdleTime", 600, roles...)
	s.MinSize, _ = f.setting(prefix+"minSizeFromIdleToSealed", 16, roles...)
	_, s.Known = f.Setting(prefix+"maxSize", roles...)
	s.MaxLife, s.MaxIdle = time.Duration(life*float64(time.Second)), time.Duration(idle*float64(time.Second))
	return s
}

// IdleRows is how many rows a segment needs to be closed for being idle.
func (s *SealPolicy) IdleRows(maxRows int64) int64 {
	if s.maxSize <= 0 {
		return 0
	}
	return int64(s.MinSize / s.maxSize * float64(maxRows))
}

// SealsIdle reports whether a segment is large enough to be closed for being idle.
func (s *SealPolicy) SealsIdle(o *OpenSegment) bool { return o.Rows > s.IdleRows(o.MaxRows) }

// FullRows is at how many rows a segment is closed for being full.
func (s *SealPolicy) FullRows(maxRows int64) int64 { return int64(s.Proportion * float64(maxRows)) }

// OpenSegment is a segment that is not flushed yet, with what anyone says about it.
type OpenSegment struct {
	*model.Segment
	Rows int64
	// StartedAt is when its first row was written, zero if nothing tells.
	StartedAt time.Time
	// WrittenAt is when rows were last written to it, so far as is known up to the time knownAt; both are zero
	// if nothing tells.
	WrittenAt, knownAt time.Time
	// by says who told writtenAt.
	By string
	// quiet says that nothing tells when it was written, but its leaders consume no inserts at all right now.
	quiet bool
	// unbegun says that it has no rows yet: nobody recorded any, and its shard's leaders do not know it.
	unbegun bool
	// Leaders are the nodes that serve it.
	Leaders []model.Served
}

// openSegments are the segments of existing collections that are not flushed yet: growing, sealed and
// flushing, by collection and id.
func openSegments(f *Facts) []OpenSegment {
	all := f.Totals().ByState
	list := make([]OpenSegment, 0, all[model.SegmentGrowing]+all[model.SegmentSealed]+all[model.SegmentFlushing])
	asked := f.AskedAt()
	for _, x := range f.Collections {
		if x.Dropped() {
			continue
		}
		for _, s := range f.Among(x.ID, openSegs) {
			if s.Level != model.LevelL0 && !s.Importing && !s.Fake {
				list = append(list, newOpenSegment(f, s, asked))
			}
		}
	}
	return list
}

// OpenSegment gathers what is known of one. Rows are recorded in etcd at each sync only, every
// 10 minutes or 16 MB (dataNode.segment.syncPeriod, insertBufSize); DataCoord has them in memory.
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
		o.WrittenAt, o.knownAt, o.By = d.ExpireAt.Time(), asked, "DataCoord's last allocation"
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
			o.WrittenAt, o.knownAt, o.By = g.ModifiedAt, f.Now, "the streaming node's record"
		}
	}
	if o.By == "" {
		o.fromCheckpoint(f.Cluster)
	}
	if len(o.Leaders) > 0 {
		o.quiet = o.By == "" && !slices.ContainsFunc(o.Leaders, consumesInserts)
		if v := o.Leaders[0].Leader; o.Rows == 0 && len(v.Growing) > 0 {
			o.Rows = f.GrowingRowsIn(v, s.ID)
		}
	}
	o.unbegun = o.Rows == 0 && o.By == "" && len(o.Leaders) == 0 && len(f.Runtime.ShardViews(s.VChannel)) > 0
	return o
}

// consumesInserts reports whether a node takes inserts in, by Milvus's own average over the last 3 seconds
// (ratelimitutil.DefaultAvgDuration); a node that does not say may.
func consumesInserts(s model.Served) bool {
	q := QuotaOf(s.Node)
	if q == nil {
		return true
	}
	rate, ok := q.Rates["InsertConsumeThroughput"]
	return !ok || rate > 0
}

// fromCheckpoint works out when rows were last written from metadata alone. The last allocation is
// recorded with each sync; a channel's checkpoint is older than any row that is not synced yet
// (write_buffer.go: GetCheckpoint). So up to the checkpoint what is recorded is all there is.
func (o *OpenSegment) fromCheckpoint(c *model.Cluster) {
	written := o.ExpireAt.Time()
	v := c.VChannel(o.VChannel)
	if v == nil || written.IsZero() {
		return
	}
	if at := v.Checkpoint.At.Time(); at.After(written) {
		o.WrittenAt, o.knownAt, o.By = written, at, "last allocation in etcd, complete up to the channel's checkpoint"
	}
}

// growingSince is where a leader's growing segment starts.
func growingSince(v *model.LeaderView, id model.SegmentID) time.Time {
	i, ok := slices.BinarySearchFunc(v.Growing, id, func(g model.GrowingView, id model.SegmentID) int { return cmp.Compare(g.ID, id) })
	if !ok {
		return time.Time{}
	}
	return v.Growing[i].At.Time()
}

// What "nobody writes any more" means. Allocations last 2 seconds (dataCoord.segment.assignmentExpiration),
// checkpoints are written once a minute (dataNode.channel.updateChannelCheckpointInterval: 60): a checkpoint
// that is older than a few of those says that rows wait for a sync, or that the channel is stuck.
const (
	idleGrace       = 2 * time.Minute
	checkpointGrace = 3 * time.Minute
)

// IdleFor is how long nothing was written; ok is false if it may be written right now, or
// nothing tells.
func (o *OpenSegment) IdleFor(now time.Time) (idle time.Duration, ok bool) {
	if o.WrittenAt.IsZero() || now.Sub(o.knownAt) > checkpointGrace {
		return 0, false
	}
	idle = o.knownAt.Sub(o.WrittenAt)
	return idle, idle >= idleGrace
}

// Left reports whether the segment is left alone: nothing was written for a while, or, where nobody tells
// that, it has been open for a while and nothing is written now.
func (o *OpenSegment) Left(now time.Time) bool {
	_, idle := o.IdleFor(now)
	return idle || o.quiet && !o.StartedAt.IsZero() && now.Sub(o.StartedAt) >= idleGrace
}

// Unsure reports whether the segment may have been left alone, and nothing tells whether it was.
func (o *OpenSegment) Unsure(now time.Time) bool {
	if !o.StartedAt.IsZero() && now.Sub(o.StartedAt) < idleGrace {
		return false
	}
	if written := o.ExpireAt.Time(); !written.IsZero() && now.Sub(written) < idleGrace {
		return false // it was written just now
	}
	if o.quiet && !o.StartedAt.IsZero() || o.unbegun {
		return false
	}
	return o.WrittenAt.IsZero() || now.Sub(o.knownAt) > checkpointGrace
}

// QuotaOf are the rates that a process tells for quotas, nil if it does not.
func QuotaOf(n *model.LiveNode) *model.QuotaMetrics {
	if n.System == nil {
		return nil
	}
	return n.System.Quota
}
