package view

import (
	"strconv"
	"time"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// Positions in a write-ahead log, from the newest write to the oldest message.
const (
	walWritten   = "Written"          // the end of the log
	walConsumed  = "Consumed"         // read up to here by the flusher of its streaming node
	walRecovered = model.WALRecovered // in the streaming node's checkpoint up to here; recovery starts here
	walFlushed   = "Flushed"          // flushed to storage up to here, for one vchannel
	walTruncated = "Truncated"        // the queue may delete up to here
	walOldest    = "OldestKept"       // the first message in the queue
)

// walPosition is one position of one log.
type walPosition struct {
	pchannel, vchannel, stage string
	checkpoint                model.Checkpoint
	// tick is the time from the metrics of the streaming node (model.WAL), zero if missing.
	tick time.Time
	// entry is the position in a Woodpecker log, otherwise nil.
	entry *model.LogPosition
	// open is true if the segment is being written, so its last entry is not recorded.
	open bool
	// offset is the message's offset in a Kafka topic, if numbered is true.
	offset   int64
	numbered bool
	// log is the log of Woodpecker, topic that of Kafka. Both are nil if the queue's data is missing.
	log   *model.Log
	topic *model.Topic
}

func walPositions(e *Env) (rows []walPosition) {
	numbers := numbersMessages(e.Cluster)
	for _, p := range naturalOrder(e.Cluster.PChannels, func(p *model.PChannel) string { return p.Name }) {
		log, topic := e.Cluster.Woodpecker.Log(p.Name), e.Cluster.Runtime.Topic(p.Name)
		told, _ := walOf(e, p)
		add := func(x walPosition) {
			x.pchannel, x.log, x.topic = p.Name, log, topic
			if at, ok := x.checkpoint.Offset(); ok && (numbers || x.checkpoint.Queue != "") {
				x.offset, x.numbered = at, true
			}
			rows = append(rows, x)
		}
		addWritten(told, log, topic, add)
		if told != nil && !told.Flushed.IsZero() {
			add(walPosition{stage: walConsumed, tick: told.Flushed})
		}
		switch recorded := p.Checkpoint.At != 0 || len(p.Checkpoint.Message) > 0; {
		case recorded:
			add(walPosition{stage: walRecovered, checkpoint: p.Checkpoint, entry: p.Checkpoint.Entry})
		case told != nil && !told.Persisted.IsZero():
			add(walPosition{stage: walRecovered, tick: told.Persisted})
		}
		for _, v := range vchannelsOn(e, p.Name) {
			if v.Checkpoint.At != 0 {
				add(walPosition{
					stage: walFlushed, vchannel: v.Name, checkpoint: v.Checkpoint, entry: v.Checkpoint.Entry,
				})
			}
		}
		if log != nil && log.Truncated.Segment >= 0 {
			add(walPosition{stage: walTruncated, entry: &log.Truncated})
		}
		if first, ok := log.Oldest(); ok {
			add(walPosition{stage: walOldest, entry: &first})
		} else if topic != nil {
			add(walPosition{stage: walOldest, offset: topic.First, numbered: true})
		}
	}
	return rows
}

// numbersMessages reports whether message ids of checkpoints that do not name their queue are numbers.
func numbersMessages(c *model.Cluster) bool {
	pulsar := c.Runtime != nil && c.Runtime.Queue != nil && c.Runtime.Queue.Kind == "pulsar"
	return !pulsar && c.MessageIDSize() == model.OffsetSize
}

// addWritten adds the end of a log, from the queue or from the metrics of its streaming node. The metrics
// have only the time, not the message.
func addWritten(reported *model.WAL, log *model.Log, topic *model.Topic, add func(walPosition)) {
	x := walPosition{stage: walWritten}
	if reported != nil {
		x.tick = reported.Confirmed
	}
	switch {
	case log != nil && len(log.Segments) > 0:
		if last := &log.Segments[len(log.Segments)-1]; !last.Closed() {
			x.entry, x.open = &model.LogPosition{Segment: last.ID}, true
		} else if end, ok := log.End(); ok {
			x.entry = &end
		}
	case topic != nil:
		x.offset, x.numbered = topic.End, true
	case x.tick.IsZero():
		return
	}
	add(x)
}

// time returns the time of a position from the checkpoint, otherwise from the metrics. It is zero if both are
// missing.
func (w *walPosition) time() time.Time {
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

// behind returns the messages and bytes after a position, and the number of segments after it without
// recorded counts. A count that is unknown is -1.
func (w *walPosition) behind() (messages, bytes, uncounted int64) {
	switch {
	case w.log != nil && w.entry != nil:
		return w.log.Behind(*w.entry)
	case w.topic != nil && w.numbered:
		return max(0, w.topic.End-w.offset), -1, 0
	}
	return -1, -1, -1
}

// walBehind returns a column function for a count after a position. The cell is unknown if nothing can be
// counted, or if all that follows is in uncounted segments.
func walBehind(cell func(messages, bytes int64) int64) func(*Env, walPosition) table.Cell {
	return func(_ *Env, w walPosition) table.Cell {
		if w.stage == walWritten {
			return none()
		}
		messages, bytes, uncounted := w.behind()
		switch n := cell(messages, bytes); {
		case n < 0:
			return unknown()
		case messages == 0:
			return atLeast(0, uncounted)
		default:
			return count(n)
		}
	}
}

var wal = define(definition[walPosition]{
	Resource: Resource{
		Schema: table.Schema{
			Name: "wal", Singular: "wal-position", Names: []string{"name"}, Handle: "name", Slashes: true,
		},
		Aliases: []string{"wal-positions"},
		Kind:    "WALPosition",
		Doc: "Positions of each write-ahead log, from what clients wrote to what is truncated: in time, messages " +
			"and bytes.",
		Needs:   model.PartObjects | model.PartServing | model.PartChannels | model.PartRuntime,
		Missing: missingQueue,
	},
	rows: walPositions,
	columns: []column[walPosition]{
		col(table.Column{Name: "name", Show: table.Hidden, Doc: "Name of the position: pchannel, stage and vchannel."},
			func(_ *Env, w walPosition) table.Cell { return text(w.name()) }),
		col(table.Column{Name: "pchannel", Doc: "Name of the physical channel: the log."},
			func(_ *Env, w walPosition) table.Cell { return text(w.pchannel) }),
		col(table.Column{
			Name: "stage", Kind: table.State,
			Doc: "Written: the end of the log. Consumed: the flusher of its streaming node has read up to here (from " +
				"metrics, 2.6). Recovered: a streaming node starts from here. Flushed: everything of a vchannel " +
				"before it is in storage. Truncated: the queue may delete up to here. OldestKept: the first message " +
				"that the queue has.",
		},
			func(_ *Env, w walPosition) table.Cell { return text(w.stage) }),
		col(table.Column{
			Name: "vchannel", Priority: 2,
			Doc: "The vchannel whose checkpoint it is; none for the log as a whole.",
		},
			func(_ *Env, w walPosition) table.Cell { return text(w.vchannel) }),
		col(table.Column{
			Name: "position",
			Doc: "The message, as segment/entry of Woodpecker's log (? is an entry not recorded while its segment is " +
				"being written), or as offset in Kafka's topic (at the end, of the next message). Unknown for other " +
				"queues.",
		},
			func(_ *Env, w walPosition) table.Cell {
				switch {
				case w.numbered:
					return text(strconv.FormatInt(w.offset, 10))
				case w.entry == nil:
					return unknown()
				case w.open:
					return text(strconv.FormatInt(w.entry.Segment, 10) + "/?")
				}
				return text(w.entry.String())
			}),
		col(table.Column{
			Name: "at", Kind: table.Time, Show: table.Wide, Priority: 3,
			Doc: "Time of that message, if a checkpoint or a metric of its streaming node has it.",
		},
			func(_ *Env, w walPosition) table.Cell { return timeOfPosition(w, timeCell(w.time())) }),
		col(table.Column{
			Name: "age_seconds", Kind: table.Duration, Priority: 1,
			Doc: "Time since then: how far it is behind the clock.",
		},
			func(e *Env, w walPosition) table.Cell { return timeOfPosition(w, age(e, w.time())) }),
		col(table.Column{
			Name: "behind_messages", Title: "BEHIND", Kind: table.Int,
			Doc: "Messages after it: up to the end of Kafka's topic, in closed segments of Woodpecker's log. Where " +
				"segments are uncounted there are more.",
		},
			walBehind(func(messages, _ int64) int64 { return messages })),
		col(table.Column{
			Name: "behind_bytes", Title: "BYTES BEHIND", Kind: table.Bytes,
			Doc: "Bytes of these (Woodpecker); of its own segment, in proportion.",
		},
			walBehind(func(_, bytes int64) int64 { return bytes })),
		uncountedAfter(func(w walPosition) int64 {
			if w.stage == walWritten {
				return -1
			}
			_, _, uncounted := w.behind()
			return uncounted
		}),
	},
	ref: func(_ *Env, w walPosition) Ref {
		return Ref{ID: w.name(), Name: w.name()}
	},
	links: func(_ *Env, w walPosition) []Link {
		return []Link{
			link("pchannel", "pchannels", "name="+w.pchannel), link("topic", "queue-topics", "name="+w.pchannel),
		}
	},
})

// timeOfPosition returns c, or unknown if neither the checkpoint nor the metrics have the time.
func timeOfPosition(w walPosition, c table.Cell) table.Cell {
	if w.time().IsZero() {
		return unknown()
	}
	return c
}

// uncountedAfter returns the column with the number of segments after a position without recorded counts. If
// it is not 0, more messages follow than are counted. A negative number is none.
func uncountedAfter[T any](of func(T) int64) column[T] {
	return col(table.Column{
		Name: "uncounted_segments", Title: "UNCOUNTED", Kind: table.Int, Priority: 2,
		Doc: "Segments after it whose messages and bytes are not recorded: the one being written, and damaged ones " +
			"(Woodpecker). The values are then lower bounds.",
	},
		func(_ *Env, row T) table.Cell {
			if n := of(row); n >= 0 {
				return count(n)
			}
			return none()
		})
}
