package modeltest

import (
	"strconv"
	"time"

	"kitescope/inspect/model"
)

// Faults of the large cluster that only appear in the responses of processes.
const (
	growingCollection   = 3 // collection whose flushed segments are still growing
	unindexedCollection = 5 // collection whose indexes are not loaded
	deadNode            = 27
)

// runtime returns the responses of the large cluster's processes.
func (p *largeServed) runtime(c *model.Cluster) model.RuntimeParts {
	p.live = model.RuntimeParts{
		Kind: "live", From: Now.Add(-3 * time.Second), To: Now.Add(-time.Second), ClusterKey: "by-dev",
	}
	p.live.BalanceActive, p.live.Checkers = new(true), []model.Checker{
		{ID: 1, Name: "segment_checker", Active: true}, {ID: 2, Name: "balance_checker", Active: true},
	}
	nodes := make(map[model.NodeID]*model.LiveNode)
	for _, s := range c.Sessions {
		n := p.response(s)
		p.live.Nodes = append(p.live.Nodes, n)
		if n.Process != nil {
			p.live.Processes = append(p.live.Processes, n.Process)
		}
		if s.Role == "querynode" {
			nodes[s.Node] = n
		}
	}
	for i, r := range c.Replicas {
		p.serve(c, i, r, nodes)
	}
	for _, g := range c.ResourceGroups {
		p.live.Groups = append(p.live.Groups, &model.LiveResourceGroup{
			Name: g.Name, Capacity: g.Capacity, Available: g.Capacity, Requests: g.Requests, Limits: g.Limits,
			Nodes: g.Nodes,
		})
	}
	for _, s := range c.Segments {
		if s.State == model.SegmentGrowing {
			p.live.DataSegments = append(p.live.DataSegments, model.DataSegment{
				ID: s.ID, State: s.State, Rows: s.Rows + 500, ExpireAt: ago(-time.Second),
			})
		}
	}
	p.live.Queue = &model.Queue{Kind: "kafka", Address: "10.0.0.9:9092", Outcome: model.Answered}
	for _, t := range c.PChannels {
		p.live.Queue.Topics = append(p.live.Queue.Topics, model.Topic{Name: t.Name, First: 10, End: 5000})
	}
	p.metrics()
	return p.live
}

// response returns the responses of one process.
func (p *largeServed) response(s *model.Session) *model.LiveNode {
	n := &model.LiveNode{
		Role: s.Role, Node: s.Node, Address: s.Address, Outcome: model.Answered, State: "Healthy",
		ProbeRound: &model.ProbeRound{
			Connect: time.Millisecond, Dial: time.Millisecond, Probes: make([]model.Probe, 8),
		},
	}
	call := func(method string) model.Call {
		return model.Call{
			Role: s.Role, Node: s.Node, Address: s.Address, Method: method, Outcome: model.Answered,
			Took: 4 * time.Millisecond,
		}
	}
	n.Calls = []model.Call{call("GetComponentStates"), call("GetMetrics"), call("ShowConfigurations")}
	if s.Node == deadNode {
		n.Outcome, n.Reason, n.State = model.Refused, "connection refused", ""
		for i := range n.Calls {
			n.Calls[i].Outcome, n.Calls[i].Reason = n.Outcome, n.Reason
		}
		return n
	}
	n.System = &model.System{
		Name: n.Name(), CPUs: 16, CPUUsage: 35, Memory: 1 << 40, MemoryUse: 200<<30 + p.random(1<<30),
		Version: servedVersion, GoVersion: "go1.21.11",
		Mode: "DISTRIBUTED", StartedAt: Now.Add(-30 * 24 * time.Hour),
	}
	if s.Role == "querynode" || s.Role == "datanode" {
		n.System.Quota = &model.QuotaMetrics{
			Rates:          map[string]float64{"InsertConsumeThroughput": 20_000},
			SlowestChannel: p.VChannels[int(s.Node)%len(p.VChannels)].Name, SlowestAt: ago(1300 * time.Millisecond),
		}
	}
	n.Config = p.config(s)
	n.Process = &model.Process{
		Address: s.Address, Nodes: []model.Ref{n.Ref()}, Outcome: model.Answered, Healthz: "OK",
		Metrics: scrape(Now.Add(-2*time.Second), 1000), Before: scrape(Now.Add(-17*time.Second), 920),
	}
	addSearches(n)
	if s.Role == "rootcoord" {
		AddSeries(n.Process.Metrics, "milvus_rootcoord_quota_states",
			model.Series{Labels: []model.Pair{{Key: "quota_states", Value: "DenyToWrite"}}})
	}
	if s.Role == "querynode" {
		n.Calls = append(n.Calls, call("GetDataDistribution"))
		n.Distribution = &model.Distribution{ModifiedAt: Now.Add(-time.Minute)}
	}
	return n
}

