package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestShardUnserviceable(t *testing.T) {
	no, yes := new(false), new(true)
	second := func(serviceable *bool) func(*rulestest.World) { // adds another leader of the first shard
		return func(w *rulestest.World) {
			v := *w.View(rulestest.Channel0)
			v.Serviceable = serviceable
			w.Query(rulestest.NodeB).Distribution.Leaders = append(w.Query(rulestest.NodeB).Distribution.Leaders, v)
		}
	}
	rulestest.RunCases(t, rulestest.ByID("shard-not-serviceable"), []rulestest.Case{
		{
			Name:   "by its own word",
			Change: func(w *rulestest.World) { w.Serve(); w.View(rulestest.Channel0).Serviceable = no },
			Want: []string{
				"error collections/1000 1 shard of 2, led by querynode-4, cannot be searched: the leader reports " +
					"that it is not serviceable",
			},
		},
		{
			Name: "catching up", Change: func(w *rulestest.World) {
				w.Serve()
				w.View(rulestest.Channel0).Serviceable, w.View(rulestest.Channel0).CatchingUp = no, yes
			},
			Want: []string{"error collections/1000 still catching up with the stream"},
		},
		{
			Name:   "serviceable",
			Change: func(w *rulestest.World) { w.Serve(); w.View(rulestest.Channel0).Serviceable = yes },
		},
		{Name: "the old leader still serves", Change: func(w *rulestest.World) { w.Serve(); second(no)(w) }},
		{
			Name:   "neither serves",
			Change: func(w *rulestest.World) { w.Serve(); second(no)(w); w.View(rulestest.Channel0).Serviceable = no },
			Want:   []string{"error collections/1000 led by querynode-4 and querynode-8"},
		},
		{Name: "one of two replicas", Change: func(w *rulestest.World) {
			w.Serve()
			w.Replicas[0].Nodes = []model.NodeID{rulestest.NodeA}
			w.Replicas = append(w.Replicas, &model.Replica{
				ID: 3001, Collection: rulestest.CollID, Nodes: []model.NodeID{rulestest.NodeB},
			})
			second(no)(w)
		}, Want: []string{"warning collections/1000 led by querynode-8"}},
		{
			Name:   "segments on a dead node",
			Change: func(w *rulestest.World) { w.Serve(); w.Silence(rulestest.NodeB, model.Refused) },
			Want:   []string{"error collections/1000 segments are on querynode-8 (refused)"},
			Advice: "start querynode-8 again",
		},
		{
			Name:   "segments on a node without a session",
			Change: func(w *rulestest.World) { w.Serve(); w.View(rulestest.Channel0).Sealed[0].Node = 99 },
			Want:   []string{"error collections/1000 segments are on querynode-99 (no session)"},
			Advice: "restart QueryCoord",
		},
		{
			Name:   "never given a target",
			Change: func(w *rulestest.World) { w.Serve(); w.View(rulestest.Channel0).TargetVersion = 0 },
			Want:   []string{"error collections/1000 the leader never got a target"},
		},
		{Name: "not given a target yet", Change: func(w *rulestest.World) {
			w.Serve()
			w.View(rulestest.Channel0).TargetVersion = 0
			w.Query(rulestest.NodeA).Distribution.Channels[0].Version = rulestest.Nanos(30 * time.Second)
		}},
		{Name: "a version that gives none", Change: func(w *rulestest.World) {
			w.Serve()
			w.View(rulestest.Channel0).TargetVersion = 0
			w.Version.Text = "2.2.9"
		}},
	})
}
