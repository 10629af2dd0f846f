package model

import "time"

// Distribution is a query node's answer to GetDataDistribution.
type Distribution struct {
	Sealed   []ServedSegment // by id
	Channels []ServedChannel // by name
	Leaders  []LeaderView    // by channel
	// MemoryCapacity in bytes and CPUs are said by 2.6; 0 before.
	MemoryCapacity int64
	CPUs           int64
	ModifiedAt     time.Time // zero if not said
}

// ServedSegment is a sealed segment in a query node's memory. Rows are not said by
// the node: DataCoord's record has them.
type ServedSegment struct {
	ID         SegmentID
	Collection CollectionID
	Partition  PartitionID
	Channel    string
	Version    int64
	Level      SegmentLevel
	Sorted     bool
	// Indexes are the index files in use. Without one for the vector field, searches compare every row.
	Indexes []ServedIndex
	// JSONFields are the JSON fields whose key index is loaded, by id (2.6 and later; older nodes report none).
	JSONFields []FieldID
}

// ServedIndex is an index file that a query node has loaded for a segment.
type ServedIndex struct {
	Field FieldID
	Index IndexID
	Build BuildID
	Bytes int64
	Rows  int64
}

// ServedChannel is a vchannel that a query node watches.
type ServedChannel struct {
	Name       string
	Collection CollectionID
	Version    int64
}

// LeaderView is a shard leader's own view of its shard.
type LeaderView struct {
	Channel    string
	Collection CollectionID
	// Growing are the growing segments, all in the memory of the leader's node, by id;
	// GrowingRows their rows in sum: nodes do not say rows per segment.
	Growing     []GrowingView
	GrowingRows int64
	// Sealed says which node the leader asks for which sealed segment, by id.
	Sealed        []LeaderSegment
	TargetVersion int64
	// Serviceable is nil where the version does not say (before 2.5).
	Serviceable *bool
	// CatchingUp is nil where the version does not say (before 2.6).
	CatchingUp *bool
}

// GrowingView is a growing segment in a leader's view; At is the position it started from.
type GrowingView struct {
	ID SegmentID
	At TSO
}

// LeaderSegment is a sealed segment in a leader's view.
type LeaderSegment struct {
	ID      SegmentID
	Node    NodeID
	Version int64
}

// ShardView is a leader's view together with the node that holds it.
type ShardView struct {
	Node *LiveNode
	*LeaderView
}

// Served says that a node has a segment in memory.
type Served struct {
	Node *LiveNode
	// Sealed is nil for a growing segment; Leader is the view that has it growing, nil for a sealed one.
	Sealed *ServedSegment
	Leader *LeaderView
}
