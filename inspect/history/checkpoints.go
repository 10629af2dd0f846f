package history

import (
	"maps"
	"slices"
	"time"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// A checkpoint is written every few seconds to a minute: a single write is no news, that none comes is.
const (
	// stoppedTimes is how many of the longest of the last intervals make a stop, stoppedLeast how long it is at least: checkpoints of
	// an idle 2.3.5 are written once a minute.
	stoppedTimes = 3
	stoppedLeast = int64(2 * time.Minute)
	paceKept     = 5
	// heldLeast is how long a stop is while a segment of the channel grows: rows in it that are not yet in storage hold the checkpoint,
	// until a data node writes them after ten minutes at the latest (dataNode.segment.syncPeriod).
	heldLeast = int64(11 * time.Minute)
)

// pace is how the checkpoint of a vchannel moved of late.
type pace struct {
	// there says that there is a checkpoint: else only what follows behind the blank line is known.
	there      bool
	collection model.CollectionID
	at         model.TSO
	// revision is that of the last move, moved its time by the clock so far; 0 before the first that was seen.
	revision, moved int64
	intervals       [paceKept]int64
	next            int
	// held says that a segment of the channel has grown since the last move.
	held bool

	// growing are the segments that take rows from it now.
	growing int
}

func vchannelRef(name string) model.Ref { return ref("vchannels", name) }

// pace returns that of a vchannel.
func (r *Reader) pace(vchannel string) *pace {
	p := r.paces[vchannel]
	if p == nil {
		p = &pace{}
		r.paces[vchannel] = p
	}
	return p
}

// takeCheckpoint takes a position in. One that is written again without moving on is none.
func (r *Reader) takeCheckpoint(x *meta.Single, v *model.VChannel) {
	p, at := r.pace(v.Name), v.Checkpoint.At
	switch {
	case x.Gone || at == model.MaxTSO: // of a channel that was dropped
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

// moved tells of a stop that is over, or remembers the interval.
func (r *Reader) moved(name string, p *pace, after int64) {
	if r.stopped(p, after) {
		r.tell(r.stop(name, p, after))
		r.tell(news{kind: checkpointResumed, object: vchannelRef(name), collection: p.collection, detail: "after " + words.Span(time.Duration(after))})
	} else if after <= stoppedLeast { // one that was held is not usual
		p.intervals[p.next] = after
		p.next = (p.next + 1) % paceKept
	}
}

// stopped reports whether so long without a move is no usual interval. Checkpoints of what was dropped stay where they are.
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
		after: p.at.Time().Format(time.RFC3339), detail: "none for " + words.Span(time.Duration(after)),
	}
}

// beginCheckpoints has the time of all positions of before begin now: when they were written is not known, so that a stop is told
// of when it was that long since then.
func (r *Reader) beginCheckpoints() {
	for _, p := range r.paces {
		if p.there {
			p.moved, p.held = r.now, p.growing > 0
		}
	}
}

// standing returns the stops that last, in order of vchannels.
func (r *Reader) standing() []news {
	var list []news
	for _, name := range slices.Sorted(maps.Keys(r.paces)) {
		if p := r.paces[name]; p.moved > 0 && r.stopped(p, r.now-p.moved) {
			list = append(list, r.stop(name, p, r.now-p.moved))
		}
	}
	return list
}