// config returns a configuration of 193 keys, like ShowConfigurations. Node 1003 has one differing value.
func (p *largeServed) config(s *model.Session) *model.Config {
	if s.Role == "proxy" {
		return nil // a proxy does not have this call
	}
	c := &model.Config{Values: make(map[string]string), Names: make(map[string]string)}
	set := func(key, value string) {
		c.Values[model.FoldConfigKey(key)], c.Names[model.FoldConfigKey(key)] = value, key
	}
	for i := range 120 {
		set("common.setting"+strconv.Itoa(i), strconv.Itoa(i))
	}
	for i := range 70 {
		set(s.Role+".setting"+strconv.Itoa(i), strconv.Itoa(i))
	}
	set("queryCoord.autoBalance", "true")
	set("queryNode.scheduler.maxReadConcurrentRatio", "1")
	set("common.metricsPort", "9091")
	if s.Node == 1003 {
		set("queryNode.setting7", "8")
	}
	return c
}

func scrape(at time.Time, cpu float64) *model.Metrics {
	return Scrape(at, map[string][]model.Series{
		"process_cpu_seconds_total":     {{Value: cpu}},
		"process_resident_memory_bytes": {{Value: 200 << 30}},
		"process_start_time_seconds":    {{Value: float64(Now.Add(-30 * 24 * time.Hour).Unix())}},
		"go_memstats_alloc_bytes_total": {{Value: cpu * 1000}},
		"milvus_storage_op_count": {
			{
				Labels: []model.Pair{{Key: "persistent_data_op_type", Value: "put"}, {Key: "status", Value: "success"}},
				Value:  cpu,
			},
		},
	})
}

// versionAt returns a version in QueryCoord's format.
func versionAt(d time.Duration) int64 { return Now.Add(-d).UnixNano() }

// serve distributes a collection over the members of its replica. For the first collection the last node gets
// nothing.
func (p *largeServed) serve(c *model.Cluster, i int, replica *model.Replica, nodes map[model.NodeID]*model.LiveNode) {
	members := replica.Nodes
	if i == 0 {
		members = members[:len(members)-1]
	}
	live := &model.LiveReplica{
		ID: replica.ID, Collection: replica.Collection, ResourceGroup: replica.ResourceGroup, Nodes: replica.Nodes,
	}
	views := make(map[string]*model.LeaderView)
	leaders := make(map[string]*model.LiveNode)
	recoveries := make(map[string]*model.Recovery)
	for v, x := range c.VChannelsOf(replica.Collection) {
		leaders[x.Name] = nodes[members[(i*2+v)%len(members)]]
		views[x.Name] = &model.LeaderView{
			Channel: x.Name, Collection: replica.Collection, TargetVersion: versionAt(20 * time.Second),
		}
		recoveries[x.Name] = &model.Recovery{
			Collection: replica.Collection, Channel: x.Name, SeekAt: x.Checkpoint.At, Seek: x.Checkpoint,
		}
	}
	for k, s := range c.SegmentsOf(replica.Collection) {
		p.place(i, k, s, nodes[members[k%len(members)]], leaders[s.VChannel], views[s.VChannel], recoveries[s.VChannel])
	}
	for _, x := range c.VChannelsOf(replica.Collection) {
		d := leaders[x.Name].Distribution
		d.Leaders = append(d.Leaders, *views[x.Name])
		d.Channels = append(d.Channels, model.ServedChannel{
			Name: x.Name, Collection: replica.Collection, Version: versionAt(5 * time.Hour),
		})
		leader := model.ShardLeader{
			Collection: replica.Collection, Channel: x.Name, Nodes: []model.NodeID{leaders[x.Name].Node},
			Addresses: []string{leaders[x.Name].Address},
		}
		live.Leaders = append(live.Leaders, leader)
		p.live.ShardLeaders = append(p.live.ShardLeaders, leader)
		p.live.Recovery = append(p.live.Recovery, recoveries[x.Name])
	}
	p.live.Replicas = append(p.live.Replicas, live)
	p.live.Loaded = append(p.live.Loaded, &model.LoadedCollection{
		Collection: replica.Collection, Percent: 100, Available: true, RefreshPercent: 100,
	})
}

