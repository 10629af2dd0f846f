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
	// Message is the queue's message id as stored (Kafka and RocksMQ: little-endian int64, which a streaming node's text is turned into).
	Message []byte
	// PChannel is the channel name inside the position.
	PChannel string
	// Queue is the message queue that a 2.6 notes beside the id: "woodpecker", "pulsar", "kafka", "rocksmq"; else "".
	Queue string
	// Entry is the message in Woodpecker's log, nil for other queues.
	Entry *LogPosition
}

// Offset is the message's number, where the checkpoint is of a queue that numbers messages, or names none and has an id of that size.
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
	// Checkpoint is zero where none is recorded.
	Checkpoint Checkpoint
	// Watcher is the data node (2.5 and older) or streaming node (2.6) that consumes
	// it; 0 if none. Watched is false where no watch record exists.
	Watched bool
	Watcher NodeID
	// WatchState is datapb.ChannelWatchState's word: WatchSuccess, ToWatch, ...; on 2.6 the state of the pchannel.
	WatchState string
	// WatchedAt is when DataCoord began with that state (2.5 and older), zero if not recorded.
	WatchedAt time.Time
	// OtherWatchers are further nodes with a watch record of the same channel: trouble.
	OtherWatchers []NodeID
	// OtherStates are the states of their watches, in the same order.
	OtherStates []string
	// Watches are all its watch records, by node: how often each was written, where the source knows it.
	Watches []WatchRecord
	// Removal is "" or the text of channel-removal: "removed", "non-removed".
	Removal string
	// State is streamingnode's state of the vchannel (2.6), "" otherwise, and Schemas how many schemas its recovery metadata has.
	State   string
	Schemas int
	// StreamedAt is the time tick up to which streamingnode's record of it has seen the log (2.6), 0 otherwise.
	StreamedAt TSO
	// TruncatedAt is when the collection was emptied last: what is older in the channel is gone (2.6 and later). Zero for never.
	TruncatedAt TSO
}

// WatchRecord is how a watch record (channelwatch/) was written. Numbers are etcd's, 0 where the source does not have them.
type WatchRecord struct {
	Key  string
	Node NodeID
	// Progress is the percentage of the watch that is done, as the data node noted it last.
	Progress int32
	// Version counts its writes since it was made at revision Created, the last of them at Modified.
	Version, Created, Modified int64
}

// PChannel is a physical channel: a topic of the message queue.
type PChannel struct {
	Name string
	// The rest is known on 2.6 (streaming) only.
	Streaming  bool
	State      string
	Term       int64
	Node       NodeID // the streaming node that it is assigned to
	AccessMode string
	// AssignedAt is when it was assigned last, zero if not recorded. Past are the assignments before, by term, that no node has closed yet.
	AssignedAt time.Time
	Past       []Assignment
	Checkpoint Checkpoint // of the WAL's consumer on that node
	// Replicated is up to where it has taken over another cluster's, nil if it is no target of replication. Salvaged is where it stood when it
	// was promoted by force (3.0), by source.
	Replicated *ReplicatePosition
	Salvaged   []ReplicatePosition
	// Replication are the directions of replication that its log has taken in, as "SOURCE>TARGET".
	Replication []string
	// Alter is the change to another message queue that is under way, "" if none is (2.6 and later).
	Alter string
}

// Assignment is a streaming node that a pchannel was assigned to in a term.
type Assignment struct {
	Term       int64
	Node       NodeID
	AccessMode string
}

// OffsetSize is the size of a message id that is a number.
const OffsetSize = 8

// MessageIDSize is the size of the message ids in checkpoints, if all have the same; else 0. It is OffsetSize for Kafka and RocksMQ
// (pkg/mq/msgstream/mqwrapper/*/..._id.go), more for Pulsar.
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
// GetVirtualChannel), into its pchannel and collection. The collection is 0 if the name has another form, e.g. the
// control channel's.
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
