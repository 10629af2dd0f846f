package view

import (
	"slices"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// These columns need data from the processes. They are unknown until the processes are queried.

var nodeLive = []column[*model.Session]{
	col(table.Column{
		Name: "answer", Kind: table.State, Show: table.Hidden, Priority: 1,
		Doc: "Outcome of the query: answered, unreachable, refused, timed out, stale (another process at its " +
			"address), other cluster, denied, ...",
	},
		func(e *Env, s *model.Session) table.Cell {
			n := liveNode(e, s)
			if n == nil {
				return text(model.NotAsked.String())
			}
			return text(n.Outcome.String())
		}).withNeeds(model.PartRuntime).asLive(),
	col(table.Column{
		Name: "answer_reason", Title: "REASON", Show: table.Hidden,
		Doc: "Why there is no response, as the process or the network reports it.",
	},
		func(e *Env, s *model.Session) table.Cell {
			n := liveNode(e, s)
			if n == nil {
				return text("not in any response or metric")
			}
			return text(n.Reason)
		}).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "health", Kind: table.State, Show: table.Hidden, Priority: 3,
		Doc: "State that the process reports: Healthy, Initializing, Abnormal, StandBy or Stopping.",
	},
		reportedColumn(func(n *model.LiveNode) (table.Cell, bool) { return text(n.State), n.State != "" })).
		withNeeds(model.PartRuntime).asLive(),
	col(table.Column{
		Name: "suspended", Kind: table.Bool, Show: table.Hidden,
		Doc: "An operator has suspended the query or streaming node, as a coordinator reports (later 2.6 and 3.0); " +
			"also true of a query node in no resource group.",
	},
		func(e *Env, s *model.Session) table.Cell {
			if s.Role != "querynode" && s.Role != "streamingnode" {
				return none()
			}
			if e.Cluster.Runtime == nil {
				return unknown()
			}
			return tristateCell(e.Cluster.Runtime.Suspended(s))
		}).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "cpu_percent", Kind: table.Percent, Show: table.Hidden, Pinned: true,
		Doc: "CPU time of its process, 100 is one core: between two scrapes of its metrics, else the average since " +
			"it started.",
	},
		reportedColumn(func(n *model.LiveNode) (table.Cell, bool) {
			cores, _, ok := n.Process.CPU()
			return table.Cell{Float: cores * 100}, ok
		})).withNeeds(model.PartRuntime).asLive(),
	col(table.Column{
		Name: "memory_bytes", Kind: table.Bytes, Show: table.Hidden, Pinned: true,
		Doc: "Memory used by its process, as the process counts it for its limits; if not reported, from the " +
			"operating system.",
	},
		reportedColumn(func(n *model.LiveNode) (table.Cell, bool) {
			bytes, ok := n.Memory()
			return count(bytes), ok
		})).withNeeds(model.PartRuntime).asLive(),
	col(table.Column{
		Name: "resident_bytes", Kind: table.Bytes, Show: table.Hidden,
		Doc: "Resident memory of its process, from the operating system.",
	},
		reportedColumn(func(n *model.LiveNode) (table.Cell, bool) {
			bytes, ok := n.Process.ResidentBytes()
			return count(bytes), ok
		})).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "memory_limit_bytes", Kind: table.Bytes, Show: table.Hidden,
		Doc: "Memory limit of the process, as it sees it.",
	},
		reportedColumn(func(n *model.LiveNode) (table.Cell, bool) {
			if n.System == nil {
				return table.Cell{}, false
			}
			return count(n.System.Memory), true
		})).withNeeds(model.PartRuntime),
	jemallocColumn("jemalloc_allocated_bytes",
		"Bytes that its C++ code has allocated, as jemalloc counts them (late 2.6 and 3.0).",
		func(j *model.Jemalloc) int64 { return j.Allocated }),
	jemallocColumn("jemalloc_resident_bytes",
		"Bytes of physical memory that jemalloc holds for it; far more than is allocated: "+
			"fragmentation, or pages not returned yet.",
		func(j *model.Jemalloc) int64 { return j.Resident }),
	jemallocColumn("jemalloc_retained_bytes",
		"Bytes of virtual memory that jemalloc keeps for later; they take no physical memory.",
		func(j *model.Jemalloc) int64 { return j.Retained }),
	col(table.Column{
		Name: "log_level", Kind: table.State, Show: table.OnDemand,
		Doc: "Current log level of its process: debug, info, warn, error. debug costs CPU. Queried only if this " +
			"column is selected.",
	},
		reportedColumn(func(n *model.LiveNode) (table.Cell, bool) {
			if n.Process == nil {
				return table.Cell{}, false
			}
			return text(n.Process.LogLevel), n.Process.LogLevel != ""
		})).withNeeds(model.PartRuntime | model.PartLevels),
	col(table.Column{
		Name: "started_at", Title: "STARTED", Kind: table.Time, Show: table.Hidden, Doc: "When the process started.",
	},
		reportedColumn(func(n *model.LiveNode) (table.Cell, bool) {
			if t := n.StartedAt(); !t.IsZero() {
				return timeCell(t), true
			}
			return table.Cell{}, false
		})).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "sealed_segments", Title: "SEALED", Kind: table.Int, Show: table.Hidden, Priority: 1,
		Doc: "Sealed segments served by a query node, as reported, otherwise from its metrics.",
	},
		servedColumn(func(_ *Env, d *model.Distribution) int64 { return int64(len(d.Sealed)) },
			sealedByMetrics(func(x model.MetricSum) float64 { return x.Segments }))).
		withNeeds(model.PartRuntime).asLive(),
	col(table.Column{
		Name: "growing_segments", Title: "GROWING", Kind: table.Int, Show: table.Hidden, Priority: 1,
		Doc: "Growing segments served by a query node as shard leader; excludes those handed over and loaded as " +
			"sealed.",
	},
		servedColumn(func(e *Env, d *model.Distribution) int64 {
			segments, _ := growingTotals(e, d)
			return segments
		}, func(x *model.MetricServed) float64 { return x.Growing.Segments })).withNeeds(model.PartRuntime).asLive(),
	col(table.Column{
		Name: "growing_rows", Kind: table.Int, Show: table.Hidden, Priority: 2,
		Doc: "Rows of these growing segments, searched by brute force. In metrics, a segment being handed over " +
			"counts " +
			"as sealed, too.",
	},
		servedColumn(func(e *Env, d *model.Distribution) int64 {
			_, rows := growingTotals(e, d)
			return rows
		}, func(x *model.MetricServed) float64 { return x.Growing.Rows })).withNeeds(model.PartRuntime).asLive(),
	col(table.Column{
		Name: "leads", Kind: table.Int, Show: table.Hidden, Priority: 2, Doc: "Shards that a query node leads.",
	},
		servedColumn(func(_ *Env, d *model.Distribution) int64 { return int64(len(d.Leaders)) }, nil)).
		withNeeds(model.PartRuntime).asLive(),
}

