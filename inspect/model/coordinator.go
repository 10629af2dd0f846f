package model

import (
	"slices"
	"time"
)

// LiveReplica is QueryCoord's answer to GetReplicas.
type LiveReplica struct {
	ID            ReplicaID
	Collection    CollectionID
	ResourceGroup string
	Nodes         []NodeID
	// Leaders are the replica's shard leaders, by channel; Node 0: none.
	Leaders []ShardLeader
	// Outside counts nodes of other resource groups that serve it meanwhile.
	Outside map[string]int64
}

// ShardLeader says who leads a shard.
type ShardLeader struct {
	Collection CollectionID
	Channel    string
	// Nodes are its leaders, one per replica; Addresses likewise. Serviceable is nil where not said.
	Nodes       []NodeID
	Addresses   []string
	Serviceable []bool
	// Problem is why QueryCoord names none: "channel not available".
	Problem string
}

// LoadedCollection is a collection as QueryCoord holds it.
type LoadedCollection struct {
	Collection CollectionID
	Percent    int64
	// Available is the query service's own word; RefreshPercent counts the loading of new segments.
	Available      bool
	RefreshPercent int64
}

// LiveResourceGroup is QueryCoord's answer to DescribeResourceGroup.
type LiveResourceGroup struct {
	Name string
	// Capacity and Available are -1 where only the name is known.
	Capacity         int32
	Available        int32
	Requests, Limits int32 // -1: not said
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

// NodeState is a query node's or streaming node's state as a coordinator has it: Normal, Stopping or Suspend of query nodes
// (internal/querycoordv2/session/node_manager.go: State.String), active or suspended of streaming nodes.
type NodeState struct {
	Node  NodeID
	State string
}

// Suspended is whether a coordinator holds a session's node as suspended: Unsaid if none told of it. Of a query node that is so while it
// is in no resource group (internal/querycoordv2/meta/resource_manager.go: GetNodesSuspended), as the one inside a streaming node always is.
func (r *Runtime) Suspended(s *Session) Known {
	list, suspended := r.QueryNodeStates, "Suspend"
	switch s.Role {
	case "querynode":
	case "streamingnode":
		list, suspended = r.StreamingNodeStates, "suspended"
	default:
		return Unsaid
	}
	if s.Role == "querynode" && r.LiveNode("streamingnode", s.Node) != nil {
		return Unsaid
	}
	i := slices.IndexFunc(list, func(n NodeState) bool { return n.Node == s.Node })
	switch {
	case i < 0:
		return Unsaid
	case list[i].State == suspended:
		return Yes
	case s.Role == "querynode" && r.StreamingNodeStates == nil:
		// Before the release that has the pages of streaming nodes a suspended query node is listed as Normal.
		return Unsaid
	}
	return No
}

// Recovery is what DataCoord hands to whoever loads a vchannel: the reference for what
// should be served (GetRecoveryInfoV2).
type Recovery struct {
	Collection CollectionID
	Channel    string
	SeekAt     TSO
	Seek       Checkpoint
	Flushed    []SegmentID // to be loaded sealed, by id
	Unflushed  []SegmentID // to be consumed as growing
	Dropped    []SegmentID
	LevelZero  []SegmentID
}

// DataSegment is a segment in DataCoord's memory, of which etcd may not know the rows yet.
type DataSegment struct {
	ID       SegmentID
	State    SegmentState
	Rows     int64
	ExpireAt TSO
}

// Queue is the message queue's account of its topics.
type Queue struct {
	Kind    string // kafka, pulsar, rocksmq, woodpecker, natsmq; "" unknown
	Address string
	Outcome Outcome
	Reason  string
	// Topics by name; nil: unknown.
	Topics []Topic
	// Retention of messages that no subscription needs, of Pulsar's namespace: nil where it was not told.
	Retention *QueueRetention
}

// QueueRetention is how long, and up to how many bytes, Pulsar keeps what is done with; -1 is without bound.
type QueueRetention struct {
	Time  time.Duration
	Bytes int64
}

// Topic is one topic of the queue: a pchannel.
type Topic struct {
	Name string
	// First and End are the offsets of the oldest message and of the next one.
	First, End int64
	// Stats is Pulsar's account, which has no offsets; nil of Kafka.
	Stats *TopicStats
}

// TopicStats is what Pulsar says of a topic.
type TopicStats struct {
	Bytes, BacklogBytes int64
	Subscriptions       []Subscription // by name
}

// Subscription is a reader of a topic.
type Subscription struct {
	Name, Type     string
	Backlog, Bytes int64 // messages, and their bytes, that it has not acknowledged
	Consumers      int   // that are connected
	// Consumed and Acked are when it last did; zero for never.
	Consumed, Acked time.Time
}
