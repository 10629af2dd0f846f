package view

import (
	"cmp"
	"slices"
	"strconv"

	"kitescope/inspect/model"
	"kitescope/table"
)

// queueTopic is a topic as one of the queues tells it: Kafka by its offsets, Woodpecker by its metadata.
type queueTopic struct {
	name, queue string
	offsets     *model.Topic
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
			list = append(list, queueTopic{name: r.Queue.Topics[i].Name, queue: r.Queue.Kind, offsets: &r.Queue.Topics[i]})
		}
	}
	return list
}

// offset is a cell of a topic that has offsets.
func offset(cell func(*model.Topic) int64) func(*Env, queueTopic) table.Cell {
	return func(_ *Env, t queueTopic) table.Cell {
		if t.offsets == nil {
			return none()
		}
		return count(cell(t.offsets))
	}
}

// ofLog is a cell of a topic that is a log of Woodpecker's.
func ofLog(cell func(*Env, *model.Log) table.Cell) func(*Env, queueTopic) table.Cell {
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
		Doc:     "Topics of the message queue: Kafka's, where the brokers can be asked, and Woodpecker's logs, from etcd.",
		Needs:   model.PartChannels | model.PartRuntime,
	},
	rows: queueTopics,
	columns: []column[queueTopic]{
		col(table.Column{Name: "name", Doc: "Name of the topic: a pchannel."}, func(_ *Env, t queueTopic) table.Cell { return text(t.name) }),
		col(table.Column{Name: "first_offset", Title: "FIRST", Kind: table.Int, Doc: "Offset of the oldest message kept (Kafka)."},
			offset(func(t *model.Topic) int64 { return t.First })),
		col(table.Column{Name: "end_offset", Title: "END", Kind: table.Int, Doc: "Offset that the next message gets (Kafka)."},
			offset(func(t *model.Topic) int64 { return t.End })),
		col(table.Column{Name: "vchannels", Kind: table.Int, Priority: 1, Doc: "Virtual channels on it."},
			func(e *Env, t queueTopic) table.Cell { return count(int64(len(vchannelsOn(e, t.name)))) }).needing(model.PartChannels),
		col(table.Column{Name: "queue", Kind: table.State, Priority: 2, Doc: "The message queue: kafka, woodpecker."},
			func(_ *Env, t queueTopic) table.Cell { return text(t.queue) }),
		col(table.Column{Name: "segments", Kind: table.Int, Priority: 2, Doc: "Segments of a log that are kept: truncated ones not counted (Woodpecker)."},
			ofLog(func(_ *Env, l *model.Log) table.Cell {
				segments, _, _, _ := l.Kept()
				return count(segments)
			})),
		col(table.Column{Name: "messages", Kind: table.Int, Doc: "Messages kept; of a log, those of closed segments (Woodpecker: entries)."},
			func(_ *Env, t queueTopic) table.Cell {
				if t.log != nil {
					_, entries, _, _ := t.log.Kept()
					return count(entries)
				}
				return count(max(t.offsets.End-t.offsets.First, 0))
			}),
		col(table.Column{Name: "kept_bytes", Title: "KEPT", Kind: table.Bytes, Doc: "Bytes of the closed segments that are kept (Woodpecker); unknown of Kafka."},
			func(_ *Env, t queueTopic) table.Cell {
				if t.log == nil {
					return unknown()
				}
				_, _, bytes, _ := t.log.Kept()
				return count(bytes)
			}),
		col(table.Column{Name: "uncounted_segments", Title: "UNCOUNTED", Kind: table.Int, Priority: 3, Doc: "Kept segments whose messages and bytes are not recorded: one that is written, and damaged ones (Woodpecker)."},
			ofLog(func(_ *Env, l *model.Log) table.Cell {
				n := 0
				for i := range l.Segments {
					if !l.Segments[i].Closed() {
						n++
					}
				}
				return count(int64(n))
			})),
		col(table.Column{Name: "truncated_to", Title: "TRUNCATED", Priority: 1, Doc: "Last entry that is done with, as segment/entry; none if nothing is (Woodpecker)."},
			ofLog(func(_ *Env, l *model.Log) table.Cell {
				if l.Truncated.Segment < 0 {
					return none()
				}
				return text(l.Truncated.String())
			})),
		col(table.Column{Name: "states", Kind: table.List, Show: table.Wide, Priority: 4, Doc: "States of its segments, with their number: Active, Completed, Sealed, Truncated; Missing and Undecoded are damage (Woodpecker)."},
			ofLog(func(_ *Env, l *model.Log) table.Cell { return list(logStates(l)) })),
		col(table.Column{Name: "modified_at", Title: "MODIFIED", Kind: table.Time, Show: table.Wide, Priority: 4, Doc: "When its record was last written: by a truncation (Woodpecker)."},
			ofLog(func(_ *Env, l *model.Log) table.Cell { return at(l.Modified) })),
	},
	ref: func(_ *Env, t queueTopic) Ref { return Ref{ID: t.name, Name: t.name} },
	links: func(_ *Env, t queueTopic) []Link {
		return []Link{link("vchannels", "vchannels", "pchannel="+t.name), link("positions", "wal", "pchannel="+t.name)}
	},
})