// growingTotals returns the number of growing segments, and of their rows, in the shards that a query node
// leads. It excludes segments that are already loaded as sealed.
func growingTotals(e *Env, d *model.Distribution) (segments, rows int64) {
	for i := range d.Leaders {
		n, more := e.Cluster.Dedup(d.Leaders[i].Collection).Growing(&d.Leaders[i])
		segments, rows = segments+int64(n), rows+more
	}
	return segments, rows
}

func liveNode(e *Env, s *model.Session) *model.LiveNode {
	return e.Cluster.Runtime.LiveNode(s.Role, s.Node)
}

// jemallocColumn returns a column for one figure of jemalloc.
func jemallocColumn(name, doc string, figure func(*model.Jemalloc) int64) column[*model.Session] {
	return col(table.Column{Name: name, Kind: table.Bytes, Show: table.OnDemand, Doc: doc},
		reportedColumn(func(n *model.LiveNode) (table.Cell, bool) {
			switch {
			case n.System == nil:
				return table.Cell{}, false
			case n.System.Jemalloc == nil:
				return none(), true
			}
			return count(figure(n.System.Jemalloc)), true
		})).withNeeds(model.PartRuntime)
}

// reportedColumn returns a column function that computes the cell from data of the session's process. The cell is
// unknown without the data.
func reportedColumn(cell func(*model.LiveNode) (c table.Cell, ok bool)) func(*Env, *model.Session) table.Cell {
	return func(e *Env, s *model.Session) table.Cell {
		n := liveNode(e, s)
		if n == nil {
			n = sameProcess(e, s)
		}
		if n != nil {
			if c, ok := cell(n); ok {
				return c
			}
		}
		return unknown()
	}
}

