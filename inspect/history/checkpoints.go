package history

import (
	"maps"
	"slices"
	"time"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// A checkpoint is written every few seconds to every minute. A single write is not an event, but the lack of
// writes is.
const (
	// A checkpoint has stopped after stopFactor the longest of its last intervals, and after at least
	// minStop (in nanoseconds). Checkpoints of an idle 2.3.5 are written once a minute.
	stopFactor   = 3
	minStop      = int64(2 * time.Minute)
	maxIntervals = 5
	// minHeldStop replaces minStop while a segment of the channel grows. Rows in the segment that are not in
	// storage hold the checkpoint, until a data node writes them after at most ten minutes
	// (dataNode.segment.syncPeriod).
	minHeldStop = int64(11 * time.Minute)
)

// checkpointState holds the recent movement of a vchannel's checkpoint.
type checkpointState struct {
	// exists reports whether the checkpoint exists. Without a checkpoint, only growing is valid.
	exists     bool
	collection model.CollectionID
	at         model.TSO
	// revision is the revision of the last move, and movedAt its time by the clock so far, in Unix nanoseconds; 0
	// before the first observed move.
	revision, movedAt int64
	intervals         [maxIntervals]int64
	next              int
	// hadGrowing means that a segment of the channel has grown since the last move.
	hadGrowing bool

	// growing is the number of segments that currently take rows from the vchannel.
	growing int
}

func vchannelRef(name string) model.Ref { return ref("vchannels", name) }

// checkpoint returns the checkpointState of a vchannel.
func (r *Reader) checkpoint(vchannel string) *checkpointState {
	p := r.checkpoints[vchannel]
	if p == nil {
		p = &checkpointState{}
		r.checkpoints[vchannel] = p
	}
	return p
}

// takeCheckpoint applies a position. A position that is rewritten without an advance does not count as a move.
func (r *Reader) takeCheckpoint(x *meta.DecodedKey, v *model.VChannel) {
	p, at := r.checkpoint(v.Name), v.Checkpoint.At
	switch {
	case x.Deleted || at == model.MaxTSO: // the channel was dropped
		*p = checkpointState{growing: p.growing}
		return
	case !p.exists:
		p.exists, p.collection = true, v.Collection
	case at <= p.at:
		return
	case p.movedAt == 0:
	default:
		r.checkpointMoved(v.Name, p, r.now-p.movedAt)
	}
	p.at, p.revision, p.movedAt, p.hadGrowing = at, r.revision, r.now, p.growing > 0
}

// checkpointMoved reports the end of a stop, or records the interval.
func (r *Reader) checkpointMoved(name string, p *checkpointState, interval int64) {
	if r.stopped(p, interval) {
		r.emit(r.stopEvent(name, p, interval))
		r.emit(occurrence{
			kind: checkpointResumed, object: vchannelRef(name), collection: p.collection,
			detail: "after " + words.Span(time.Duration(interval)),
		})
	} else if interval <= minStop { // an interval of a held checkpoint is not typical
		p.intervals[p.next] = interval
		p.next = (p.next + 1) % maxIntervals
	}
}

// stopped reports whether an interval without a move is unusually long. Checkpoints of dropped collections never
// move, so they do not count.
func (r *Reader) stopped(p *checkpointState, interval int64) bool {
	least := minStop
	if p.hadGrowing {
		least = minHeldStop
	}
	if interval <= least { // nearly always
		return false
	}
	usual := int64(0)
	for _, i := range p.intervals {
		usual = max(usual, i)
	}
	return interval > stopFactor*usual && (p.collection == 0 || r.live[p.collection])
}

func (r *Reader) stopEvent(name string, p *checkpointState, interval int64) occurrence {
	return occurrence{
		kind: checkpointStopped, object: vchannelRef(name), collection: p.collection, at: p.revision,
		after: p.at.Time().Format(time.RFC3339), detail: "no update for " + words.Span(time.Duration(interval)),
	}
}

// beginCheckpoints sets the time of all existing positions to the start, because the times of their writes are
// unknown. A stop is therefore measured from the start.
func (r *Reader) beginCheckpoints() {
	for _, p := range r.checkpoints {
		if p.exists {
			p.movedAt, p.hadGrowing = r.now, p.growing > 0
		}
	}
}

// ongoingStops returns the stops that last, sorted by vchannel.
func (r *Reader) ongoingStops() []occurrence {
	var list []occurrence
	for _, name := range slices.Sorted(maps.Keys(r.checkpoints)) {
		if p := r.checkpoints[name]; p.movedAt > 0 && r.stopped(p, r.now-p.movedAt) {
			list = append(list, r.stopEvent(name, p, r.now-p.movedAt))
		}
	}
	return list
}
