package model

import (
	"slices"
	"time"
)

// LiveReplica is a replica in QueryCoord's response to GetReplicas.
type LiveReplica struct {
	ID            ReplicaID
	Collection    CollectionID
	ResourceGroup string
	Nodes         []NodeID
	// Leaders are the shard leaders of the replica, by channel. Node 0 means none.
	Leaders []ShardLeader
	// Outside counts nodes of other resource groups that temporarily serve the replica.
	Outside map[string]int64
}

// ShardLeader holds the leaders of a shard.
type ShardLeader struct {
	Collection CollectionID
	Channel    string
	// Nodes are the leaders, one per replica, and Addresses their addresses. Serviceable is nil if not reported.
	Nodes       []NodeID
	Addresses   []string
	Serviceable []bool
	// Problem is why QueryCoord returns no leader, e.g. "channel not available".
	Problem string
}

// LoadedCollection is QueryCoord's state of a collection.
type LoadedCollection struct {
	Collection CollectionID
	Percent    int64
	// Available reports whether the query service is available. RefreshPercent is the progress of loading new
	// segments.
	Available      bool
	RefreshPercent int64
}

// LiveResourceGroup is a resource group in QueryCoord's response to DescribeResourceGroup.
type LiveResourceGroup struct {
	Name string
	// Capacity and Available are -1 if only the name is known.
	Capacity         int32
	Available        int32
	Requests, Limits int32 // -1: not reported
	Nodes            []NodeID
	LoadedReplicas   map[CollectionID]int32
	Outgoing         map[CollectionID]int32
	Incoming         map[CollectionID]int32
}

// Checker is one of QueryCoord's periodic tasks: segment_checker, balance_checker, ...
type Checker struct {
	ID     int32
	Name   string
	Active bool
}

// NodeState is a coordinator's state of a query node or streaming node: Normal, Stopping or Suspend for query
// nodes (internal/querycoordv2/session/node_manager.go: State.String), active or suspended for streaming nodes.
// (internal/querycoordv2/session/node_manager.go: State.String), active or suspended of streaming nodes.
type NodeState struct {
	Node  NodeID
	State string
}

// Suspended reports whether a coordinator has suspended a session's node. It returns Unknown if the state is
// unknown. A query node is suspended while it is in no resource group
// (internal/querycoordv2/meta/resource_manager.go: GetNodesSuspended). A query node inside a streaming node
// always is, so it counts as Unknown.
func (r *Runtime) Suspended(s *Session) Tristate {
	list, suspended := r.QueryNodeStates, "Suspend"
	switch s.Role {
	case "querynode":
	case "streamingnode":
		list, suspended = r.StreamingNodeStates, "suspended"
	default:
		return Unknown
	}
	if s.Role == "querynode" && r.LiveNode("streamingnode", s.Node) != nil {
		return Unknown
	}
	i := slices.IndexFunc(list, func(n NodeState) bool { return n.Node == s.Node })
	switch {
	case i < 0:
		return Unknown
	case list[i].State == suspended:
		return Yes
	case s.Role == "querynode" && r.StreamingNodeStates == nil:
		// Releases without the pages of streaming nodes list a suspended query node as Normal.
		return Unknown
	}
	return No
}

// Recovery is DataCoord's response to GetRecoveryInfoV2 for a vchannel: the reference for the segments to serve.
type Recovery struct {
	Collection CollectionID
	Channel    string
	SeekAt     TSO
	Seek       Checkpoint
	Flushed    []SegmentID // to load as sealed, by id
	Unflushed  []SegmentID // to consume as growing
	Dropped    []SegmentID
	LevelZero  []SegmentID
}

// DataSegment is a segment in DataCoord's memory. etcd may not have its current number of rows yet.
type DataSegment struct {
	ID       SegmentID
	State    SegmentState
	Rows     int64
	ExpireAt TSO
}

// Queue is the state of the message queue and its topics.
type Queue struct {
	Kind    string // kafka, pulsar, rocksmq, woodpecker, natsmq; "" unknown
	Address string
	Outcome Outcome
	Reason  string
	// Topics by name; nil: unknown.
	Topics []Topic
	// Retention is the retention of Pulsar's namespace for messages that no subscription needs; nil if not
	// reported.
	Retention *QueueRetention
}

// QueueRetention is how long, and up to how many bytes, Pulsar keeps acknowledged messages; -1 is unlimited.
type QueueRetention struct {
	Time  time.Duration
	Bytes int64
}

// Topic is one topic of the queue, i.e. a pchannel.
type Topic struct {
	Name string
	// First and End are the offsets of the oldest message and of the next one.
	First, End int64
	// Stats holds Pulsar's statistics, which have no offsets; nil for Kafka.
	Stats *TopicStats
}

// TopicStats holds Pulsar's statistics of a topic.
type TopicStats struct {
	Bytes, BacklogBytes int64
	Subscriptions       []Subscription // by name
}

// Subscription is a reader of a topic.
type Subscription struct {
	Name, Type     string
	Backlog, Bytes int64 // unacknowledged messages and their bytes
	Consumers      int   // connected consumers
	// Consumed and Acked are the times of the last consumption and acknowledgement; zero for never.
	Consumed, Acked time.Time
}
