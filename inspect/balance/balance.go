// Package balance says how evenly query nodes share the work of a cluster, and which
// moves would even it out. What enters is a Cluster with its Runtime; what leaves:
//
//  1. Take adds up, per replica and node, what is served: a Survey.
//  2. Survey.Plan proposes the fewest moves that bring a replica under a goal, Plan.Calls
//     how an operator makes them.
//  3. Survey.Milvus works out what Milvus's own balancer would do, with this cluster's factors.
//
// Nothing here is applied: kitescope only reads.
package balance

import "kitescope/inspect/model"

// Survey is the work of all query nodes.
type Survey struct {
	Weights Weights
	// Groups are replicas of loaded collections, by database, collection, replica. What nodes serve
	// of a collection without a replica is a Group without one, at the end.
	Groups []*Group
	// Nodes add up each query node over all replicas, by id.
	Nodes []*Share
	// Spread is that of Nodes: all replicas together.
	Spread Spread
	// Unknown are query nodes that did not say what they serve; figures are then of the others.
	Unknown []*model.LiveNode
	// Asked is false if there is no Runtime: everything is unknown.
	Asked bool
	// Auto is the switch of Milvus's own balancer.
	Auto Auto

	cluster *model.Cluster
	costs   map[model.CollectionID]*costing
	odd     map[model.CollectionID][]Odd
	items   func() map[*Group][]item
}

// Group is one replica of a collection: the nodes that share its work.
type Group struct {
	ID model.CollectionID
	// Collection is nil if it is gone from the metadata, Replica if metadata has none.
	Collection    *model.Collection
	Replica       *model.Replica
	Database      string
	ResourceGroup string
	// Shares are its nodes, by id: those that metadata names and those that serve it nonetheless.
	Shares []*Share
	Spread Spread
	// Sealed counts its segments, each once; fewer of them than nodes cannot be spread evenly.
	Sealed int
	// Unknown counts its nodes of which it is unknown what they serve: figures are of the others.
	Unknown int
	// Unread says that replicas were not read: Replica is nil, and there may well be one.
	Unread bool
}

// Spread is how uneven shares are. Of one share, or of shares without work, everything is 0.
type Spread struct {
	// MaxMean is the largest share of the cost over the mean: 1 is even, the number of nodes the worst.
	MaxMean float64
	// CV is the coefficient of variation: standard deviation over mean.
	CV float64
	// Busiest is the largest share's part of the whole, 0 to 1.
	Busiest float64
	// RowsMaxMean and RowsCV are the same over rows, which Milvus's own balancers weigh.
	RowsMaxMean, RowsCV float64
	// MemoryMaxMean is the same over the bytes of sealed segments and their index files.
	MemoryMaxMean float64
	// Nodes is how many shares there are: nodes that take segments and are known.
	Nodes int
}

// Share is what one query node serves, of one replica or of all.
type Share struct {
	Node model.NodeID
	// Session is nil for a node that replicas name and no session does.
	Session *model.Session
	// Live is nil where the node was not asked; Known reports whether it said what it serves.
	Live  *model.LiveNode
	Known bool
	// FromMetrics says that all is known from the node's metrics only: bytes, leaders and
	// channels are not, and which of its rows are indexed is an estimate.
	FromMetrics bool
	// Member reports whether metadata has the node in the replica. ReadOnly says that it is
	// leaving, Streaming that it takes channels only (a query node inside a streaming node).
	Member, ReadOnly, Streaming bool

	Sealed, Growing         int
	SealedRows, GrowingRows int64
	// Copies counts those of its sealed segments that do not count here, as they are in memory twice (model.Once), CopiedRows their rows:
	// Sealed, SealedRows, Bytes and IndexBytes have them, as its memory does, all other figures have not. Growing and GrowingRows never have any.
	Copies     int
	CopiedRows int64
	// Repeated are growing rows that may be among the sealed ones, too: of a segment that is being handed over. Metrics do not name segments, so that
	// it is unknown where either is known from them; 0 where it is known.
	Repeated int64
	// LevelZero counts segments that hold deletes only; Sealed does not have them.
	LevelZero int
	// Unrecorded counts sealed segments of which nobody says the rows.
	Unrecorded int
	// Bytes are the logs of its sealed segments; IndexBytes the index files.
	Bytes, IndexBytes int64
	// IndexedRows are sealed rows behind a vector index; BruteRows all others, growing ones included.
	IndexedRows, BruteRows int64
	Leaders, Channels      int
	// Cost is in rows times dimensions, as Weights say; BruteCost is the part of it that is
	// brute force, GrowingCost that of growing rows, which no segment move takes away.
	Cost, BruteCost, GrowingCost float64

	takes  bool
	unread bool // replicas were not read: nothing tells whether it is a member
}

