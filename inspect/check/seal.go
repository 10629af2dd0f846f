package check

import (
	"cmp"
	"slices"
	"time"

	"kitescope/inspect/model"
)

// sealPolicy is when DataCoord closes a growing segment (segment_allocation_policy.go): at a part of
// its largest size, at an age, or when nothing was written for a while and it is not too small.
type sealPolicy struct {
	maxSize    float64 // MB of a full segment
	proportion float64
	maxLife    time.Duration
	maxIdle    time.Duration
	minSize    float64 // MB, below which a segment is never closed for being idle
	from       string
	known      bool // not only the version's defaults
}

// sealPolicy reads the policy from the cluster's own configuration. Defaults are those of configs/milvus.yaml: maxSize
// 512 and sealProportion 0.25 in 2.1, 512 and 0.23 in 2.2 and 2.3, 1024 and 0.12 since 2.4; the others are
// the same in all: maxLife 86400, maxIdleTime 600, minSizeFromIdleToSealed 16.
func (p *Facts) sealPolicy() sealPolicy {
	maxSize, proportion := 1024.0, 0.12
	switch r := releaseOf(p.Cluster); {
	case r.before(release{2, 2}):
		maxSize, proportion = 512, 0.25
	case r.before(release{2, 4}):
		maxSize, proportion = 512, 0.23
	}
	roles := dataCoords()
	const prefix = "dataCoord.segment."
	var s sealPolicy
	s.maxSize, s.from = p.setting(prefix+"maxSize", maxSize, roles...)
	s.proportion, _ = p.setting(prefix+"sealProportion", proportion, roles...)
	life, _ := p.setting(prefix+"maxLife", 86400, roles...)
	idle, _ := p.setting(prefix+"maxIdleTime", 600, roles...)
	s.minSize, _ = p.setting(prefix+"minSizeFromIdleToSealed", 16, roles...)
	_, s.known = p.Setting(prefix+"maxSize", roles...)
	s.maxLife, s.maxIdle = time.Duration(life*float64(time.Second)), time.Duration(idle*float64(time.Second))
	return s
}

// idleRows is how many rows a segment needs to be closed for being idle.
func (s *sealPolicy) idleRows(maxRows int64) int64 {
	if s.maxSize <= 0 {
		return 0
	}
	return int64(s.minSize / s.maxSize * float64(maxRows))
}

// sealsIdle reports whether a segment is large enough to be closed for being idle.
func (s *sealPolicy) sealsIdle(o *openSegment) bool { return o.rows > s.idleRows(o.MaxRows) }

// fullRows is at how many rows a segment is closed for being full.
func (s *sealPolicy) fullRows(maxRows int64) int64 { return int64(s.proportion * float64(maxRows)) }

// openSegment is a segment that is not flushed yet, with what anyone says about it.
type openSegment struct {
	*model.Segment
	rows int64
	// startedAt is when its first row was written, zero if nothing tells.
	startedAt time.Time
	// writtenAt is when rows were last written to it, so far as is known up to the time knownAt; both are zero
	// if nothing tells.
	writtenAt, knownAt time.Time
	// by says who told writtenAt.
	by string
	// quiet says that nothing tells when it was written, but its leaders consume no inserts at all right now.
	quiet bool
	// unbegun says that it has no rows yet: nobody recorded any, and its shard's leaders do not know it.
	unbegun bool
	// leaders are the nodes that serve it.
	leaders []model.Served
}

// openSegments are the segments of existing collections that are not flushed yet: growing, sealed and
// flushing, by collection and id.
func openSegments(p *Facts) []openSegment {
	all := p.Totals().ByState
	list := make([]openSegment, 0, all[model.SegmentGrowing]+all[model.SegmentSealed]+all[model.SegmentFlushing])
	asked := p.askedAt()
	for _, x := range p.Collections {
		if x.Dropped() {
			continue
		}
		for _, s := range p.among(x.ID, openSegs) {
			if s.Level != model.LevelL0 && !s.Importing && !s.Fake {
				list = append(list, newOpenSegment(p, s, asked))
			}
		}
	}
	return list
}

