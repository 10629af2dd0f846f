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
	// A checkpoint has stopped after stoppedTimes the longest of its last intervals, and after at least
	// stoppedLeast (in nanoseconds). Checkpoints of an idle 2.3.5 are written once a minute.
	stoppedTimes = 3
	stoppedLeast = int64(2 * time.Minute)
	paceKept     = 5
	// heldLeast replaces stoppedLeast while a segment of the channel grows. Rows in the segment that are not in
	// storage hold the checkpoint, until a data node writes them after at most ten minutes
	// (dataNode.segment.syncPeriod).
	heldLeast = int64(11 * time.Minute)
)

// pace holds the recent movement of a vchannel's checkpoint.
type pace struct {
	// there reports whether the checkpoint exists. Without a checkpoint, only growing is valid.
	there      bool
	collection model.CollectionID
	at         model.TSO
	// revision is the revision of the last move, and moved its time by the clock so far, in Unix nanoseconds; 0
	// before the first observed move.
	revision, moved int64
	intervals       [paceKept]int64
	next            int
	// held means that a segment of the channel has grown since the last move.
	held bool

	// growing is the number of segments that currently take rows from the vchannel.
	growing int
}

func vchannelRef(name string) model.Ref { return ref("vchannels", name) }

// pace returns the pace of a vchannel.
func (r *Reader) pace(vchannel string) *pace {
	p := r.paces[vchannel]
	if p == nil {
		p = &pace{}
		r.paces[vchannel] = p
	}
	return p
}

// takeCheckpoint applies a position. A position that is rewritten without an advance does not count as a move.
func (r *Reader) takeCheckpoint(x *meta.Single, v *model.VChannel) {
	p, at := r.pace(v.Name), v.Checkpoint.At
	switch {
	case x.Gone || at == model.MaxTSO: // the channel was dropped
		*p = pace{growing: p.growing}
		return
	case !p.there:
		p.there, p.collection = true, v.Collection
	case at <= p.at:
		return
	case p.moved == 0:
	default:
		r.moved(v.Name, p, r.now-p.moved)
	}
	p.at, p.revision, p.moved, p.held = at, r.revision, r.now, p.growing > 0
}

// moved reports the end of a stop, or records the interval.
func (r *Reader) moved(name string, p *pace, after int64) {
	if r.stopped(p, after) {
		r.tell(r.stop(name, p, after))
		r.tell(news{kind: checkpointResumed, object: vchannelRef(name), collection: p.collection, detail: "after " + words.Span(time.Duration(after))})
	} else if after <= stoppedLeast { // an interval of a held checkpoint is not typical
		p.intervals[p.next] = after
		p.next = (p.next + 1) % paceKept
	}
}

// stopped reports whether an interval without a move is unusually long. Checkpoints of dropped collections never
// move, so they do not count.
func (r *Reader) stopped(p *pace, after int64) bool {
	least := stoppedLeast
	if p.held {
		least = heldLeast
	}
	if after <= least { // nearly always
		return false
	}
	usual := int64(0)
	for _, i := range p.intervals {
		usual = max(usual, i)
	}
	return after > stoppedTimes*usual && (p.collection == 0 || r.live[p.collection])
}

func (r *Reader) stop(name string, p *pace, after int64) news {
	return news{
		kind: checkpointStopped, object: vchannelRef(name), collection: p.collection, at: p.revision,
		after: p.at.Time().Format(time.RFC3339), detail: "no update for " + words.Span(time.Duration(after)),
	}
}

// beginCheckpoints sets the time of all existing positions to the start, because the times of their writes are
// unknown. A stop is therefore measured from the start.
func (r *Reader) beginCheckpoints() {
	for _, p := range r.paces {
		if p.there {
			p.moved, p.held = r.now, p.growing > 0
		}
	}
}

// standing returns the stops that last, sorted by vchannel.
func (r *Reader) standing() []news {
	var list []news
	for _, name := range slices.Sorted(maps.Keys(r.paces)) {
		if p := r.paces[name]; p.moved > 0 && r.stopped(p, r.now-p.moved) {
			list = append(list, r.stop(name, p, r.now-p.moved))
		}
	}
	return list
}
