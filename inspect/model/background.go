package model

import "time"

// Target is what QueryCoord last decided that a collection's nodes should serve. A
// restarted coordinator starts from it; what nodes serve is another matter.
type Target struct {
	Collection CollectionID
	Version    int64
	VChannels  []TargetVChannel // by name
	Key        string
}

// TargetVChannel is one shard of a Target.
type TargetVChannel struct {
	Name string
	// Segments are the sealed segments to be loaded, by id; Rows their sum.
	Segments []SegmentID
	Rows     int64
	// Growing and Dropped are the segments that the shard's leader is told to keep growing, and to forget.
	Growing, Dropped []SegmentID
	SeekAt           TSO
}

// PartitionStats says which segments one clustering compaction of a partition produced.
type PartitionStats struct {
	Collection  CollectionID
	Partition   PartitionID
	VChannel    string
	Version     int64
	Current     bool // the version that queries use
	Segments    []SegmentID
	CommittedAt time.Time
	AnalyzeTask int64 // that found the clusters, 0 if there was none
	Key         string
}

// Snapshot is a user's snapshot of a collection (3.0).
type Snapshot struct {
	ID          int64
	Name        string
	Description string
	Collection  CollectionID
	Partitions  []PartitionID
	State       string // Pending, Committed, Deleting
	CreatedAt   time.Time
	Location    string
	// Pins hold the snapshot's data for as long as something reads it; ProtectedUntil is until when its segments are not compacted.
	Pins           int
	ProtectedUntil time.Time
	PinnedUntil    time.Time // when the last of the pins expires
	PendingSince   time.Time // when it was begun
	Key            string
}

// HistoryEntry is one older value that RootCoord keeps under snapshots/: how a name
// that is gone can still be found.
type HistoryEntry struct {
	Key  string // the key under snapshots/, relative to the metadata prefix
	Of   string // the key whose value it was
	Kind string // the key kind's name: "collection", "partition", ...
	At   TSO
	// ID and Name are the object's, 0 and "" for a tombstone.
	ID        int64
	Name      string
	Tombstone bool // the object was dropped at that time
}

// Allocator is the upper bound of a window of timestamps or ids that a coordinator has
// reserved. Times ahead of the clock by a few seconds are normal.
type Allocator struct {
	Name string // "gid/timestamp", "querycoord-id-allocator/idTimestamp", ...
	At   time.Time
	Key  string
}

// Streaming is the streaming coordinator's own record (2.6 and later).
type Streaming struct {
	// Version is 0 while a cluster upgrades from 2.5, 1 and up once streaming runs.
	Version int64
	// ControlPChannel carries the control channel, "" if not recorded.
	ControlPChannel string
	// Clusters take part in replication; empty if none is configured.
	Clusters []ReplicationCluster
	// Links say who replicates to whom: cluster ids.
	Links []ReplicationLink
	// Channels are the pchannels that this cluster replicates to others.
	Channels []ReplicationChannel
	// ForcePromoted: it took over without waiting for its source (3.0).
	ForcePromoted bool
	// ConfigAcks says which channels have acknowledged the configuration of replication.
	ConfigAcks []ConfigAck
}

// ConfigAck is a channel that the configuration of replication was written into; At is the time tick of it there, 0 until the channel has
// acknowledged it.
type ConfigAck struct {
	Channel string
	At      TSO
}

// ReplicationCluster is one Milvus of a replicated group. Its token is never read into the model.
type ReplicationCluster struct {
	ID        string
	URI       string
	PChannels []string
}

// ReplicationLink is one direction of replication.
type ReplicationLink struct{ Source, Target string }

// ReplicationChannel is one pchannel's replication to another cluster.
type ReplicationChannel struct {
	Source, Target string
	Cluster        string
	// StartedAt is the time tick from which on it is replicated, Start the message.
	StartedAt TSO
	Start     string
	// FromStart: it begins there, whatever the target has (3.0).
	FromStart bool
}

// ReplicatePosition is up to where a pchannel has taken over another of a source cluster (commonpb.ReplicateCheckpoint).
type ReplicatePosition struct {
	Cluster, PChannel string
	// Message is the last message that was taken over, as its queue writes ids; At is its time tick, by the clock of the source.
	Message string
	At      TSO
}
