// Package balance measures how evenly query nodes share the work of a cluster, and plans moves that even it
// out. It reads a Cluster with its Runtime:
//
//  1. Take sums the served data per replica and node into a Survey.
//  2. Survey.Plan proposes few moves that bring a replica below a goal. Plan.Calls returns the API calls for these
//     moves.
//  3. Survey.Milvus computes the moves of Milvus's own balancer, with this cluster's factors.
//
// The package applies nothing: kitescope only reads.
package balance

import "kitescope/inspect/model"

// Survey is the work of all query nodes.
type Survey struct {
	Weights Weights
	// Groups are the replicas of loaded collections, sorted by database, collection and replica. If nodes serve
	// data of a collection that has no replica, that data is in a Group without a replica, at the end.
	Groups []*Group
	// Nodes holds the totals of each query node over all replicas, by id.
	Nodes []*Share
	// Spread is the spread of Nodes, over all replicas.
	Spread Spread
	// Unknown are query nodes that did not report their served data. Figures do not include them.
	Unknown []*model.LiveNode
	// HasRuntime is false without a Runtime. All runtime figures are then unknown.
	HasRuntime bool
	// Auto is the switch of Milvus's own balancer.
	Auto Auto

	cluster   *model.Cluster
	costs     map[model.CollectionID]*costing
	anomalies map[model.CollectionID][]Anomaly
	items     func() map[*Group][]item
}

// Group is one replica of a collection: the nodes that share its work.
type Group struct {
	ID model.CollectionID
	// Collection is nil if the collection is no longer in the metadata, Replica if the metadata has no replica.
	Collection    *model.Collection
	Replica       *model.Replica
	Database      string
	ResourceGroup string
	// Shares are the replica's nodes, by id: its members in the metadata, and other nodes that serve it.
	Shares []*Share
	Spread Spread
	// Sealed is the number of segments, each counted once. Fewer segments than nodes cannot be spread evenly.
	Sealed int
	// Unknown is the number of nodes with unknown served data. Figures do not include these nodes.
	Unknown int
	// Unread means that replicas were not read: Replica is nil, but a replica may exist.
	Unread bool
}

// Spread measures how uneven shares are. All values are 0 for a single share, or for shares without work.
type Spread struct {
	// MaxMean is the largest cost of a share over the mean: 1 is even, and the number of nodes is the maximum.
	MaxMean float64
	// CV is the coefficient of variation: standard deviation over mean.
	CV float64
	// Busiest is the largest share's fraction of the total, 0 to 1.
	Busiest float64
	// RowsMaxMean and RowsCV are MaxMean and CV of the rows, which Milvus's own balancers use.
	RowsMaxMean, RowsCV float64
	// MemoryMaxMean is MaxMean of the bytes of sealed segments and their index files.
	MemoryMaxMean float64
	// Nodes is the number of shares: known nodes that take segments or serve sealed ones.
	Nodes int
}

// Share is the data that a query node serves, for one replica or for all.
type Share struct {
	Node model.NodeID
	// Session is nil for a node that is in replicas but has no session.
	Session *model.Session
	// Live is nil if the node was not queried. Known reports whether its served data is known.
	Live  *model.LiveNode
	Known bool
	// FromMetrics means that the data is from the node's metrics only. Bytes, leaders and the channels of replicas
	// are then unknown, and the number of indexed rows is an estimate.
	FromMetrics bool
	// Member reports whether the replica's metadata contains the node. ReadOnly means that the node is leaving,
	// Streaming that it takes channels only (a query node inside a streaming node).
	Member, ReadOnly, Streaming bool

	Sealed, Growing         int
	SealedRows, GrowingRows int64
	// Copies is the number of sealed segments that are in memory twice and do not count here (model.Dedup),
	// CopiedRows the number of their rows. Sealed, SealedRows, Bytes and IndexBytes include copies, because the
	// node's memory does. No other figure does. Growing and GrowingRows never include copies.
	Copies     int
	CopiedRows int64
	// RepeatedRows is the maximum number of growing rows that are also among the sealed ones, because their segment
	// is being handed over. It is 0 unless one side is from metrics, which do not name segments.
	RepeatedRows int64
	// LevelZero is the number of segments that hold only deletes. Sealed does not include them.
	LevelZero int
	// Unrecorded is the number of sealed segments with an unknown number of rows.
	Unrecorded int
	// Bytes is the size of the logs of the sealed segments, IndexBytes the size of their index files.
	Bytes, IndexBytes int64
	// IndexedRows is the number of sealed rows behind a vector index, BruteRows the number of all other rows,
	// including growing ones.
	IndexedRows, BruteRows int64
	Leaders, Channels      int
	// Cost is in rows times dimensions, according to Weights. BruteCost is the part for brute-force comparisons.
	// GrowingCost is the part for growing rows, which moving segments cannot reduce.
	Cost, BruteCost, GrowingCost float64

	assignable bool
	unread     bool // replicas were not read, so membership is unknown
}