// openSegment gathers what is known of one. Rows are recorded in etcd at each sync only, every
// 10 minutes or 16 MB (dataNode.segment.syncPeriod, insertBufSize); DataCoord has them in memory.
func newOpenSegment(p *Facts, s *model.Segment, asked time.Time) openSegment {
	o := openSegment{Segment: s, rows: s.Rows, startedAt: s.StartAt.Time()}
	for _, served := range p.Runtime.Served(s.ID) {
		if served.Leader == nil {
			continue
		}
		o.leaders = append(o.leaders, served)
		if o.startedAt.IsZero() {
			o.startedAt = growingSince(served.Leader, s.ID)
		}
	}
	switch d := p.Runtime.DataSegment(s.ID); {
	case d != nil && d.ExpireAt.Time().After(o.writtenAt):
		o.rows = max(o.rows, d.Rows)
		o.writtenAt, o.knownAt, o.by = d.ExpireAt.Time(), asked, "DataCoord's last allocation"
	case d != nil:
		o.rows = max(o.rows, d.Rows)
	}
	if s.Details != nil && s.Details.Growing != nil {
		g := s.Details.Growing
		o.rows = max(o.rows, g.Rows)
		if o.startedAt.IsZero() {
			o.startedAt = g.CreatedAt
		}
		if g.ModifiedAt.After(o.writtenAt) {
			o.writtenAt, o.knownAt, o.by = g.ModifiedAt, p.Now, "the streaming node's record"
		}
	}
	if o.by == "" {
		o.fromCheckpoint(p.Cluster)
	}
	if len(o.leaders) > 0 {
		o.quiet = o.by == "" && !slices.ContainsFunc(o.leaders, consumesInserts)
		if v := o.leaders[0].Leader; o.rows == 0 && len(v.Growing) > 0 {
			o.rows = p.GrowingRowsIn(v, s.ID)
		}
	}
	o.unbegun = o.rows == 0 && o.by == "" && len(o.leaders) == 0 && len(p.Runtime.ShardViews(s.VChannel)) > 0
	return o
}

// consumesInserts reports whether a node takes inserts in, by Milvus's own average over the last 3 seconds
// (ratelimitutil.DefaultAvgDuration); a node that does not say may.
func consumesInserts(s model.Served) bool {
	q := quotaOf(s.Node)
	if q == nil {
		return true
	}
	rate, ok := q.Rates["InsertConsumeThroughput"]
	return !ok || rate > 0
}

// fromCheckpoint works out when rows were last written from metadata alone. The last allocation is
// recorded with each sync; a channel's checkpoint is older than any row that is not synced yet
// (write_buffer.go: GetCheckpoint). So up to the checkpoint what is recorded is all there is.
func (o *openSegment) fromCheckpoint(c *model.Cluster) {
	written := o.ExpireAt.Time()
	v := c.VChannel(o.VChannel)
	if v == nil || written.IsZero() {
		return
	}
	if at := v.Checkpoint.At.Time(); at.After(written) {
		o.writtenAt, o.knownAt, o.by = written, at, "last allocation in etcd, complete up to the channel's checkpoint"
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

// idleFor is how long nothing was written; ok is false if it may be written right now, or
// nothing tells.
func (o *openSegment) idleFor(now time.Time) (idle time.Duration, ok bool) {
	if o.writtenAt.IsZero() || now.Sub(o.knownAt) > checkpointGrace {
		return 0, false
	}
	idle = o.knownAt.Sub(o.writtenAt)
	return idle, idle >= idleGrace
}

// left reports whether the segment is left alone: nothing was written for a while, or, where nobody tells
// that, it has been open for a while and nothing is written now.
func (o *openSegment) left(now time.Time) bool {
	_, idle := o.idleFor(now)
	return idle || o.quiet && !o.startedAt.IsZero() && now.Sub(o.startedAt) >= idleGrace
}

// unsure reports whether the segment may have been left alone, and nothing tells whether it was.
func (o *openSegment) unsure(now time.Time) bool {
	if !o.startedAt.IsZero() && now.Sub(o.startedAt) < idleGrace {
		return false
	}
	if written := o.ExpireAt.Time(); !written.IsZero() && now.Sub(written) < idleGrace {
		return false // it was written just now
	}
	if o.quiet && !o.startedAt.IsZero() || o.unbegun {
		return false
	}
	return o.writtenAt.IsZero() || now.Sub(o.knownAt) > checkpointGrace
}

func quotaOf(n *model.LiveNode) *model.QuotaMetrics {
	if n.System == nil {
		return nil
	}
	return n.System.Quota
}
