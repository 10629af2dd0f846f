package model

import "time"

// Distribution is a query node's response to GetDataDistribution.
type Distribution struct {
	Sealed   []ServedSegment // by id
	Channels []ServedChannel // by name
	Leaders  []LeaderView    // by channel
	// MemoryCapacity is in bytes. MemoryCapacity and CPUs are reported since 2.6, and are 0 before.
	MemoryCapacity int64
	CPUs           int64
	ModifiedAt     time.Time // zero if not reported
}

// ServedSegment is a sealed segment in a query node's memory. Nodes do not report its rows; DataCoord's record
// has them.
type ServedSegment struct {
	ID         SegmentID
	Collection CollectionID
	Partition  PartitionID
	Channel    string
	Version    int64
	Level      SegmentLevel
	Sorted     bool
	// Indexes are the loaded index files. Without one for the vector field, searches use brute force.
	Indexes []ServedIndex
	// JSONFields are the ids of JSON fields with a loaded key index (2.6 and later, else empty).
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

// LeaderView is a shard leader's view of its shard.
type LeaderView struct {
	Channel    string
	Collection CollectionID
	// Growing are the growing segments by id, all in the memory of the leader's node. GrowingRows is the sum of
	// their rows, because nodes do not report rows per segment.
	Growing     []GrowingView
	GrowingRows int64
	// Sealed maps each sealed segment to the node that the leader sends requests to, by id.
	Sealed        []LeaderSegment
	TargetVersion int64
	// Serviceable is nil if the release does not report it (before 2.5).
	Serviceable *bool
	// CatchingUp is nil if the release does not report it (before 2.6).
	CatchingUp *bool
}

// GrowingView is a growing segment in a leader's view. At is its start position.
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

// ShardView is a leader's view with the node that holds it.
type ShardView struct {
	Node *LiveNode
	*LeaderView
}

// Served is a segment in the memory of a node.
type Served struct {
	Node *LiveNode
	// Sealed is nil for a growing segment. Leader is the view with the growing segment, and nil for a sealed
	// one.
	Sealed *ServedSegment
	Leader *LeaderView
}
