package model

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"time"
)

// Checkpoint is a position in the message queue.
type Checkpoint struct {
	At TSO
	// Message is the message id as stored. For Kafka and RocksMQ it is a little-endian int64. The text form of
	// a streaming node is converted to it.
	Message []byte
	// PChannel is the channel name inside the position.
	PChannel string
	// Queue is the message queue that 2.6 records with the id: "woodpecker", "pulsar", "kafka" or "rocksmq";
	// else "".
	Queue string
	// Entry is the position in Woodpecker's log, nil for other queues.
	Entry *LogPosition
}

// Offset returns the message id as an offset. ok is false unless the id has OffsetSize bytes and the queue is
// Kafka, RocksMQ or not recorded.
func (c *Checkpoint) Offset() (offset int64, ok bool) {
	if len(c.Message) != OffsetSize || c.Queue != "" && c.Queue != "kafka" && c.Queue != "rocksmq" {
		return 0, false
	}
	n := binary.LittleEndian.Uint64(c.Message)
	return int64(n), n <= math.MaxInt64
}

// VChannel is a shard of a collection on a pchannel.
type VChannel struct {
	Name       string
	PChannel   string
	Collection CollectionID
	// Shard is the index in the collection's list of vchannels, -1 if the collection does not list it.
	Shard int
	// Checkpoint is zero if none is recorded.
	Checkpoint Checkpoint
	// Watcher is the data node (2.5 and older) or streaming node (2.6) that consumes the vchannel, 0 if none.
	// Watched is false if there is no watch record.
	Watched bool
	Watcher NodeID
	// WatchState is the name of the datapb.ChannelWatchState: WatchSuccess, ToWatch, ... On 2.6 it is the state
	// of the pchannel.
	WatchState string
	// WatchedAt is the time at which DataCoord set that state (2.5 and older), zero if not recorded.
	WatchedAt time.Time
	// OtherWatchers are further nodes with a watch record for the same channel, which is an error.
	OtherWatchers []NodeID
	// OtherStates are the watch states of OtherWatchers, in the same order.
	OtherStates []string
	// Watches are all watch records of the vchannel, by node, with their write counts if the source has them.
	Watches []WatchRecord
	// Removal is "" or the value of the channel-removal key: "removed", "non-removed".
	Removal string
	// State is the state in the streaming node's record of the vchannel (2.6), else "". Schemas is the number
	// of schemas in its recovery metadata.
	State   string
	Schemas int
	// StreamedAt is the time tick up to which that record has consumed the log (2.6), else 0.
	StreamedAt TSO
	// TruncatedAt is the last time the collection was truncated (2.6 and later), zero for never. Older messages
	// in the channel are ignored.
	TruncatedAt TSO
}

// WatchRecord holds the etcd revisions of a watch record (channelwatch/). Numbers are 0 if the source does not
// have them.
type WatchRecord struct {
	Key  string
	Node NodeID
	// Progress is the completed percentage of the watch, as last recorded by the data node.
	Progress int32
	// Version is the number of writes since the key was created at revision Created. Modified is the revision
	// of the last one.
	Version, Created, Modified int64
}

// PChannel is a physical channel: a topic of the message queue.
type PChannel struct {
	Name string
	// The remaining fields are known since 2.6 (streaming) only.
	Streaming  bool
	State      string
	Term       int64
	Node       NodeID // the assigned streaming node
	AccessMode string
	// AssignedAt is the time of the last assignment, zero if not recorded. Past are earlier assignments that no
	// node has closed yet, by term.
	AssignedAt time.Time
	Past       []Assignment
	Checkpoint Checkpoint // of the WAL consumer on that node
	// Replicated is the position up to which another cluster's channel is replicated here, nil if this is no
	// replication target. Salvaged are the positions at the time of a forced promotion (3.0), by source.
	Replicated *ReplicatePosition
	Salvaged   []ReplicatePosition
	// Replication lists the replication directions found in its log, as "SOURCE>TARGET".
	Replication []string
	// Alter is the pending switch to another message queue, "" if there is none (2.6 and later).
	Alter string
}

// Assignment is the assignment of a pchannel to a streaming node in a term.
type Assignment struct {
	Term       int64
	Node       NodeID
	AccessMode string
}

// OffsetSize is the size in bytes of a numeric message id.
const OffsetSize = 8

// MessageIDSize returns the size of the message ids in checkpoints, or 0 if there are several sizes or no ids.
// It is OffsetSize for Kafka and RocksMQ (pkg/mq/msgstream/mqwrapper/*/..._id.go) and larger for Pulsar.
func (c *Cluster) MessageIDSize() int {
	size := 0
	for _, v := range c.VChannels {
		n := len(v.Checkpoint.Message)
		if n == 0 {
			continue
		}
		if size != 0 && size != n {
			return 0
		}
		size = n
	}
	return size
}

// SplitVChannel splits the name of a vchannel, {pchannel}_{collection}v{shard} (Milvus pkg/util/funcutil,
// GetVirtualChannel), into its pchannel and collection. The collection is 0 if the name has another form, e.g.
// the control channel's.
func SplitVChannel(name string) (pchannel string, collection CollectionID) {
	i := strings.LastIndexByte(name, '_')
	if i < 0 {
		return name, 0
	}
	left, right, ok := strings.Cut(name[i+1:], "v")
	id, err := strconv.ParseInt(left, 10, 64)
	_, err2 := strconv.Atoi(right)
	if !ok || err != nil || err2 != nil {
		return name[:i], 0
	}
	return name[:i], CollectionID(id)
}