// logStates are the states of a log's segments, with how many have each.
func logStates(l *model.Log) []string {
	counts := map[string]int64{}
	for i := range l.Segments {
		counts[l.Segments[i].State]++
	}
	var out []string
	for _, state := range []string{model.LogActive, model.LogCompleted, model.LogSealed, model.LogTruncated, model.LogUnread, model.LogMissing} {
		if n := counts[state]; n > 0 {
			out = append(out, state+" "+strconv.FormatInt(n, 10))
			delete(counts, state)
		}
	}
	for state, n := range counts { // of a newer Woodpecker
		out = append(out, state+" "+strconv.FormatInt(n, 10))
	}
	return out
}

// queueSubscription is a reader of a topic.
type queueSubscription struct {
	topic, queue string
	log          *model.Log
	reader       *model.LogReader
}

var subscriptions = define(definition[queueSubscription]{
	Resource: Resource{
		Schema:  table.Schema{Name: "queue-subscriptions", Names: []string{"name"}, Slashes: true},
		Aliases: []string{"subscriptions", "readers"},
		Doc:     "Who reads the topics of the message queue: Woodpecker's readers, from etcd.",
		Needs:   model.PartChannels,
	},
	rows: func(e *Env) (list []queueSubscription) {
		if w := e.Cluster.Woodpecker; w != nil {
			for _, l := range w.Logs {
				for i := range l.Readers {
					list = append(list, queueSubscription{l.Name, "woodpecker", l, &l.Readers[i]})
				}
			}
		}
		slices.SortStableFunc(list, func(a, b queueSubscription) int { return cmp.Compare(a.topic, b.topic) })
		return list
	},
	columns: []column[queueSubscription]{
		col(table.Column{Name: "name", Shorten: true, Doc: "Name of the reader."}, func(_ *Env, s queueSubscription) table.Cell { return text(s.reader.Name) }),
		col(table.Column{Name: "topic", Doc: "Name of the topic: a pchannel."}, func(_ *Env, s queueSubscription) table.Cell { return text(s.topic) }),
		col(table.Column{Name: "queue", Kind: table.State, Priority: 2, Doc: "The message queue: woodpecker."}, func(_ *Env, s queueSubscription) table.Cell { return text(s.queue) }),
		col(table.Column{Name: "position", Doc: "The message that it noted last as read; readers note it now and then."},
			func(_ *Env, s queueSubscription) table.Cell { return text(s.reader.Read.String()) }),
		col(table.Column{Name: "behind_messages", Title: "BEHIND", Kind: table.Int, Doc: "Messages in closed segments after it."},
			func(_ *Env, s queueSubscription) table.Cell {
				entries, _, _ := s.log.Behind(s.reader.Read)
				return count(entries)
			}),
		col(table.Column{Name: "behind_bytes", Title: "BYTES BEHIND", Kind: table.Bytes, Priority: 1, Doc: "Bytes of these, that of the segment it reads in proportion."},
			func(_ *Env, s queueSubscription) table.Cell {
				_, bytes, _ := s.log.Behind(s.reader.Read)
				return count(bytes)
			}),
		col(table.Column{Name: "opened_at", Title: "OPENED", Kind: table.Time, Show: table.Wide, Priority: 3, Doc: "When it was opened."},
			func(_ *Env, s queueSubscription) table.Cell { return at(s.reader.OpenedAt) }),
		col(table.Column{Name: "read_at", Kind: table.Time, Show: table.Wide, Priority: 3, Doc: "When it noted its position last."},
			func(_ *Env, s queueSubscription) table.Cell { return at(s.reader.ReadAt) }),
		col(table.Column{Name: "read_age_seconds", Kind: table.Duration, Priority: 1, Doc: "Time since read_at."},
			func(e *Env, s queueSubscription) table.Cell { return age(e, s.reader.ReadAt) }),
	},
	ref: func(_ *Env, s queueSubscription) Ref {
		return Ref{ID: s.topic + "/" + s.reader.Name, Name: s.reader.Name}
	},
	links: func(_ *Env, s queueSubscription) []Link {
		return []Link{link("topic", "queue-topics", "name="+s.topic)}
	},
})