// Rows returns sealed and growing rows without copies, so the shares of a replica can be summed.
func (s *Share) Rows() int64 { return s.SealedRows - s.CopiedRows + s.GrowingRows }

// RepeatedRows sums the rows of the replica that may be counted twice: see Share.
func (g *Group) RepeatedRows() (sum int64) {
	for _, x := range g.Shares {
		sum += x.RepeatedRows
	}
	return sum
}

// Size returns the approximate memory use of the sealed segments: logs and index files, in bytes.
func (s *Share) Size() int64 { return s.Bytes + s.IndexBytes }

// Assignable reports whether Milvus assigns sealed segments to the node: it is a member, alive, not leaving, and not
// for channels only.
func (s *Share) Assignable() bool { return s.assignable }

// Name returns the name of the node's session, e.g. "querynode-19".
func (s *Share) Name() string {
	if s.Session != nil {
		return s.Session.Name()
	}
	return s.Node.Name("querynode")
}

// Address returns the node's address, or "" if it is unknown.
func (s *Share) Address() string {
	switch {
	case s.Session != nil:
		return s.Session.Address
	case s.Live != nil:
		return s.Live.Address
	}
	return ""
}

// State returns the unusual state of the node: dead, stopping, read-only, streaming, outside; or the reason
// why its served data is unknown. It returns "" if the state is normal.
func (s *Share) State() string {
	switch {
	case s.Session == nil && s.Live == nil:
		return "dead"
	case s.Session != nil && s.Session.Stopping || s.Live != nil && s.Live.State == "Stopping":
		return "stopping"
	case s.Live != nil && !s.Known:
		return s.Live.Outcome.String()
	case s.ReadOnly:
		return "read-only"
	case s.Streaming:
		return "streaming"
	case !s.Member && !s.unread:
		return "outside"
	}
	return ""
}

// Memory returns the node's memory use and capacity in bytes. ok is false if the use is unknown.
func (s *Share) Memory() (use, capacity int64, ok bool) {
	if s.Live == nil {
		return 0, 0, false
	}
	if use, ok = s.Live.Memory(); !ok {
		return 0, 0, false
	}
	if s.Live.System != nil {
		capacity = s.Live.System.Memory
	}
	if d := s.Live.Distribution; capacity == 0 && d != nil {
		capacity = d.MemoryCapacity
	}
	return use, capacity, ok
}

// CPU returns the CPU use of the node's process, in cores. ok is false if it is unknown.
func (s *Share) CPU() (cores float64, ok bool) {
	if s.Live == nil {
		return 0, false
	}
	cores, _, ok = s.Live.Process.CPU()
	return cores, ok
}

// Name returns the collection's name, with its database unless that is the default one. It returns the id if the
// collection is gone.
func (g *Group) Name() string {
	switch {
	case g.Collection == nil:
		return g.ID.String()
	case g.Database != "" && g.Database != "default":
		return g.Database + "." + g.Collection.Name
	}
	return g.Collection.Name
}

// Ref returns the replica as an object of the cluster, or the collection if the group has no replica.
func (g *Group) Ref() model.Ref {
	if g.Replica == nil {
		return model.Ref{Resource: "collections", ID: g.ID.String(), Name: g.Name()}
	}
	return model.Ref{Resource: "replicas", ID: g.Replica.ID.String(), Name: g.Name()}
}

// TooFewSegments reports whether a replica has fewer segments than nodes that take segments. Such a replica cannot be
// even.
func (g *Group) TooFewSegments() bool { return g.Sealed < countAssignable(g) }

// Share returns the share of a node, nil if it has none.
func (g *Group) Share(id model.NodeID) *Share { return find(g.Shares, id) }

// Node returns the totals of a node over all replicas, nil if it is not a query node.
func (s *Survey) Node(id model.NodeID) *Share { return find(s.Nodes, id) }

func find(list []*Share, id model.NodeID) *Share {
	for _, s := range list {
		if s.Node == id {
			return s
		}
	}
	return nil
}

// Rows sums the sealed and growing rows of the group's shares, each row once.
func (g *Group) Rows() (rows int64) {
	for _, s := range g.Shares {
		rows += s.Rows()
	}
	return rows
}

// Cost sums the cost of the group's shares.
func (g *Group) Cost() (cost float64) {
	for _, s := range g.Shares {
		cost += s.Cost
	}
	return cost
}

// Group returns the group of a replica, or nil if the survey does not have it.
func (s *Survey) Group(id model.ReplicaID) *Group {
	for _, g := range s.Groups {
		if g.Replica != nil && g.Replica.ID == id {
			return g
		}
	}
	return nil
}
