package model

import "time"

// Target is the last target of a collection that QueryCoord saved. A restarted coordinator starts with it.
// Nodes may serve something else.
type Target struct {
	Collection CollectionID
	Version    int64
	VChannels  []TargetVChannel // by name
	Key        string
}

// TargetVChannel is one shard of a Target.
type TargetVChannel struct {
	Name string
	// Segments are the sealed segments to load, by id. Rows is the sum of their rows.
	Segments []SegmentID
	Rows     int64
	// Growing and Dropped are the segments that the shard leader should keep growing and release.
	Growing, Dropped []SegmentID
	SeekAt           TSO
}

// PartitionStats lists the segments produced by one clustering compaction of a partition.
type PartitionStats struct {
	Collection  CollectionID
	Partition   PartitionID
	VChannel    string
	Version     int64
	Current     bool // version used by queries
	Segments    []SegmentID
	CommittedAt time.Time
	AnalyzeTask int64 // task that computed the clusters, 0 if none
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
	// Pins is the number of pins, which retain the snapshot's data while it is read. Its segments are not
	// compacted before ProtectedUntil.
	Pins           int
	ProtectedUntil time.Time
	PinnedUntil    time.Time // expiry of the last pin
	PendingSince   time.Time // when its creation began
	Key            string
}

// HistoryEntry is an older value that RootCoord keeps under snapshots/. It still has the names of dropped
// objects.
type HistoryEntry struct {
	Key         string // the key under snapshots/, relative to the metadata prefix
	OriginalKey string // key that had the value
	Kind        string // name of the key's kind: "collection", "partition", ...
	At          TSO
	// ID and Name identify the object. They are 0 and "" for a tombstone.
	ID        int64
	Name      string
	Tombstone bool // the object was dropped at that time
}

// Allocator is the upper bound of the timestamps or ids that a coordinator has reserved. A time a few seconds
// in the future is normal.
type Allocator struct {
	Name string // "gid/timestamp", "querycoord-id-allocator/idTimestamp", ...
	At   time.Time
	Key  string
}

// Streaming is the record of the streaming coordinator (2.6 and later).
type Streaming struct {
	// Version is 0 during an upgrade from 2.5, and at least 1 once streaming is active.
	Version int64
	// ControlPChannel is the pchannel of the control channel, "" if not recorded.
	ControlPChannel string
	// Clusters are the clusters in replication; empty if none is configured.
	Clusters []ReplicationCluster
	// Links are the replication directions between cluster ids.
	Links []ReplicationLink
	// Channels are the pchannels that this cluster replicates to other clusters.
	Channels []ReplicationChannel
	// ForcePromoted is true if the cluster was promoted without waiting for its source (3.0).
	ForcePromoted bool
	// ConfigAcks holds the channels' acknowledgements of the replication configuration.
	ConfigAcks []ConfigAck
}

// ConfigAck is a channel that the replication configuration was written to. At is its time tick in that
// channel, 0 until the channel has acknowledged it.
type ConfigAck struct {
	Channel string
	At      TSO
}

// ReplicationCluster is one Milvus cluster of a replication group. Its token is never read.
type ReplicationCluster struct {
	ID        string
	URI       string
	PChannels []string
}

// ReplicationLink is a direction of replication.
type ReplicationLink struct{ Source, Target string }

// ReplicationChannel is the replication of a pchannel to another cluster.
type ReplicationChannel struct {
	Source, Target string
	Cluster        string
	// StartedAt is the first replicated time tick, Start the message with it.
	StartedAt TSO
	Start     string
	// FromStart is true if replication begins there regardless of the target's checkpoint (3.0).
	FromStart bool
}

// ReplicatePosition is the position in a source cluster's pchannel up to which a pchannel is replicated
// (commonpb.ReplicateCheckpoint).
type ReplicatePosition struct {
	Cluster, PChannel string
	// Message is the id of the last replicated message in its queue's format. At is its time tick by the
	// source's clock.
	Message string
	At      TSO
}