// place adds the k-th segment of a collection to the views of its nodes and its leader.
func (p *largeServed) place(
	collection, k int, s *model.Segment, node, leader *model.LiveNode, view *model.LeaderView, recovery *model.Recovery,
) {
	grows := s.State == model.SegmentGrowing
	stuck := collection == growingCollection && s.State == model.SegmentFlushed && s.Level != model.LevelL0 &&
		k%100 == 50
	switch {
	case grows || stuck:
		view.Growing = append(view.Growing, model.GrowingView{ID: s.ID, At: s.StartAt})
		view.GrowingRows += s.Rows + 500
		if grows {
			recovery.Unflushed = append(recovery.Unflushed, s.ID)
		} else {
			recovery.Flushed = append(recovery.Flushed, s.ID)
		}
		return
	case s.State != model.SegmentFlushed:
		return
	case s.Level == model.LevelL0:
		recovery.LevelZero = append(recovery.LevelZero, s.ID)
		leader.Distribution.Sealed = append(leader.Distribution.Sealed, model.ServedSegment{
			ID: s.ID, Collection: s.Collection, Partition: s.Partition, Channel: s.VChannel,
			Version: versionAt(4 * time.Minute), Level: s.Level,
		})
		return
	}
	recovery.Flushed = append(recovery.Flushed, s.ID)
	version := s.PositionAt.Time().Add(2 * time.Minute).UnixNano()
	view.Sealed = append(view.Sealed, model.LeaderSegment{ID: s.ID, Node: node.Node, Version: version})
	x := model.ServedSegment{
		ID: s.ID, Collection: s.Collection, Partition: s.Partition, Channel: s.VChannel, Version: version,
		Level: s.Level,
	}
	if b := &s.Indexes[0]; b.State == model.IndexFinished && (collection != unindexedCollection || k%100 != 50) {
		x.Indexes = []model.ServedIndex{{Field: 101, Index: b.Index, Build: b.Build, Bytes: b.Bytes, Rows: b.Rows}}
	}
	node.Distribution.Sealed = append(node.Distribution.Sealed, x)
}

// metrics adds the per-collection metrics of query nodes.
func (p *largeServed) metrics() {
	for _, n := range p.live.Nodes {
		if n.Distribution == nil {
			continue
		}
		label := func(id model.CollectionID, more ...model.Pair) []model.Pair {
			return append([]model.Pair{
				{Key: "collection_id", Value: id.String()}, {Key: "node_id", Value: n.Node.String()},
			}, more...)
		}
		sealed := make(map[model.CollectionID]float64)
		for i := range n.Distribution.Sealed {
			sealed[n.Distribution.Sealed[i].Collection]++
		}
		m := n.Process.Metrics
		for i := range servedCollections {
			id := collectionAt(i)
			if count := sealed[id]; count > 0 {
				AddSeries(m, "milvus_querynode_segment_num",
					model.Series{
						Labels: label(id, model.Pair{Key: "segment_state", Value: "Sealed"}, model.Pair{
							Key: "indexed_field_count", Value: "1",
						}),
						Value: count,
					})
				AddSeries(m, "milvus_querynode_entity_num",
					model.Series{
						Labels: label(id, model.Pair{Key: "segment_state", Value: "Sealed"}, model.Pair{
							Key: "indexed_field_count", Value: "1",
						}),
						Value: count * 200_000,
					})
			}
		}
		for i := range n.Distribution.Leaders {
			AddSeries(m, "milvus_querynode_consume_tt_lag_ms",
				model.Series{
					Labels: label(n.Distribution.Leaders[i].Collection, model.Pair{Key: "msg_type", Value: "insert"}),
					Value:  200,
				})
		}
	}
}
