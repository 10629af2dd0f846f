package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestNoShardLeader(t *testing.T) {
	// unled removes the leader of the second shard.
	unled := func(w *rulestest.World) {
		w.Serve()
		w.Query(rulestest.NodeB).Distribution.Leaders = nil
		w.Runtime.ShardLeaders[1].Nodes = nil
		w.Runtime.ShardLeaders[1].Problem = "channel not available"
	}
	rulestest.RunCases(t, rulestest.ByID("no-shard-leader"), []rulestest.Case{
		{
			Name: "QueryCoord names none", Change: unled,
			Want: []string{"error collections/1000 1 shard of 2 has no leader: " + rulestest.Channel1},
		},
		{
			Name:   "no node leads, and QueryCoord does not say",
			Change: func(w *rulestest.World) { unled(w); w.Runtime.ShardLeaders = nil },
			Want:   []string{"error collections/1000 1 shard of 2"},
		},
		{
			Name: "QueryCoord tells of the whole collection", Change: func(w *rulestest.World) {
				w.Serve()
				w.Runtime.ShardLeaders = []model.ShardLeader{
					{Collection: rulestest.CollID, Problem: "no replica available"},
				}
			},
			Want: []string{
				"error collections/1000 QueryCoord has no leader for 2 shards of 2, although querynode-4 and " +
					"querynode-8 lead them: ",
			},
		},
		{
			Name: "QueryCoord names none, and a node leads", Change: func(w *rulestest.World) {
				w.Serve()
				w.Runtime.ShardLeaders[1].Nodes, w.Runtime.ShardLeaders[1].Problem = nil, "channel not available"
			},
			Want: []string{
				"error collections/1000 QueryCoord has no leader for 1 shard of 2, although querynode-8 leads it: " +
					rulestest.Channel1,
			},
		},
		{
			Name: "QueryCoord tells of the whole collection, for one shard that nobody leads",
			Change: func(w *rulestest.World) {
				w.Serve()
				w.Query(rulestest.NodeB).Distribution.Leaders = nil
				w.Runtime.ShardLeaders = []model.ShardLeader{
					{
						Collection: rulestest.CollID,
						Problem:    "channel not available[channel=" + rulestest.Channel1 + "]",
					},
				}
			}, Want: []string{"error collections/1000 1 shard of 2 has no leader: " + rulestest.Channel1},
		},
		{
			Name: "one shard has no leader, and one QueryCoord does not name", Change: func(w *rulestest.World) {
				unled(w)
				w.Runtime.ShardLeaders[0].Nodes, w.Runtime.ShardLeaders[0].Problem = nil, "channel not available"
			},
			Want: []string{
				"error collections/1000 1 shard of 2 has no leader: " + rulestest.Channel1 +
					"; QueryCoord has none for 1 more, although querynode-4 leads it: " + rulestest.Channel0,
			},
		},
		{Name: "the leader cannot serve, which is another check's", Change: func(w *rulestest.World) {
			w.Serve()
			w.View(rulestest.Channel1).Serviceable = new(false)
			w.Runtime.ShardLeaders[1].Nodes, w.Runtime.ShardLeaders[1].Problem = nil, "channel not available"
		}},
		{Name: "the one it names is dead", Change: func(w *rulestest.World) {
			w.Serve()
			w.Silence(rulestest.NodeB, model.Refused)
		}, Want: []string{"error collections/1000 1 shard of 2 has no leader"}},
		{Name: "a node that leads did not say", Change: func(w *rulestest.World) {
			w.Serve()
			w.Silence(rulestest.NodeB, model.Unreachable)
			w.Runtime.ShardLeaders = w.Runtime.ShardLeaders[:1]
		}, Skipped: "leaders of " + rulestest.Channel1},
		{Name: "loading", Change: func(w *rulestest.World) { unled(w); w.LoadStates[0].Status = "Loading" }},
		{
			Name: "one of two replicas", Change: func(w *rulestest.World) {
				w.Serve()
				w.Replicas = append(w.Replicas, &model.Replica{
					ID: 3001, Collection: rulestest.CollID, Nodes: []model.NodeID{rulestest.NodeB},
				})
				w.Runtime.ShardLeaders[0].Nodes = []model.NodeID{rulestest.NodeA, rulestest.NodeB}
			},
			Want: []string{
				"warning collections/1000 1 shard of 2 has no leader in one of 2 replicas: " + rulestest.Channel1,
			},
		},
	})
}

// TestAskedBefore checks that a collection is not reported as leaderless if it was loaded after the processes answered
// and before the metadata was read.
func TestAskedBefore(t *testing.T) {
	apart := func(d time.Duration) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Serve()
			w.Runtime.From, w.Runtime.To = w.Runtime.From.Add(-d), w.Runtime.To.Add(-d)
			w.Runtime.Loaded, w.Runtime.ShardLeaders, w.Runtime.Replicas = []*model.LoadedCollection{}, nil, nil
			for _, id := range []model.NodeID{rulestest.NodeA, rulestest.NodeB} {
				w.Query(id).Distribution = &model.Distribution{}
			}
		}
	}
	rulestest.RunCases(t, rulestest.ByID("no-shard-leader"), []rulestest.Case{
		{Name: "a minute", Change: apart(time.Minute)}, {Name: "now", Change: apart(0)},
	})
	rulestest.RunCases(t, rulestest.ByID("load-state-mismatch"), []rulestest.Case{
		{
			Name: "a minute", Change: apart(time.Minute),
			Want: []string{
				"info collections/1000 is Loaded in etcd, but neither QueryCoord nor any query node has it: they " +
					"were queried 60 s before",
			},
		},
		{
			Name: "now", Change: apart(0),
			Want: []string{"error collections/1000 is Loaded in etcd, but QueryCoord does not list it"},
		},
	})
}
