package view

import (
	"maps"
	"slices"
	"strconv"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// queueTopic is a topic of a message queue. Kafka reports its offsets and Pulsar its statistics; Woodpecker's
// log comes from its metadata.
type queueTopic struct {
	name, queue string
	offsets     *model.Topic // of Kafka
	stats       *model.TopicStats
	retention   *model.QueueRetention // of Pulsar, nil if unknown
	log         *model.Log
}

func queueTopics(e *Env) (list []queueTopic) {
	if w := e.Cluster.Woodpecker; w != nil {
		for _, l := range w.Logs {
			list = append(list, queueTopic{name: l.Name, queue: "woodpecker", log: l})
		}
	}
	if r := e.Cluster.Runtime; r != nil && r.Queue != nil {
		for i := range r.Queue.Topics {
			t := queueTopic{
				name: r.Queue.Topics[i].Name, queue: r.Queue.Kind, stats: r.Queue.Topics[i].Stats,
				retention: r.Queue.Retention,
			}
			if t.stats == nil {
				t.offsets = &r.Queue.Topics[i]
			}
			list = append(list, t)
		}
	}
	return list
}

// missingQueue returns the reason why data of the message queue is missing. Woodpecker needs no query
// because its metadata is in etcd.
func missingQueue(c *model.Cluster) []string {
	r := c.Runtime
	switch {
	case r == nil && c.Woodpecker != nil:
		return nil
	case r == nil:
		return []string{"the message queue was not queried"}
	case r.Queue != nil && r.Queue.Outcome != model.Answered:
		return []string{"the message queue (" + r.Queue.Kind + "): " + r.Queue.Outcome.With(r.Queue.Reason)}
	}
	if r.Queue != nil || c.Woodpecker != nil {
		return nil
	}
	for _, s := range r.Skipped {
		if s.What == "message queue" {
			return []string{"the message queue was not queried: " + s.Reason}
		}
	}
	return []string{"the message queue was not queried"}
}

// offsetColumn returns a column function for topics with offsets.
func offsetColumn(cell func(*model.Topic) int64) func(*Env, queueTopic) table.Cell {
	return func(_ *Env, t queueTopic) table.Cell {
		if t.offsets == nil {
			return none()
		}
		return count(cell(t.offsets))
	}
}

// retentionColumn returns a column function for a retention bound of Pulsar's topics. A negative bound means
// unlimited and is none.
func retentionColumn(bound func(*model.QueueRetention) int64) func(*Env, queueTopic) table.Cell {
	return func(_ *Env, t queueTopic) table.Cell {
		switch {
		case t.stats == nil:
			return none()
		case t.retention == nil:
			return unknown()
		case bound(t.retention) < 0:
			return none()
		}
		return count(bound(t.retention))
	}
}

// logColumn returns a column function for Woodpecker's logs.
func logColumn(cell func(*Env, *model.Log) table.Cell) func(*Env, queueTopic) table.Cell {
	return func(e *Env, t queueTopic) table.Cell {
		if t.log == nil {
			return none()
		}
		return cell(e, t.log)
	}
}

var topics = define(definition[queueTopic]{
	Resource: Resource{
		Schema:  table.Schema{Name: "queue-topics", Names: []string{"name"}},
		Aliases: []string{"queue", "offsets", "logs"},
		Doc:     "Topics of the message queue, if it can be queried (Kafka, Pulsar); Woodpecker's logs, from etcd.",
		Needs:   model.PartChannels | model.PartRuntime,
		Missing: missingQueue,
	},
	rows: queueTopics,
	columns: []column[queueTopic]{
		col(table.Column{Name: "name", Doc: "Name of the topic: a pchannel."}, func(_ *Env, t queueTopic) table.Cell {
			return text(t.name)
		}),
		col(table.Column{
			Name: "first_offset", Title: "FIRST", Kind: table.Int, Doc: "Offset of the oldest message kept (Kafka).",
		},
			offsetColumn(func(t *model.Topic) int64 { return t.First })),
		col(table.Column{
			Name: "end_offset", Title: "END", Kind: table.Int, Doc: "Offset that the next message gets (Kafka).",
		},
			offsetColumn(func(t *model.Topic) int64 { return t.End })),
		col(table.Column{Name: "vchannels", Kind: table.Int, Priority: 1, Doc: "Virtual channels on it."},
			func(e *Env, t queueTopic) table.Cell { return count(int64(len(vchannelsOn(e, t.name)))) }).
			withNeeds(model.PartChannels),
		col(table.Column{
			Name: "queue", Kind: table.State, Priority: 2, Doc: "The message queue: kafka, pulsar, woodpecker.",
		},
			func(_ *Env, t queueTopic) table.Cell { return text(t.queue) }),
		col(table.Column{
			Name: "segments", Kind: table.Int, Priority: 2,
			Doc: "Segments of a log that are kept: truncated ones not counted (Woodpecker).",
		},
			logColumn(func(_ *Env, l *model.Log) table.Cell {
				return count(l.Retained().Segments)
			})),
		col(table.Column{
			Name: "messages", Kind: table.Int,
			Doc: "Messages kept; of a log, those of closed segments (Woodpecker: entries). Unknown for Pulsar.",
		},
			func(_ *Env, t queueTopic) table.Cell {
				if t.log != nil {
					k := t.log.Retained()
					return atLeast(k.Entries, k.Uncounted)
				}
				if t.offsets == nil {
					return unknown()
				}
				return count(max(t.offsets.End-t.offsets.First, 0))
			}),
		col(table.Column{
			Name: "kept_bytes", Title: "KEPT", Kind: table.Bytes,
			Doc: "Bytes kept: of closed segments (Woodpecker), of the topic's ledgers (Pulsar); unknown for Kafka.",
		},
			func(_ *Env, t queueTopic) table.Cell {
				switch {
				case t.stats != nil:
					return count(t.stats.Bytes)
				case t.log == nil:
					return unknown()
				}
				k := t.log.Retained()
				return atLeast(k.Bytes, k.Uncounted)
			}),
		col(table.Column{
			Name: "uncounted_segments", Title: "UNCOUNTED", Kind: table.Int, Priority: 3,
			Doc: "Kept segments whose messages and bytes are not recorded: the one being written, and damaged ones " +
				"(Woodpecker).",
		},
			logColumn(func(_ *Env, l *model.Log) table.Cell {
				return count(l.Retained().Uncounted)
			})),
		col(table.Column{
			Name: "nodes", Kind: table.List, Show: table.Wide, Priority: 5,
			Doc: "Nodes that hold its newest segment (Woodpecker as a service).",
		},
			logColumn(func(_ *Env, l *model.Log) table.Cell { return list(lastSegment(l).Nodes) })),
		col(table.Column{
			Name: "quorum", Show: table.Wide, Priority: 5,
			Doc: "Number of these nodes that an entry is written to, and that must confirm it: 3/2 (Woodpecker as a " +
				"service).",
		},
			logColumn(func(_ *Env, l *model.Log) table.Cell {
				s := lastSegment(l)
				if s.WriteQuorum == 0 {
					return none()
				}
				return text(strconv.Itoa(int(s.WriteQuorum)) + "/" + strconv.Itoa(int(s.AckQuorum)))
			})),
		col(table.Column{
			Name: "truncated_to", Title: "TRUNCATED", Priority: 1,
			Doc: "Last truncated entry, as segment/entry; none if nothing was truncated (Woodpecker).",
		},
			logColumn(func(_ *Env, l *model.Log) table.Cell {
				if l.Truncated.Segment < 0 {
					return none()
				}
				return text(l.Truncated.String())
			})),
		col(table.Column{
			Name: "backlog_bytes", Title: "BACKLOG", Kind: table.Bytes, Show: table.Wide, Priority: 4,
			Doc: "Bytes that the slowest subscription has not acknowledged (Pulsar).",
		},
			func(_ *Env, t queueTopic) table.Cell {
				if t.stats == nil {
					return none()
				}
				return count(t.stats.BacklogBytes)
			}),
		col(table.Column{
			Name: "subscriptions", Kind: table.Int, Show: table.Wide, Priority: 4,
			Doc: "Subscriptions (Pulsar) or readers (Woodpecker); none for Kafka, where Milvus uses no groups.",
		},
			func(_ *Env, t queueTopic) table.Cell {
				switch {
				case t.stats != nil:
					return count(int64(len(t.stats.Subscriptions)))
				case t.log != nil:
					return count(int64(len(t.log.Readers)))
				}
				return none()
			}),
		col(table.Column{
			Name: "states", Kind: table.List, Show: table.Wide, Priority: 4,
			Doc: "States of its segments, with their number: Active, Completed, Sealed, Truncated; Missing and " +
				"Undecoded are damage (Woodpecker).",
		},
			logColumn(func(_ *Env, l *model.Log) table.Cell { return list(logStates(l)) })),
		col(table.Column{
			Name: "retention_seconds", Title: "RETENTION", Kind: table.Duration, Show: table.Hidden,
			Doc: "How long Pulsar keeps messages that no subscription needs; none: without bound.",
		},
			retentionColumn(func(r *model.QueueRetention) int64 { return int64(r.Time) })),
		col(table.Column{
			Name: "retention_bytes", Title: "RETAINED UP TO", Kind: table.Bytes, Show: table.Hidden,
			Doc: "Bytes of such messages that Pulsar keeps per topic; none: without bound.",
		},
			retentionColumn(func(r *model.QueueRetention) int64 { return r.Bytes })),
		col(table.Column{
			Name: "created_at", Title: "CREATED", Kind: table.Time, Show: table.Hidden,
			Doc: "When the log was created (Woodpecker).",
		},
			logColumn(func(_ *Env, l *model.Log) table.Cell { return timeCell(l.Created) })),
		col(table.Column{
			Name: "modified_at", Title: "MODIFIED", Kind: table.Time, Show: table.Wide, Priority: 4,
			Doc: "When its record was last written: by a truncation (Woodpecker).",
		},
			logColumn(func(_ *Env, l *model.Log) table.Cell { return timeCell(l.Modified) })),
	},
	ref: func(_ *Env, t queueTopic) Ref { return Ref{ID: t.name, Name: t.name} },
	links: func(_ *Env, t queueTopic) []Link {
		return []Link{link("vchannels", "vchannels", "pchannel="+t.name), link("positions", "wal", "pchannel="+t.name)}
	},
})

// lastSegment returns the last segment of a log, which is or was written last. It returns a zero segment if
// there are none.
func lastSegment(l *model.Log) model.LogSegment {
	if len(l.Segments) == 0 {
		return model.LogSegment{}
	}
	return l.Segments[len(l.Segments)-1]
}

// atLeast returns the cell of a count that excludes uncounted segments. It is unknown if all segments are
// uncounted.
func atLeast(n, uncounted int64) table.Cell {
	if n == 0 && uncounted > 0 {
		return unknown()
	}
	return count(n)
}

// logStates returns the states of a log's segments with their counts, e.g. "Active 1".
func logStates(l *model.Log) []string {
	counts := map[string]int64{}
	for i := range l.Segments {
		counts[l.Segments[i].State]++
	}
	var out []string
	for _, state := range []string{
		model.LogActive, model.LogCompleted, model.LogSealed, model.LogTruncated, model.LogUndecoded, model.LogMissing,
	} {
		if n := counts[state]; n > 0 {
			out = append(out, state+" "+strconv.FormatInt(n, 10))
			delete(counts, state)
		}
	}
	for _, state := range slices.Sorted(maps.Keys(counts)) { // states of a newer Woodpecker
		out = append(out, state+" "+strconv.FormatInt(counts[state], 10))
	}
	return out
}