// Rows are sealed and growing rows together, without copies: those of a replica's shares add up.
func (s *Share) Rows() int64 { return s.SealedRows - s.CopiedRows + s.GrowingRows }

// Repeated are rows of the replica that may be counted twice: see Share.
func (g *Group) Repeated() (sum int64) {
	for _, x := range g.Shares {
		sum += x.Repeated
	}
	return sum
}

// Size is what the sealed segments take in memory, nearly: logs and index files.
func (s *Share) Size() int64 { return s.Bytes + s.IndexBytes }

// Takes reports whether Milvus gives sealed segments to the node: it is a member, alive,
// neither leaving nor for channels only.
func (s *Share) Takes() bool { return s.takes }

// Name is how the node's session is called: "querynode-19".
func (s *Share) Name() string {
	if s.Session != nil {
		return s.Session.Name()
	}
	return s.Node.Name("querynode")
}

// Address is where the node is, "" if nothing says so.
func (s *Share) Address() string {
	switch {
	case s.Session != nil:
		return s.Session.Address
	case s.Live != nil:
		return s.Live.Address
	}
	return ""
}

// State is what is unusual about the node, "" if nothing is: dead, stopping, read-only,
// streaming, outside; or, of a node that did not say what it serves, why.
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

// Memory is what the node uses and may use, in bytes; ok is false if it did not say.
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

// CPU is the processor time that the node's process uses, in cores; ok is false if that is unknown.
func (s *Share) CPU() (cores float64, ok bool) {
	if s.Live == nil {
		return 0, false
	}
	cores, _, ok = s.Live.Process.CPU()
	return cores, ok
}

// Name is the collection's name with its database unless that is the default one; its id if it is gone.
func (g *Group) Name() string {
	switch {
	case g.Collection == nil:
		return g.ID.String()
	case g.Database != "" && g.Database != "default":
		return g.Database + "." + g.Collection.Name
	}
	return g.Collection.Name
}

// Ref is the replica as an object of the cluster, the collection where there is none.
func (g *Group) Ref() model.Ref {
	if g.Replica == nil {
		return model.Ref{Resource: "collections", ID: g.ID.String(), Name: g.Name()}
	}
	return model.Ref{Resource: "replicas", ID: g.Replica.ID.String(), Name: g.Name()}
}

// TooFew reports whether a replica has fewer segments than nodes that could take them: it cannot be even.
func (g *Group) TooFew() bool { return g.Sealed < countTakers(g) }

// Share returns the share of a node, nil if it has none.
func (g *Group) Share(id model.NodeID) *Share { return find(g.Shares, id) }

// Node returns what a node serves over all replicas, nil if it is no query node.
func (s *Survey) Node(id model.NodeID) *Share { return find(s.Nodes, id) }

func find(list []*Share, id model.NodeID) *Share {
	for _, s := range list {
		if s.Node == id {
			return s
		}
	}
	return nil
}

// Rows adds up its shares' rows, sealed and growing, each once.
func (g *Group) Rows() (rows int64) {
	for _, s := range g.Shares {
		rows += s.Rows()
	}
	return rows
}

// Cost adds up its shares' cost.
func (g *Group) Cost() (cost float64) {
	for _, s := range g.Shares {
		cost += s.Cost
	}
	return cost
}

// Of is the group of a replica, nil if there is none.
func (s *Survey) Of(id model.ReplicaID) *Group {
	for _, g := range s.Groups {
		if g.Replica != nil && g.Replica.ID == id {
			return g
		}
	}
	return nil
}