// servedColumn returns a column function for a count of segments or rows that a query node serves: from its
// distribution, otherwise from its metrics. The cell is none for other roles.
func servedColumn(
	amount func(*Env, *model.Distribution) int64, metric func(*model.MetricServed) float64,
) func(*Env, *model.Session) table.Cell {
	return func(e *Env, s *model.Session) table.Cell {
		if !servesQueries(s) {
			return none()
		}
		if n := liveNode(e, s); n != nil && n.Distribution != nil {
			return count(amount(e, n.Distribution))
		}
		return servedByMetrics(e, s, metric)
	}
}

// servedByMetrics adds up a figure of the segments that a query node serves, from its metrics. It returns unknown
// without metrics.
func servedByMetrics(e *Env, s *model.Session, metric func(*model.MetricServed) float64) table.Cell {
	m := e.Cluster.Runtime.MetricsOf(s.Node)
	if m == nil || metric == nil {
		return unknown()
	}
	sum := 0.0
	for _, x := range m.ServedOf(s.Node) {
		sum += metric(&x)
	}
	return count(int64(sum))
}

// sealedByMetrics returns a function for a figure of sealed segments, indexed and unindexed together.
func sealedByMetrics(figure func(model.MetricSum) float64) func(*model.MetricServed) float64 {
	return func(x *model.MetricServed) float64 { return figure(x.Indexed) + figure(x.Unindexed) }
}

var segmentLive = []column[*model.Segment]{
	col(table.Column{
		Name: "served_as", Kind: table.State, Show: table.Hidden, Priority: 1,
		Doc: "Sealed, Growing or Both: how query nodes hold it in memory. NotServed: none has it but one should, " +
			"because it is flushed, has rows and its partition is loaded; none if none has to. Unknown while a node " +
			"that may have it is not responding.",
	},
		func(e *Env, s *model.Segment) table.Cell {
			sealed, growing := false, false
			for _, x := range e.Cluster.Runtime.Served(s.ID) {
				sealed, growing = sealed || x.Sealed != nil, growing || x.Leader != nil
			}
			switch {
			case sealed && growing:
				return text("Both")
			case sealed:
				return text("Sealed")
			case growing:
				return text("Growing")
			case !shouldServe(e, s):
				return none()
			case len(e.Cluster.Runtime.WithoutDistribution()) > 0:
				return unknown()
			}
			return text("NotServed")
		}).withNeeds(model.PartRuntime | model.PartServing).asLive(),
	col(table.Column{
		Name: "served_by", Kind: table.NamedIDs, Show: table.Hidden, Priority: 1,
		Doc: "Query nodes that have it in memory, among those that responded.",
	},
		func(e *Env, s *model.Segment) table.Cell {
			var nodes []model.NodeID
			for _, x := range e.Cluster.Runtime.Served(s.ID) {
				nodes = append(nodes, x.Node.Node)
			}
			if len(nodes) == 0 && len(e.Cluster.Runtime.WithoutDistribution()) > 0 {
				return unknown()
			}
			slices.Sort(nodes)
			return nodeCells(e, slices.Compact(nodes), "querynode", "streamingnode")
		}).withNeeds(model.PartRuntime).asLive(),
	col(table.Column{
		Name: "live_rows", Kind: table.Int, Show: table.Hidden,
		Doc: "Rows as DataCoord counts them in memory: those of growing segments are in etcd only after a sync.",
	},
		func(e *Env, s *model.Segment) table.Cell {
			d := e.Cluster.Runtime.DataSegment(s.ID)
			switch {
			case d != nil:
				return count(d.Rows)
			case s.State == model.SegmentGrowing:
				return unknown()
			}
			return none() // DataCoord is queried only for segments that may differ from their record
		}).withNeeds(model.PartRuntime),
}

// shouldServe reports whether query nodes should have a segment, according to the metadata. It is flushed and not
// replaced, has rows that are visible to searches, and its partition is loaded. L0 segments are excluded
// because their deletes reach the nodes in another way.
func shouldServe(e *Env, s *model.Segment) bool {
	switch {
	case s.State != model.SegmentFlushed, s.Level == model.LevelL0, s.Rows == 0, s.Invisible, s.Importing, s.Fake,
		s.Compacted:
		return false
	}
	return e.Cluster.LoadState(s.Collection).PartitionStatus(s.Partition) == "Loaded"
}

