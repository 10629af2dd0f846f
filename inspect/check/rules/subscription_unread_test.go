package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestSubscriptions(t *testing.T) {
	told := func(list ...model.Subscription) func(*rulestest.World) {
		return func(w *rulestest.World) {
			stats := &model.TopicStats{Subscriptions: list}
			w.AddResponses().Queue = &model.Queue{
				Kind: "pulsar", Outcome: model.Answered,
				Topics: []model.Topic{{Name: "by-dev-rootcoord-dml_0", Stats: stats}},
			}
		}
	}
	sub := func(backlog, bytes int64, consumers int, read time.Duration) model.Subscription {
		s := model.Subscription{Name: "node-9", Backlog: backlog, Bytes: bytes, Consumers: consumers}
		if read > 0 {
			s.Consumed = rulestest.TimeAgo(read)
		}
		return s
	}
	object := "queue-topics/by-dev-rootcoord-dml_0 "
	rulestest.RunCases(t, rulestest.ByID("subscription-unread"), []rulestest.Case{
		{Name: "read", Change: told(sub(5, 50, 1, time.Second))},
		{
			Name: "unread", Change: told(sub(5, 50, 0, time.Hour)),
			Want: []string{
				"info " + object +
					"1 subscription of topic by-dev-rootcoord-dml_0 keeps up to 50 B and has no consumer",
			},
		},
		{
			Name: "no delivery is known", Change: told(model.Subscription{Name: "reader", Backlog: 5, Bytes: 50}),
			Skipped: "when subscription reader of topic by-dev-rootcoord-dml_0 was last read",
		},
		{
			Name: "of a dispatcher: its number is no node",
			Change: told(model.Subscription{
				Name: "by-dev-rootcoord-dml_0-9977-1764000000000000000", Backlog: 5, Bytes: 50,
			}),
			Skipped: "was last read",
		},
		{
			Name:   "the cluster's prefix has a number",
			Change: told(model.Subscription{Name: "milvus-9999-dataNode-5-docs", Backlog: 5, Bytes: 50}),
		},
		{
			Name:   "a query node is behind its collection",
			Change: told(model.Subscription{Name: "by-dev-queryNode-9977-4", Backlog: 5, Bytes: 50}),
		},
		{
			Name:   "a query node that is gone",
			Change: told(model.Subscription{Name: "by-dev-queryNode-1000-9977", Backlog: 5, Bytes: 50}),
			Want:   []string{"info " + object + "no consumer"},
		},
		{
			Name: "a role's name, of a node that is gone",
			Change: told(model.Subscription{
				Name: "querynode-9977-by-dev-rootcoord-dml_0_1000v0-true", Backlog: 5, Bytes: 50,
			}),
			Want: []string{"info " + object + "no consumer"},
		},
		{
			Name: "a cluster that is called so",
			Change: told(model.Subscription{
				Name: "querynode-9977-rootcoord-dml_0-5-1764000000000000000", Backlog: 5, Bytes: 50,
			}),
			Skipped: "was last read",
		},
		{Name: "sessions were not read", Change: func(w *rulestest.World) {
			told(model.Subscription{Name: "by-dev-dataNode-9977-docs", Backlog: 5, Bytes: 50})(w)
			w.Loaded &^= model.PartSessions
		}, Skipped: "whether the node of subscription by-dev-dataNode-9977-docs is registered: sessions were not read"},
		{
			Name:   "no delivery is known, and its node is gone",
			Change: told(model.Subscription{Name: "by-dev-dataNode-9977-docs", Backlog: 5, Bytes: 50}),
			Want:   []string{"info " + object + "no consumer"},
		},
		{
			Name: "a cursor of a streaming node",
			Change: told(model.Subscription{
				Name: "truncate-cursor", Backlog: 5, Bytes: 50, Consumed: rulestest.TimeAgo(time.Hour),
			}),
		},
		{
			Name: "unread and large", Change: told(sub(5, 1<<30, 0, time.Hour), sub(5, 50, 0, time.Hour)),
			Want: []string{
				"warning " + object +
					"2 subscriptions of topic by-dev-rootcoord-dml_0 keep up to 1.0 GiB and have no consumer",
			},
		},
		{Name: "read a moment ago", Change: told(sub(5, 1<<30, 0, 5*time.Minute))},
		{Name: "nothing to read", Change: told(sub(0, 0, 0, time.Hour))},
		{Name: "Kafka", Change: func(w *rulestest.World) {
			w.AddResponses().Queue = &model.Queue{
				Kind: "kafka", Outcome: model.Answered, Topics: []model.Topic{{Name: "by-dev-rootcoord-dml_0"}},
			}
		}},
		{
			Name:    "did not answer",
			Change:  func(w *rulestest.World) { w.AddResponses().Queue = &model.Queue{Outcome: model.Refused} },
			Skipped: "did not respond",
		},
	})
	rulestest.RunCases(t, rulestest.ByID("queue-backlog"), []rulestest.Case{
		{Name: "near its end", Change: told(sub(1000, 1<<20, 1, time.Second))},
		{
			Name: "many messages", Change: told(sub(100_000, 1<<20, 1, time.Second)),
			Want: []string{
				"warning " + object +
					"1 reader of topic by-dev-rootcoord-dml_0 is up to 100,000 messages (1.0 MiB) behind",
			},
		},
		{
			Name: "many bytes", Change: told(sub(99, 4<<30, 1, time.Second)),
			Want: []string{"warning " + object + "99 messages (4.0 GiB) behind"},
		},
		{Name: "no consumer", Change: told(sub(100_000, 4<<30, 0, time.Hour))},
		{
			Name: "a cursor of a streaming node",
			Change: told(model.Subscription{
				Name: "backlog-clear", Backlog: 400_000, Bytes: 5 << 30, Consumers: 1,
				Consumed: rulestest.TimeAgo(time.Second),
			}),
		},
		{
			Name:    "did not answer",
			Change:  func(w *rulestest.World) { w.AddResponses().Queue = &model.Queue{Outcome: model.Refused} },
			Skipped: "did not respond",
		},
	})
}
