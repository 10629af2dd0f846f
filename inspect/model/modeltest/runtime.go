package modeltest

import (
	"time"

	"kitescope/inspect/model"
)

// Served returns Small with the responses of its processes. All respond except querynode-12, which is stopping
// and timed out.
func Served() *model.Cluster {
	c := Small()
	return c.WithRuntime(model.BuildRuntime(RuntimeOf(c)))
}

// RuntimeOf returns synthetic responses of a cluster's processes. Flushed segments of loaded collections are
// distributed over the query nodes of their replica. The first of these nodes leads all shards.
func RuntimeOf(c *model.Cluster) model.RuntimeParts {
	r := model.RuntimeParts{
		Kind: "live", From: Now.Add(-3 * time.Second), To: Now.Add(-2 * time.Second), ClusterKey: "by-dev",
	}
	for _, s := range c.Sessions {
		r.Nodes = append(r.Nodes, liveNode(s))
	}
	for _, n := range r.Nodes {
		if n.Outcome == model.Answered {
			r.Processes = append(r.Processes, n.Process)
		}
	}
	r.Logged = []model.SlowRequest{{
		Source: model.FromBoth, Node: 9, EndedAt: Now.Add(-time.Minute), LocalTime: "2026-11-20 09:29:00",
		Database: "default", Collection: "docs", Partitions: []string{"_default"},
		Type: "Search", Expr: "lang == ? and id in [? x3]", Filtered: model.Yes, NQ: 10, TopK: 100,
		Output: []string{"title"}, DefaultConsistency: true,
		Took: 7311 * time.Millisecond, Trace: "4b2bbf8c7d9e1f00a1b2c3d4e5f60718", SDK: "Python-2.4.5",
		Status: "Successful",
	}}
	for _, replica := range c.Replicas {
		serveReplica(c, &r, replica)
	}
	r.Queue = &model.Queue{Kind: "kafka", Address: "10.0.0.9:9092", Outcome: model.Answered}
	for _, p := range c.PChannels {
		r.Queue.Topics = append(r.Queue.Topics, model.Topic{Name: p.Name, First: 10, End: 5000})
	}
	for _, s := range c.Segments {
		if s.State == model.SegmentGrowing {
			r.DataSegments = append(r.DataSegments, model.DataSegment{ID: s.ID, State: s.State, Rows: s.Rows + 500})
		}
	}
	return r
}

func liveNode(s *model.Session) *model.LiveNode {
	call := model.Call{
		Role: s.Role, Node: s.Node, Address: s.Address, Method: "GetMetrics", Outcome: model.Answered,
		Took: 4 * time.Millisecond,
	}
	n := &model.LiveNode{Role: s.Role, Node: s.Node, Address: s.Address, Outcome: model.Answered, State: "Healthy"}
	if s.Stopping {
		call.Outcome, call.Reason = model.TimedOut, "no response within 5s"
		n.Outcome, n.Reason, n.State = call.Outcome, call.Reason, ""
		n.Calls = []model.Call{call}
		return n
	}
	n.Calls = []model.Call{call}
	n.System = &model.System{
		Name: n.Name(), CPUs: 8, CPUUsage: 29, Memory: 16 << 30, MemoryUse: 2 << 30, Version: "2.4.5",
		GoVersion: "go1.21.11",
		Jemalloc: &model.Jemalloc{
			Allocated: 1 << 30, Active: 1200 << 20, Metadata: 40 << 20, Resident: 1300 << 20, Mapped: 1500 << 20,
			Retained: 300 << 20,
		},
		Mode: "DISTRIBUTED", StartedAt: Now.Add(-2 * time.Hour),
	}
	n.Config = &model.Config{
		Values: map[string]string{"querynodeschedulercpuratio": "10", "commonmetricsport": "9091"},
		Names:  map[string]string{"querynodeschedulercpuratio": "querynode.scheduler.cpuratio"},
	}
	if s.Role == "querynode" {
		n.Distribution = &model.Distribution{}
	}
	scrape := func(at time.Time, cpu float64) *model.Metrics {
		return Scrape(at, map[string][]model.Series{
			"process_cpu_seconds_total":     {{Value: cpu}},
			"process_resident_memory_bytes": {{Value: 2 << 30}},
			"process_start_time_seconds":    {{Value: float64(Now.Add(-2 * time.Hour).Unix())}},
		})
	}
	n.Process = &model.Process{
		Address: s.Address, Nodes: []model.Ref{n.Ref()}, Outcome: model.Answered, Healthz: "OK", LogLevel: "info",
		Metrics: scrape(Now.Add(-2*time.Second), 100.5), Before: scrape(Now.Add(-4*time.Second), 100),
	}
	if s.Role == "proxy" {
		n.Process.Connections = []model.Connection{
			{Proxy: s.Node, ID: "461", SDK: "Python", Version: "2.6.1", Host: "web-7", ActiveAt: Now.Add(-time.Minute)},
		}
		n.Process.Dependencies = []model.Dependency{
			{
				Proxy: s.Node, Kind: "metadata store", Type: "etcd", Healthy: model.No,
				Reason: "Not all etcd members are healthy",
			},
			{
				Proxy: s.Node, Kind: "metadata store", Type: "etcd", Member: "etcd-1:2379", Healthy: model.No,
				Reason: "Active Alarm(s): NOSPACE",
			},
			{Proxy: s.Node, Kind: "message queue", Type: "kafka", Healthy: model.Yes},
		}
	}
	return n
}

