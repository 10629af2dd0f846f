package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/model"
)

func TestNoShardLeader(t *testing.T) {
	// unled takes the leader of the second shard away.
	unled := func(w *world) {
		w.serve()
		w.query(nodeB).Distribution.Leaders = nil
		w.runtime.ShardLeaders[1].Nodes = nil
		w.runtime.ShardLeaders[1].Problem = "channel not available"
	}
	hold(t, named("no-shard-leader"), []verdict{
		{"QueryCoord names none", unled, []string{"error collections/1000 1 shard of 2 has no leader: " + wellCh1}, ""},
		{"no node leads, and QueryCoord does not say", func(w *world) { unled(w); w.runtime.ShardLeaders = nil }, []string{"error collections/1000 1 shard of 2"}, ""},
		{"QueryCoord tells of the whole collection", func(w *world) {
			w.serve()
			w.runtime.ShardLeaders = []model.ShardLeader{{Collection: wellColl, Problem: "no replica available"}}
		}, []string{"error collections/1000 QueryCoord has no leader for 2 shards of 2, although querynode-4 and querynode-8 lead them: "}, ""},
		{"QueryCoord names none, and a node leads", func(w *world) {
			w.serve()
			w.runtime.ShardLeaders[1].Nodes, w.runtime.ShardLeaders[1].Problem = nil, "channel not available"
		}, []string{"error collections/1000 QueryCoord has no leader for 1 shard of 2, although querynode-8 leads it: " + wellCh1}, ""},
		{"QueryCoord tells of the whole collection, for one shard that nobody leads", func(w *world) {
			w.serve()
			w.query(nodeB).Distribution.Leaders = nil
			w.runtime.ShardLeaders = []model.ShardLeader{{Collection: wellColl, Problem: "channel not available[channel=" + wellCh1 + "]"}}
		}, []string{"error collections/1000 1 shard of 2 has no leader: " + wellCh1}, ""},
		{"one shard has no leader, and one QueryCoord does not name", func(w *world) {
			unled(w)
			w.runtime.ShardLeaders[0].Nodes, w.runtime.ShardLeaders[0].Problem = nil, "channel not available"
		}, []string{"error collections/1000 1 shard of 2 has no leader: " + wellCh1 + "; QueryCoord has none for 1 more, although querynode-4 leads it: " + wellCh0}, ""},
		{"the leader cannot serve, which is another check's", func(w *world) {
			w.serve()
			w.view(wellCh1).Serviceable = new(false)
			w.runtime.ShardLeaders[1].Nodes, w.runtime.ShardLeaders[1].Problem = nil, "channel not available"
		}, nil, ""},
		{"the one it names is dead", func(w *world) {
			w.serve()
			w.silence(nodeB, model.Refused)
		}, []string{"error collections/1000 1 shard of 2 has no leader"}, ""},
		{"a node that leads did not say", func(w *world) {
			w.serve()
			w.silence(nodeB, model.Unreachable)
			w.runtime.ShardLeaders = w.runtime.ShardLeaders[:1]
		}, nil, "leaders of " + wellCh1},
		{"loading", func(w *world) { unled(w); w.LoadStates[0].Status = "Loading" }, nil, ""},
		{"one of two replicas", func(w *world) {
			w.serve()
			w.Replicas = append(w.Replicas, &model.Replica{ID: 3001, Collection: wellColl, Nodes: []model.NodeID{nodeB}})
			w.runtime.ShardLeaders[0].Nodes = []model.NodeID{nodeA, nodeB}
		}, []string{"warning collections/1000 1 shard of 2 has no leader in one of 2 replicas: " + wellCh1}, ""},
	})
}

func TestShardUnserviceable(t *testing.T) {
	no, yes := new(false), new(true)
	second := func(serviceable *bool) func(*world) { // another leader of the first shard
		return func(w *world) {
			v := *w.view(wellCh0)
			v.Serviceable = serviceable
			w.query(nodeB).Distribution.Leaders = append(w.query(nodeB).Distribution.Leaders, v)
		}
	}
	hold(t, named("shard-not-serviceable"), []verdict{
		{
			"by its own word", func(w *world) { w.serve(); w.view(wellCh0).Serviceable = no },
			[]string{"error collections/1000 1 shard of 2, led by querynode-4, cannot be searched: the leader reports that it is not serviceable"},
			"",
		},
		{
			"catching up", func(w *world) { w.serve(); w.view(wellCh0).Serviceable, w.view(wellCh0).CatchingUp = no, yes },
			[]string{"error collections/1000 still catching up with the stream"},
			"",
		},
		{"serviceable", func(w *world) { w.serve(); w.view(wellCh0).Serviceable = yes }, nil, ""},
		{"the old leader still serves", func(w *world) { w.serve(); second(no)(w) }, nil, ""},
		{
			"neither serves", func(w *world) { w.serve(); second(no)(w); w.view(wellCh0).Serviceable = no },
			[]string{"error collections/1000 led by querynode-4 and querynode-8"},
			"",
		},
		{"one of two replicas", func(w *world) {
			w.serve()
			w.Replicas[0].Nodes = []model.NodeID{nodeA}
			w.Replicas = append(w.Replicas, &model.Replica{ID: 3001, Collection: wellColl, Nodes: []model.NodeID{nodeB}})
			second(no)(w)
		}, []string{"warning collections/1000 led by querynode-8"}, ""},
		{
			"segments on a dead node", func(w *world) { w.serve(); w.silence(nodeB, model.Refused) },
			[]string{"error collections/1000 segments are on querynode-8 (refused)"},
			"",
		},
		{
			"segments on a node without a session", func(w *world) { w.serve(); w.view(wellCh0).Sealed[0].Node = 99 },
			[]string{"error collections/1000 segments are on querynode-99 (no session)"},
			"",
		},
		{
			"never given a target", func(w *world) { w.serve(); w.view(wellCh0).TargetVersion = 0 },
			[]string{"error collections/1000 the leader was never given a target"},
			"",
		},
		{"not given a target yet", func(w *world) {
			w.serve()
			w.view(wellCh0).TargetVersion = 0
			w.query(nodeA).Distribution.Channels[0].Version = nanos(30 * time.Second)
		}, nil, ""},
		{"a version that gives none", func(w *world) { w.serve(); w.view(wellCh0).TargetVersion = 0; w.Version.Text = "2.2.9" }, nil, ""},
	})
}