var vchannelLive = []column[*model.VChannel]{
	col(table.Column{
		Name: "leaders", Kind: table.NamedIDs, Show: table.Hidden, Priority: 1,
		Doc: "Query nodes leading the shard, one per replica, among those that responded.",
	},
		func(e *Env, v *model.VChannel) table.Cell {
			var nodes []model.NodeID
			for _, view := range e.Cluster.Runtime.ShardViews(v.Name) {
				nodes = append(nodes, view.Node.Node)
			}
			if len(nodes) == 0 && len(e.Cluster.Runtime.WithoutDistribution()) > 0 {
				return unknown()
			}
			return nodeCells(e, nodes, "querynode", "streamingnode")
		}).withNeeds(model.PartRuntime).asLive(),
	col(table.Column{
		Name: "served_growing_rows", Title: "GROWING ROWS", Kind: table.Int, Show: table.Hidden, Priority: 2,
		Doc: "Rows of the growing segments that its leaders serve: the maximum of the leaders.",
	},
		func(e *Env, v *model.VChannel) table.Cell {
			views := e.Cluster.Runtime.ShardViews(v.Name)
			var rows int64
			for _, view := range views {
				_, growing := e.Cluster.Dedup(view.Collection).Growing(view.LeaderView)
				rows = max(rows, growing)
			}
			switch {
			case len(views) > 0:
				return count(rows)
			case len(e.Cluster.Runtime.WithoutDistribution()) > 0:
				return unknown()
			}
			return none()
		}).withNeeds(model.PartRuntime).asLive(),
	col(table.Column{
		Name: "queue_lag", Kind: table.Int, Show: table.Hidden,
		Doc: "Messages in the topic after the checkpoint, if the queue was queried (Kafka).",
	},
		func(e *Env, v *model.VChannel) table.Cell {
			if lag, ok := e.Cluster.QueueLag(v); ok {
				return count(lag)
			}
			if len(v.Checkpoint.Message) == 0 {
				return none()
			}
			return unknown()
		}).withNeeds(model.PartRuntime),
}

// nodeLiveOf returns the data that a query node reports about itself.
func nodeLiveOf(e *Env, s *model.Session) *NodeLive {
	live := &NodeLive{Answer: model.NotAsked.String()}
	n := liveNode(e, s)
	if n != nil {
		live.Answer, live.Reason = n.Outcome.String(), n.Reason
	}
	cell := func(name string) table.Cell {
		for i := range nodeLive {
			if nodeLive[i].Name == name {
				return nodeLive[i].cell(e, s)
			}
		}
		return unknown()
	}
	live.Sealed, live.Growing, live.GrowingRows = cell("sealed_segments"), cell("growing_segments"),
		cell("growing_rows")
	live.Leads, live.CPU, live.Memory = cell("leads"), cell("cpu_percent"), cell("memory_bytes")
	live.SealedRows = live.Sealed
	if live.Sealed.Absent == table.Present {
		live.SealedRows = servedByMetrics(e, s, sealedByMetrics(func(x model.MetricSum) float64 { return x.Rows }))
	}
	if n != nil && n.Distribution != nil {
		var rows int64
		for i := range n.Distribution.Sealed {
			if known := e.Cluster.Segment(n.Distribution.Sealed[i].ID); known != nil {
				rows += known.Rows
			}
		}
		live.SealedRows = cellIfRead(e.Cluster, model.PartSegments, count(rows))
	}
	return live
}

// ledBy returns the vchannels of the shards that a query node leads.
func ledBy(e *Env, s *model.Session) []*model.VChannel {
	n := liveNode(e, s)
	if n == nil || n.Distribution == nil {
		return nil
	}
	var list []*model.VChannel
	for i := range n.Distribution.Leaders {
		if v := e.Cluster.VChannel(n.Distribution.Leaders[i].Channel); v != nil {
			list = append(list, v)
		}
	}
	return list
}

// failedCalls returns the calls to a session that failed.
func failedCalls(e *Env, s *model.Session) []model.Call {
	n := liveNode(e, s)
	if n == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(n.Calls), func(c model.Call) bool { return c.Outcome == model.Answered })
}