func serveReplica(c *model.Cluster, r *model.RuntimeParts, replica *model.Replica) {
	var nodes []*model.LiveNode
	for _, n := range r.Nodes {
		for _, id := range replica.Nodes {
			if n.Role == "querynode" && n.Node == id && n.Distribution != nil {
				nodes = append(nodes, n)
			}
		}
	}
	if len(nodes) == 0 {
		return
	}
	live := &model.LiveReplica{
		ID: replica.ID, Collection: replica.Collection, ResourceGroup: replica.ResourceGroup, Nodes: replica.Nodes,
	}
	for _, v := range c.VChannelsOf(replica.Collection) {
		leader := nodes[0]
		view := model.LeaderView{Channel: v.Name, Collection: replica.Collection, TargetVersion: 7}
		recovery := &model.Recovery{
			Collection: replica.Collection, Channel: v.Name, SeekAt: v.Checkpoint.At, Seek: v.Checkpoint,
		}
		for i, s := range c.SegmentsOf(replica.Collection) {
			switch {
			case s.VChannel != v.Name:
			case s.State == model.SegmentGrowing:
				view.Growing = append(view.Growing, model.GrowingView{ID: s.ID, At: s.StartAt})
				view.GrowingRows += s.Rows + 500
				recovery.Unflushed = append(recovery.Unflushed, s.ID)
			case s.State == model.SegmentFlushed && s.Level != model.LevelL0:
				node := nodes[i%len(nodes)]
				view.Sealed = append(view.Sealed, model.LeaderSegment{ID: s.ID, Node: node.Node, Version: 1})
				recovery.Flushed = append(recovery.Flushed, s.ID)
				node.Distribution.Sealed = append(node.Distribution.Sealed, servedSegment(s))
			}
		}
		leader.Distribution.Leaders = append(leader.Distribution.Leaders, view)
		leader.Distribution.Channels = append(leader.Distribution.Channels, model.ServedChannel{
			Name: v.Name, Collection: replica.Collection, Version: 1,
		})
		live.Leaders = append(live.Leaders, model.ShardLeader{
			Collection: replica.Collection, Channel: v.Name, Nodes: []model.NodeID{leader.Node},
		})
		r.ShardLeaders = append(r.ShardLeaders, live.Leaders[len(live.Leaders)-1])
		r.Recovery = append(r.Recovery, recovery)
	}
	r.Replicas = append(r.Replicas, live)
	r.Loaded = append(r.Loaded, &model.LoadedCollection{
		Collection: replica.Collection, Percent: 100, Available: true, RefreshPercent: 100,
	})
}

func servedSegment(s *model.Segment) model.ServedSegment {
	out := model.ServedSegment{
		ID: s.ID, Collection: s.Collection, Partition: s.Partition, Channel: s.VChannel, Version: 1, Level: s.Level,
	}
	for i := range s.Indexes {
		if x := &s.Indexes[i]; x.State == model.IndexFinished {
			out.Indexes = append(out.Indexes, model.ServedIndex{
				Field: 100, Index: x.Index, Build: x.Build, Bytes: x.Bytes, Rows: x.Rows,
			})
		}
	}
	if s.Details != nil {
		for _, x := range s.Details.JSONIndexes {
			out.JSONFields = append(out.JSONFields, x.Field)
		}
	}
	return out
}
