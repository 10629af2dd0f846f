package view

import (
	"strconv"
	"time"

	"kitescope/inspect/model"
	"kitescope/table"
)

// The positions of a write-ahead log, from the client's write to what is done with.
const (
	walWritten   = "Written"          // the end of the log
	walConsumed  = "Consumed"         // up to here the flusher of its streaming node has read it
	walRecovered = model.WALRecovered // up to here a streaming node has all in its own checkpoint, and starts from there
	walFlushed   = "Flushed"          // up to here all of one vchannel is in storage
	walTruncated = "Truncated"        // up to here the queue may delete
	walKept      = "OldestKept"       // the first message that the queue has
)

// walPosition is one position of one log.
type walPosition struct {
	pchannel, vchannel, stage string
	checkpoint                model.Checkpoint
	// tick is its time in the metrics of the streaming node (model.WAL), zero where they do not tell it.
	tick time.Time
	// entry is nil where the position is not one of a Woodpecker's log.
	entry *model.LogPosition
	// open: the segment is written, and its last entry not recorded.
	open bool
	log  *model.Log
}

func walPositions(e *Env) (rows []walPosition) {
	for _, p := range counted(e.Cluster.PChannels, func(p *model.PChannel) string { return p.Name }) {
		log := e.Cluster.Woodpecker.Log(p.Name)
		told, _ := walOf(e, p)
		add := func(x walPosition) {
			x.pchannel, x.log = p.Name, log
			rows = append(rows, x)
		}
		if log != nil && len(log.Segments) > 0 {
			end, ok := log.End()
			x := walPosition{stage: walWritten, entry: &end}
			if last := &log.Segments[len(log.Segments)-1]; !last.Closed() {
				x.entry, x.open = &model.LogPosition{Segment: last.ID}, true
			} else if !ok {
				x.entry = nil
			}
			if told != nil {
				x.tick = told.Confirmed
			}
			add(x)
		}
		addTicks(told, log, p, add)
		if p.Checkpoint.At != 0 || len(p.Checkpoint.Message) > 0 {
			add(walPosition{stage: walRecovered, checkpoint: p.Checkpoint, entry: p.Checkpoint.Entry})
		}
		for _, v := range vchannelsOn(e, p.Name) {
			if v.Checkpoint.At != 0 {
				add(walPosition{stage: walFlushed, vchannel: v.Name, checkpoint: v.Checkpoint, entry: v.Checkpoint.Entry})
			}
		}
		if log != nil && log.Truncated.Segment >= 0 {
			add(walPosition{stage: walTruncated, entry: &log.Truncated})
		}
		if first, ok := log.Oldest(); ok {
			add(walPosition{stage: walKept, entry: &first})
		}
	}
	return rows
}

// addTicks adds the positions that only a streaming node's metrics tell: as times, without a message.
func addTicks(w *model.WAL, log *model.Log, p *model.PChannel, add func(walPosition)) {
	if w == nil {
		return
	}
	if !w.Confirmed.IsZero() && (log == nil || len(log.Segments) == 0) {
		add(walPosition{stage: walWritten, tick: w.Confirmed})
	}
	if !w.Flushed.IsZero() {
		add(walPosition{stage: walConsumed, tick: w.Flushed})
	}
	if !w.Persisted.IsZero() && p.Checkpoint.At == 0 && len(p.Checkpoint.Message) == 0 {
		add(walPosition{stage: walRecovered, tick: w.Persisted})
	}
}

// at is the time of a position: a checkpoint's, else a metric's. Zero is not told.
func (w *walPosition) at() time.Time {
	if w.checkpoint.At != 0 {
		return w.checkpoint.At.Time()
	}
	return w.tick
}

func (w *walPosition) name() string {
	name := w.pchannel + "/" + w.stage
	if w.vchannel != "" {
		name += "/" + w.vchannel
	}
	return name
}

