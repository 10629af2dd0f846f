package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestLeaderSplit(t *testing.T) {
	// twice makes node B a leader of the first shard too.
	twice := func(ago time.Duration) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Serve()
			d := w.Query(rulestest.NodeB).Distribution
			d.Leaders = append(d.Leaders, *w.View(rulestest.Channel0))
			d.Channels = append(d.Channels, model.ServedChannel{
				Name: rulestest.Channel0, Collection: rulestest.CollID, Version: rulestest.Nanos(ago),
			})
		}
	}
	rulestest.RunCases(t, rulestest.ByID("leader-channel-split"), []rulestest.Case{
		{
			Name: "two leaders for ten minutes", Change: twice(10 * time.Minute),
			Want: []string{
				"warning collections/1000 1 shard has two leaders in one replica: querynode-4 and querynode-8",
			},
		},
		{Name: "a channel that moves", Change: twice(20 * time.Second)},
		{Name: "one in each of two replicas", Change: func(w *rulestest.World) {
			twice(10 * time.Minute)(w)
			w.Replicas[0].Nodes = []model.NodeID{rulestest.NodeA}
			w.Replicas = append(w.Replicas, &model.Replica{
				ID: 3001, Collection: rulestest.CollID, Nodes: []model.NodeID{rulestest.NodeB},
			})
		}},
		{
			Name:   "a leader of no replica",
			Change: func(w *rulestest.World) { w.Serve(); w.Replicas[0].Nodes = []model.NodeID{rulestest.NodeA} },
			Want:   []string{"warning collections/1000 1 shard led by querynode-8, outside its replicas"},
		},
		{Name: "since when is unknown", Change: func(w *rulestest.World) {
			w.Serve()
			w.Replicas[0].Nodes = []model.NodeID{rulestest.NodeA}
			w.Query(rulestest.NodeB).Distribution.Channels[0].Version = 7
		}, Skipped: "since when 1 shard has more than one leader"},
		{
			Name: "a segment that is not there", Change: func(w *rulestest.World) {
				w.Serve()
				w.Query(rulestest.NodeA).Distribution.Sealed = w.Query(rulestest.NodeA).Distribution.Sealed[1:]
			},
			Want: []string{
				"error collections/1000 leaders query querynode-4 for 1 segment (90,000 rows) that is not there",
			},
		},
		{Name: "a segment that moves", Change: func(w *rulestest.World) {
			w.Serve()
			w.Query(rulestest.NodeA).Distribution.Sealed = w.Query(rulestest.NodeA).Distribution.Sealed[1:]
			w.Load(rulestest.NodeB, w.Segment(0), 20*time.Second)
		}},
		{Name: "a segment that was compacted away", Change: func(w *rulestest.World) {
			w.Serve()
			w.Query(rulestest.NodeA).Distribution.Sealed = w.Query(rulestest.NodeA).Distribution.Sealed[1:]
			w.Segment(0).State = model.SegmentDropped
		}},
	})
}
