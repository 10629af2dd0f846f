package rules_test

import (
	"slices"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

// The tests of what nodes serve begin with the well cluster, two query nodes that serve it, and coordinators that say so.

const (
	nodeA = model.NodeID(4) // leads the first shard
	nodeB = model.NodeID(8)
)

func nanos(d time.Duration) int64 { return backT(d).UnixNano() }

// serve lets all processes answer: four segments on two nodes, nothing growing.
func (w *world) serve() {
	r := w.asked()
	w.another("querynode", nodeB)
	w.Replicas[0].Nodes = []model.NodeID{nodeA, nodeB}
	for _, n := range []model.NodeID{nodeA, nodeB} {
		w.query(n).Distribution = &model.Distribution{}
		w.query(n).System.Quota = &model.QuotaMetrics{Rates: map[string]float64{"InsertConsumeThroughput": 0}, SlowestChannel: wellCh0, SlowestAt: back(1200 * time.Millisecond)}
	}
	for i, channel := range []string{wellCh0, wellCh1} {
		leader := w.query([]model.NodeID{nodeA, nodeB}[i])
		view := model.LeaderView{Channel: channel, Collection: wellColl, TargetVersion: nanos(20 * time.Second)}
		recovery := &model.Recovery{Collection: wellColl, Channel: channel, SeekAt: back(10 * time.Second)}
		for k, s := range w.Segments {
			if s.VChannel != channel {
				continue
			}
			at := w.query([]model.NodeID{nodeA, nodeB}[k/2%2])
			w.load(at.Node, s, 4*time.Hour)
			view.Sealed = append(view.Sealed, model.LeaderSegment{ID: s.ID, Node: at.Node, Version: nanos(4 * time.Hour)})
			recovery.Flushed = append(recovery.Flushed, s.ID)
		}
		leader.Distribution.Leaders = append(leader.Distribution.Leaders, view)
		leader.Distribution.Channels = append(leader.Distribution.Channels, model.ServedChannel{Name: channel, Collection: wellColl, Version: nanos(5 * time.Hour)})
		r.Recovery = append(r.Recovery, recovery)
		r.ShardLeaders = append(r.ShardLeaders, model.ShardLeader{Collection: wellColl, Channel: channel, Nodes: []model.NodeID{leader.Node}})
	}
	r.Replicas = []*model.LiveReplica{{ID: 3000, Collection: wellColl, ResourceGroup: facts.DefaultGroup, Nodes: []model.NodeID{nodeA, nodeB}}}
	r.Loaded = []*model.LoadedCollection{{Collection: wellColl, Percent: 100, Available: true, RefreshPercent: 100}}
	w.configure("dataCoord.segment.maxSize", "1024")
	w.configure("dataCoord.segment.sealProportion", "0.12")
}

// query is the answer of a query node.
func (w *world) query(id model.NodeID) *model.LiveNode {
	i := slices.IndexFunc(w.runtime.Nodes, func(n *model.LiveNode) bool { return n.Role == "querynode" && n.Node == id })
	return w.runtime.Nodes[i]
}

// configure has DataCoord tell a setting.
func (w *world) configure(key, value string) {
	w.live("datacoord").Config.Values[model.FoldConfigKey(key)] = value
}

// load puts a sealed segment, with its finished indexes, on a node.
func (w *world) load(id model.NodeID, s *model.Segment, ago time.Duration) *model.ServedSegment {
	served := model.ServedSegment{ID: s.ID, Collection: s.Collection, Partition: s.Partition, Channel: s.VChannel, Version: nanos(ago)}
	for i := range s.Indexes {
		served.Indexes = append(served.Indexes, model.ServedIndex{Field: wellField, Index: s.Indexes[i].Index, Build: s.Indexes[i].Build, Rows: s.Rows})
	}
	d := w.query(id).Distribution
	d.Sealed = append(d.Sealed, served)
	return &d.Sealed[len(d.Sealed)-1]
}

// view is the view of the leader of a shard.
func (w *world) view(channel string) *model.LeaderView {
	for _, n := range w.runtime.Nodes {
		if n.Distribution == nil {
			continue
		}
		for i := range n.Distribution.Leaders {
			if v := &n.Distribution.Leaders[i]; v.Channel == channel {
				return v
			}
		}
	}
	return nil
}

// recovery is what DataCoord wants served of a shard.
func (w *world) recovery(channel string) *model.Recovery {
	i := slices.IndexFunc(w.runtime.Recovery, func(r *model.Recovery) bool { return r.Channel == channel })
	return w.runtime.Recovery[i]
}

// grow adds a growing segment of the first shard, begun some time ago, to metadata and to its leader's view.
func (w *world) grow(id model.SegmentID, rows int64, begun time.Duration) *model.Segment {
	s := &model.Segment{ID: id, Collection: wellColl, Partition: wellPart, VChannel: wellCh0, State: model.SegmentGrowing, Level: model.LevelL1, MaxRows: 100_000}
	w.Segments = append(w.Segments, s)
	v := w.view(wellCh0)
	v.Growing = append(v.Growing, model.GrowingView{ID: id, At: back(begun)})
	v.GrowingRows += rows
	return s
}

// remembers has DataCoord tell what it holds in memory of a segment.
func (w *world) remembers(id model.SegmentID, rows int64, written time.Duration) {
	w.runtime.DataSegments = append(w.runtime.DataSegments, model.DataSegment{ID: id, State: model.SegmentGrowing, Rows: rows, ExpireAt: back(written)})
}

// silence takes away what a query node said it serves.
func (w *world) silence(id model.NodeID, o model.Outcome) {
	n := w.query(id)
	n.Distribution, n.System, n.Outcome, n.Reason = nil, nil, o, "as the test wants it"
	n.Calls = []model.Call{{Method: "GetDataDistribution", Outcome: o, Reason: n.Reason}}
}

// servingChecks are those that these tests are about.
func servingChecks() []*check.Check {
	return []*check.Check{
		named("node-unreachable"), named("stale-session"), named("stopping-node-serving"), named("node-stopping"), named("replica-dead-node"), named("replica-short"), named("no-shard-leader"), named("shard-not-serviceable"), named("leader-channel-split"), named("load-stuck"), named("load-state-mismatch"),
		named("target-behind"), named("segment-not-loaded"), named("segment-loaded-dropped"), named("segment-loaded-twice"), named("index-not-loaded"), named("growing-flushed"), named("growing-too-old"), named("growing-too-large"), named("brute-force-share"),
	}
}

// TestServedIsWell: nothing is found in the cluster that the cases begin with, and nothing is unknown.
func TestServedIsWell(t *testing.T) {
	for _, x := range servingChecks() {
		hold(t, x, []verdict{{"well", (*world).serve, nil, ""}})
	}
}

// TestServingUnread: without the metadata, or without a single answer, no check is ok.
func TestServingUnread(t *testing.T) {
	for _, x := range servingChecks() {
		w := well()
		w.serve()
		w.Loaded = 0
		if r := check.Run(w.build(), w.now, []*check.Check{x}).Results[0]; r.Status != check.Skipped {
			t.Errorf("%s without metadata: %s", x.ID, r.Status)
		}
		if x.Needs == 0 {
			continue
		}
		w = well()
		if r := check.Run(w.build(), w.now, []*check.Check{x}).Results[0]; r.Status != check.Skipped {
			t.Errorf("%s without answers: %s", x.ID, r.Status)
		}
	}
}

// TestServingBlind: one query node that does not answer leaves nothing ok of what depends on its word.
func TestServingBlind(t *testing.T) {
	for _, x := range servingChecks() {
		if x.Needs&check.NeedDistribution == 0 {
			continue
		}
		t.Run(x.ID, func(t *testing.T) {
			r := judged(t, x, func(w *world) {
				w.serve()
				w.silence(nodeB, model.Unreachable)
			})
			if r.Status == check.OK || len(r.Unseen) == 0 {
				t.Errorf("%s, unseen %v", r.Status, r.Unseen)
			}
		})
	}
}