// walBehind is a cell of what lies behind a position; unknown where nothing can be counted, or the log goes on in a segment that is
// written and the position is in it.
func walBehind(cell func(entries, bytes int64) int64) func(*Env, walPosition) table.Cell {
	return func(_ *Env, w walPosition) table.Cell {
		switch {
		case w.stage == walWritten:
			return none()
		case w.log == nil || w.entry == nil:
			return unknown()
		}
		entries, bytes, uncounted := w.log.Behind(*w.entry)
		if entries == 0 {
			return atLeast(0, uncounted)
		}
		return count(cell(entries, bytes))
	}
}

var wal = define(definition[walPosition]{
	Resource: Resource{
		Schema: table.Schema{
			Name: "wal", Singular: "wal-position", Names: []string{"name"}, Handle: "name", Slashes: true,
			Shorthands: map[string]string{"age": "age_seconds"},
		},
		Aliases: []string{"wal-positions"},
		Kind:    "WALPosition",
		Doc:     "Positions of each write-ahead log, from what clients wrote to what is truncated: in time, messages and bytes.",
		Needs:   model.PartObjects | model.PartServing | model.PartChannels,
	},
	rows: walPositions,
	columns: []column[walPosition]{
		col(table.Column{Name: "name", Show: table.Hidden, Doc: "Name of the position: pchannel, stage and vchannel."}, func(_ *Env, w walPosition) table.Cell { return text(w.name()) }),
		col(table.Column{Name: "pchannel", Doc: "Name of the physical channel: the log."}, func(_ *Env, w walPosition) table.Cell { return text(w.pchannel) }),
		col(table.Column{Name: "stage", Kind: table.State, Doc: "Written: the end of the log. Consumed: the flusher of its streaming node has read up to here (from metrics, 2.6). Recovered: a streaming node starts from here. Flushed: all of a vchannel before is in storage. Truncated: the queue may delete up to here. OldestKept: the first message that it has."},
			func(_ *Env, w walPosition) table.Cell { return text(w.stage) }),
		col(table.Column{Name: "vchannel", Priority: 2, Doc: "The vchannel whose checkpoint it is; none of the log as a whole."},
			func(_ *Env, w walPosition) table.Cell { return text(w.vchannel) }),
		col(table.Column{Name: "position", Doc: "The message, as segment/entry of Woodpecker's log; ? is an entry that is not recorded while its segment is written. Unknown of other queues."},
			func(_ *Env, w walPosition) table.Cell {
				switch {
				case w.entry == nil:
					return unknown()
				case w.open:
					return text(strconv.FormatInt(w.entry.Segment, 10) + "/?")
				}
				return text(w.entry.String())
			}),
		col(table.Column{Name: "at", Kind: table.Time, Show: table.Wide, Priority: 3, Doc: "The time of that message, where a checkpoint or a metric of its streaming node has it."},
			func(_ *Env, w walPosition) table.Cell { return timeOfPosition(w, at(w.at())) }),
		col(table.Column{Name: "age_seconds", Kind: table.Duration, Priority: 1, Doc: "Time since then: how far it is behind the clock."},
			func(e *Env, w walPosition) table.Cell { return timeOfPosition(w, age(e, w.at())) }),
		col(table.Column{Name: "behind_messages", Title: "BEHIND", Kind: table.Int, Doc: "Messages in closed segments after it (Woodpecker); at least so many while a segment is written."},
			walBehind(func(entries, _ int64) int64 { return entries })),
		col(table.Column{Name: "behind_bytes", Title: "BYTES BEHIND", Kind: table.Bytes, Doc: "Bytes of these; of the segment that it lies in, its part."},
			walBehind(func(_, bytes int64) int64 { return bytes })),
	},
	ref: func(_ *Env, w walPosition) Ref {
		return Ref{ID: w.name(), Name: w.name()}
	},
	links: func(_ *Env, w walPosition) []Link {
		return []Link{link("pchannel", "pchannels", "name="+w.pchannel), link("topic", "queue-topics", "name="+w.pchannel)}
	},
})

// timeOfPosition is unknown where neither a checkpoint nor a metric has the time.
func timeOfPosition(w walPosition, c table.Cell) table.Cell {
	if w.at().IsZero() {
		return unknown()
	}
	return c
}
