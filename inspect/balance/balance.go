// Package balance says how evenly query nodes share the work of a cluster, and which
// moves would even it out. What enters is a Cluster with its Runtime; what leaves:
//
//  1. Take adds up, per replica and node, what is served: a Survey.
//  2. Survey.Plan proposes the fewest moves that bring a replica under a goal.
//
// Nothing here is applied: kitescope only reads.
package balance

import "kitescope/inspect/model"

// Weights say what a row costs a search, relative to a row compared by brute force.
type Weights struct {
	// Brute is the cost of a row and dimension that is compared one by one; 1.
	Brute float64
	// Indexed is the share of that which a row behind an index costs, by index type; "" for others.
	Indexed map[string]float64
	// From says where the weights come from, for people.
	From string
}

// Survey is the work of all query nodes.
type Survey struct {
	Weights Weights
	// Groups are replicas of loaded collections, by database, collection, replica.
	Groups []*Group
	// Nodes add up each query node over all replicas, by id.
	Nodes []*Share
	// Unknown are query nodes that did not say what they serve; figures are then of the others.
	Unknown []*model.LiveNode
	// Asked is false if there is no Runtime: everything is unknown.
	Asked bool
}

// Group is one replica of a collection: the nodes that share its work.
type Group struct {
	Collection    *model.Collection
	Replica       *model.Replica
	ResourceGroup string
	// Shares are its nodes, by id: those that metadata names and those that serve it nonetheless.
	Shares []*Share
	Spread Spread
}

// Spread is how uneven a Group's shares of the cost are. Of a group without cost or
// with one node everything is 0.
type Spread struct {
	// MaxMean is the largest share over the mean: 1 is even, the number of nodes the worst.
	MaxMean float64
	// CV is the coefficient of variation: standard deviation over mean.
	CV float64
	// Busiest is the largest share's part of the whole, 0 to 1.
	Busiest float64
	// RowsMaxMean and RowsCV are the same over rows, which Milvus's own balancers weigh.
	RowsMaxMean, RowsCV float64
}

// Share is what one query node serves, of one replica or of all.
type Share struct {
	Node model.NodeID
	// Session is nil for a node that replicas name and no session does.
	Session *model.Session
	// Live is nil where the node was not asked; Known reports whether it said what it serves.
	Live  *model.LiveNode
	Known bool
	// Member reports whether metadata has the node in the replica.
	Member, ReadOnly bool

	Sealed, Growing         int
	SealedRows, GrowingRows int64
	// Bytes are the logs of its sealed segments; IndexBytes the index files.
	Bytes, IndexBytes int64
	// IndexedRows are sealed rows behind a vector index; BruteRows all others, growing ones included.
	IndexedRows, BruteRows int64
	Leaders, Channels      int
	// Cost is in rows times dimensions, as Weights say; BruteCost is the part of it that is brute force.
	Cost, BruteCost float64
}

// Rows are sealed and growing rows together.
func (s *Share) Rows() int64 { return s.SealedRows + s.GrowingRows }

// Take adds up what query nodes serve. Without a Runtime only the groups and their
// members are known.
func Take(c *model.Cluster) *Survey {
	return &Survey{Asked: c.Runtime != nil, Unknown: c.Runtime.Blind()}
}
