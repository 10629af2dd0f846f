package view

import (
	"cmp"
	"slices"
	"time"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// queueSubscription is a reader of a topic.
type queueSubscription struct {
	topic, queue, name string
	behind, bytes      int64
	uncounted          int64 // segments after the position without counts
	// log and reader are of Woodpecker, pulsar is of Pulsar. The other is nil.
	log    *model.Log
	reader *model.LogReader
	pulsar *model.Subscription
}

// read returns the time of the last read, zero if never or unknown.
func (s *queueSubscription) read() time.Time {
	if s.reader != nil {
		return s.reader.ReadAt
	}
	return s.pulsar.Consumed
}

func queueSubscriptions(e *Env) (list []queueSubscription) {
	if w := e.Cluster.Woodpecker; w != nil {
		for _, l := range w.Logs {
			for i := range l.Readers {
				s := queueSubscription{
					topic: l.Name, queue: "woodpecker", name: l.Readers[i].Name, log: l, reader: &l.Readers[i],
				}
				s.behind, s.bytes, s.uncounted = l.Behind(s.reader.Read)
				list = append(list, s)
			}
		}
	}
	if r := e.Cluster.Runtime; r != nil && r.Queue != nil {
		for i := range r.Queue.Topics {
			t := &r.Queue.Topics[i]
			if t.Stats == nil {
				continue
			}
			for j := range t.Stats.Subscriptions {
				s := &t.Stats.Subscriptions[j]
				list = append(list, queueSubscription{
					topic: t.Name, queue: r.Queue.Kind, name: s.Name, behind: s.Backlog, bytes: s.Bytes, pulsar: s,
				})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b queueSubscription) int { return cmp.Compare(a.topic, b.topic) })
	return list
}

// pulsarColumn returns a column function for Pulsar's subscriptions.
func pulsarColumn(cell func(*model.Subscription) table.Cell) func(*Env, queueSubscription) table.Cell {
	return func(_ *Env, s queueSubscription) table.Cell {
		if s.pulsar == nil {
			return none()
		}
		return cell(s.pulsar)
	}
}

var subscriptions = define(definition[queueSubscription]{
	Resource: Resource{
		Schema:  table.Schema{Name: "queue-subscriptions", Names: []string{"name"}, Slashes: true},
		Aliases: []string{"subscriptions", "readers"},
		Doc: "Readers of the topics: Pulsar's subscriptions, if it can be queried; Woodpecker's readers, from " +
			"etcd.",
		Needs:   model.PartChannels | model.PartRuntime,
		Missing: missingQueue,
	},
	rows: queueSubscriptions,
	columns: []column[queueSubscription]{
		col(table.Column{Name: "name", Shorten: true, Doc: "Name of the subscription or reader."},
			func(_ *Env, s queueSubscription) table.Cell { return text(s.name) }),
		col(table.Column{Name: "topic", Doc: "Name of the topic: a pchannel."},
			func(_ *Env, s queueSubscription) table.Cell { return text(s.topic) }),
		col(table.Column{Name: "queue", Kind: table.State, Priority: 2, Doc: "The message queue: pulsar, woodpecker."},
			func(_ *Env, s queueSubscription) table.Cell { return text(s.queue) }),
		col(table.Column{
			Name: "position", Priority: 1,
			Doc: "Last message that a reader recorded as read; readers record it from time to time (Woodpecker).",
		},
			func(_ *Env, s queueSubscription) table.Cell {
				if s.reader == nil {
					return none()
				}
				return text(s.reader.Read.String())
			}),
		col(table.Column{
			Name: "behind_messages", Title: "BEHIND", Kind: table.Int,
			Doc: "Messages that it has not acknowledged (Pulsar); messages in closed segments after its position " +
				"(Woodpecker).",
		},
			func(_ *Env, s queueSubscription) table.Cell { return atLeast(s.behind, s.uncounted) }),
		col(table.Column{
			Name: "behind_bytes", Title: "BYTES BEHIND", Kind: table.Bytes, Priority: 1,
			Doc: "Bytes of these; in proportion for the Woodpecker segment that it is reading.",
		},
			func(_ *Env, s queueSubscription) table.Cell { return atLeast(s.bytes, s.uncounted) }),
		uncountedAfter(func(s queueSubscription) int64 {
			if s.reader == nil {
				return -1
			}
			return s.uncounted
		}),
		col(table.Column{
			Name: "consumers", Kind: table.Int, Priority: 1,
			Doc: "Connected consumers (Pulsar); if 0, no process reads it.",
		},
			pulsarColumn(func(s *model.Subscription) table.Cell { return count(int64(s.Consumers)) })),
		col(table.Column{
			Name: "type", Kind: table.State, Show: table.Wide, Priority: 4,
			Doc: "Exclusive, Shared, Failover, Key_Shared (Pulsar).",
		},
			pulsarColumn(func(s *model.Subscription) table.Cell { return text(s.Type) })),
		col(table.Column{
			Name: "opened_at", Title: "OPENED", Kind: table.Time, Show: table.Wide, Priority: 3,
			Doc: "When a reader was opened (Woodpecker).",
		},
			func(_ *Env, s queueSubscription) table.Cell {
				if s.reader == nil {
					return none()
				}
				return timeCell(s.reader.OpenedAt)
			}),
		col(table.Column{
			Name: "acked_at", Title: "ACKED", Kind: table.Time, Show: table.Wide, Priority: 3,
			Doc: "When it last acknowledged a message, none if never (Pulsar).",
		},
			pulsarColumn(func(s *model.Subscription) table.Cell { return timeCell(s.Acked) })),
		col(table.Column{
			Name: "read_at", Kind: table.Time, Show: table.Wide, Priority: 3,
			Doc: "When it last read: recorded its position (Woodpecker) or got a message (Pulsar); none if never.",
		},
			func(_ *Env, s queueSubscription) table.Cell { return timeCell(s.read()) }),
		col(table.Column{Name: "read_age_seconds", Kind: table.Duration, Priority: 1, Doc: "Time since read_at."},
			func(e *Env, s queueSubscription) table.Cell { return age(e, s.read()) }),
	},
	ref: func(_ *Env, s queueSubscription) Ref { return Ref{ID: s.topic + "/" + s.name, Name: s.name} },
	links: func(_ *Env, s queueSubscription) []Link {
		return []Link{link("topic", "queue-topics", "name="+s.topic)}
	},
})
