package rulestest

import (
	"slices"
	"time"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

// Query nodes of World.Serve.
const (
	NodeA = model.NodeID(4) // leads the first shard
	NodeB = model.NodeID(8)
)

// Nanos returns the time d before the cluster was read, in nanoseconds since 1970, as Milvus versions segments and
// channels.
func Nanos(d time.Duration) int64 { return TimeAgo(d).UnixNano() }

// Serve sets the responses of all processes: four segments on two nodes, no growing segment.
func (w *World) Serve() {
	r := w.AddResponses()
	w.Another("querynode", NodeB)
	w.Replicas[0].Nodes = []model.NodeID{NodeA, NodeB}
	for _, n := range []model.NodeID{NodeA, NodeB} {
		w.Query(n).Distribution = &model.Distribution{}
		w.Query(n).System.Quota = &model.QuotaMetrics{
			Rates: map[string]float64{"InsertConsumeThroughput": 0}, SlowestChannel: Channel0,
			SlowestAt: TSOAgo(1200 * time.Millisecond),
		}
	}
	for i, channel := range []string{Channel0, Channel1} {
		leader := w.Query([]model.NodeID{NodeA, NodeB}[i])
		view := model.LeaderView{Channel: channel, Collection: CollID, TargetVersion: Nanos(20 * time.Second)}
		recovery := &model.Recovery{Collection: CollID, Channel: channel, SeekAt: TSOAgo(10 * time.Second)}
		for k, s := range w.Segments {
			if s.VChannel != channel {
				continue
			}
			at := w.Query([]model.NodeID{NodeA, NodeB}[k/2%2])
			w.Load(at.Node, s, 4*time.Hour)
			view.Sealed = append(view.Sealed, model.LeaderSegment{
				ID: s.ID, Node: at.Node, Version: Nanos(4 * time.Hour),
			})
			recovery.Flushed = append(recovery.Flushed, s.ID)
		}
		leader.Distribution.Leaders = append(leader.Distribution.Leaders, view)
		leader.Distribution.Channels = append(leader.Distribution.Channels, model.ServedChannel{
			Name: channel, Collection: CollID, Version: Nanos(5 * time.Hour),
		})
		r.Recovery = append(r.Recovery, recovery)
		r.ShardLeaders = append(r.ShardLeaders, model.ShardLeader{
			Collection: CollID, Channel: channel, Nodes: []model.NodeID{leader.Node},
		})
	}
	r.Replicas = []*model.LiveReplica{
		{ID: 3000, Collection: CollID, ResourceGroup: facts.DefaultGroup, Nodes: []model.NodeID{NodeA, NodeB}},
	}
	r.Loaded = []*model.LoadedCollection{{Collection: CollID, Percent: 100, Available: true, RefreshPercent: 100}}
	w.Configure("dataCoord.segment.maxSize", "1024")
	w.Configure("dataCoord.segment.sealProportion", "0.12")
}

// Query returns the response of a query node.
func (w *World) Query(id model.NodeID) *model.LiveNode {
	i := slices.IndexFunc(w.Runtime.Nodes,
		func(n *model.LiveNode) bool { return n.Role == "querynode" && n.Node == id })
	return w.Runtime.Nodes[i]
}

// Configure sets a setting in DataCoord's configuration.
func (w *World) Configure(key, value string) {
	w.Live("datacoord").Config.Values[model.FoldConfigKey(key)] = value
}

// Load adds a sealed segment, with its finished indexes, to a node.
func (w *World) Load(id model.NodeID, s *model.Segment, ago time.Duration) *model.ServedSegment {
	served := model.ServedSegment{
		ID: s.ID, Collection: s.Collection, Partition: s.Partition, Channel: s.VChannel, Version: Nanos(ago),
	}
	for i := range s.Indexes {
		served.Indexes = append(served.Indexes, model.ServedIndex{
			Field: FieldID, Index: s.Indexes[i].Index, Build: s.Indexes[i].Build, Rows: s.Rows,
		})
	}
	d := w.Query(id).Distribution
	d.Sealed = append(d.Sealed, served)
	return &d.Sealed[len(d.Sealed)-1]
}

// View returns the view of the leader of a shard, nil if there is none.
func (w *World) View(channel string) *model.LeaderView {
	for _, n := range w.Runtime.Nodes {
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

// Recovery returns the segments of a shard that DataCoord wants served.
func (w *World) Recovery(channel string) *model.Recovery {
	i := slices.IndexFunc(w.Runtime.Recovery, func(r *model.Recovery) bool { return r.Channel == channel })
	return w.Runtime.Recovery[i]
}

// Grow adds a growing segment of the first shard to the metadata and to its leader's view. begun is its age.
func (w *World) Grow(id model.SegmentID, rows int64, begun time.Duration) *model.Segment {
	s := &model.Segment{
		ID: id, Collection: CollID, Partition: PartID, VChannel: Channel0, State: model.SegmentGrowing,
		Level: model.LevelL1, MaxRows: 100_000,
	}
	w.Segments = append(w.Segments, s)
	v := w.View(Channel0)
	v.Growing = append(v.Growing, model.GrowingView{ID: id, At: TSOAgo(begun)})
	v.GrowingRows += rows
	return s
}

// AddToDataCoord adds a segment to the state in memory that DataCoord reports.
func (w *World) AddToDataCoord(id model.SegmentID, rows int64, written time.Duration) {
	w.Runtime.DataSegments = append(w.Runtime.DataSegments, model.DataSegment{
		ID: id, State: model.SegmentGrowing, Rows: rows, ExpireAt: TSOAgo(written),
	})
}

// Silence removes the response of a query node.
func (w *World) Silence(id model.NodeID, o model.Outcome) {
	n := w.Query(id)
	n.Distribution, n.System, n.Outcome, n.Reason = nil, nil, o, "set by the test"
	n.Calls = []model.Call{{Method: "GetDataDistribution", Outcome: o, Reason: n.Reason}}
}

// ServeTwice turns the two query nodes into two replicas, each with all segments and all shards of both.
func (w *World) ServeTwice() {
	w.LoadStates[0].Replicas = 2
	w.Replicas[0].Nodes = []model.NodeID{NodeA}
	w.Replicas = append(w.Replicas, &model.Replica{
		ID: 3001, Collection: CollID, ResourceGroup: facts.DefaultGroup, Nodes: []model.NodeID{NodeB},
	})
	a, b := w.Query(NodeA).Distribution, w.Query(NodeB).Distribution
	sealed, leaders := slices.Concat(a.Sealed, b.Sealed), slices.Concat(a.Leaders, b.Leaders)
	for _, id := range []model.NodeID{NodeA, NodeB} {
		d := w.Query(id).Distribution
		d.Sealed, d.Leaders = slices.Clone(sealed), slices.Clone(leaders)
		for i := range d.Leaders {
			d.Leaders[i].Sealed = slices.Clone(d.Leaders[i].Sealed)
			for k := range d.Leaders[i].Sealed {
				d.Leaders[i].Sealed[k].Node = id
			}
		}
	}
}