func TestLeaderSplit(t *testing.T) {
	// twice has node B lead the first shard as well.
	twice := func(ago time.Duration) func(*world) {
		return func(w *world) {
			w.serve()
			d := w.query(nodeB).Distribution
			d.Leaders = append(d.Leaders, *w.view(wellCh0))
			d.Channels = append(d.Channels, model.ServedChannel{Name: wellCh0, Collection: wellColl, Version: nanos(ago)})
		}
	}
	hold(t, named("leader-channel-split"), []verdict{
		{"two leaders for ten minutes", twice(10 * time.Minute), []string{"warning collections/1000 1 shard has two leaders in one replica: querynode-4 and querynode-8"}, ""},
		{"a channel that moves", twice(20 * time.Second), nil, ""},
		{"one in each of two replicas", func(w *world) {
			twice(10 * time.Minute)(w)
			w.Replicas[0].Nodes = []model.NodeID{nodeA}
			w.Replicas = append(w.Replicas, &model.Replica{ID: 3001, Collection: wellColl, Nodes: []model.NodeID{nodeB}})
		}, nil, ""},
		{
			"a leader of no replica", func(w *world) { w.serve(); w.Replicas[0].Nodes = []model.NodeID{nodeA} },
			[]string{"warning collections/1000 1 shard led by querynode-8, outside its replicas"},
			"",
		},
		{"since when is unknown", func(w *world) {
			w.serve()
			w.Replicas[0].Nodes = []model.NodeID{nodeA}
			w.query(nodeB).Distribution.Channels[0].Version = 7
		}, nil, "since when 1 shard has more than one leader"},
		{
			"a segment that is not there", func(w *world) { w.serve(); w.query(nodeA).Distribution.Sealed = w.query(nodeA).Distribution.Sealed[1:] },
			[]string{"error collections/1000 leaders ask querynode-4 for 1 segment, 90,000 rows, that is not there"},
			"",
		},
		{"a segment that moves", func(w *world) {
			w.serve()
			w.query(nodeA).Distribution.Sealed = w.query(nodeA).Distribution.Sealed[1:]
			w.load(nodeB, w.segment(0), 20*time.Second)
		}, nil, ""},
		{"a segment that was compacted away", func(w *world) {
			w.serve()
			w.query(nodeA).Distribution.Sealed = w.query(nodeA).Distribution.Sealed[1:]
			w.segment(0).State = model.SegmentDropped
		}, nil, ""},
	})
}

func TestTargetBehind(t *testing.T) {
	// old has the first shard's leader serve an old target, with a segment more to be served.
	old := func(target, flushed time.Duration) func(*world) {
		return func(w *world) {
			w.serve()
			w.fresh(2800, flushed)
			w.view(wellCh0).TargetVersion, w.view(wellCh1).TargetVersion = nanos(target), nanos(target)
		}
	}
	hold(t, named("target-behind"), []verdict{
		{"two hours old", old(2*time.Hour, time.Hour), []string{"warning collections/1000 querynode-4 serves a target 2 h old; DataCoord wants 1 segment more served"}, ""},
		{"old, and the segment is fresh", old(2*time.Hour, time.Minute), nil, ""},
		{"young", old(10*time.Minute, time.Hour), nil, ""},
		{"old, and nothing new", func(w *world) {
			w.serve()
			w.view(wellCh0).TargetVersion, w.view(wellCh1).TargetVersion = nanos(2*time.Hour), nanos(2*time.Hour)
		}, nil, ""},
		{
			"one leader behind the other", func(w *world) { w.serve(); w.view(wellCh0).TargetVersion = nanos(2 * time.Hour) },
			[]string{"warning collections/1000 querynode-4 serves a target 2 h old; other leaders of it are ahead"},
			"",
		},
		{"the cluster's own patience", func(w *world) {
			old(2*time.Hour, 90*time.Minute)(w)
			w.live("querycoord").Config.Values[model.FoldConfigKey("queryCoord.NextTargetSurviveTime")] = "3600"
		}, nil, ""},
		{"its version is no time", func(w *world) { w.serve(); w.view(wellCh0).TargetVersion = 7 }, nil, "age of the target of 1 shard leader"},
	})
}
