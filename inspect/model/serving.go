package model

import (
	"slices"
	"strings"
	"time"
)

// UnassignedNode is the node id of channels that DataCoord buffers because no node watches them.
const UnassignedNode = NodeID(-1 << 63)

// LoadState is QueryCoord's load info of a collection that should be in memory.
type LoadState struct {
	Collection CollectionID
	Status     string // Loaded, Loading, Invalid
	Percent    *int32 // loaded percentage recorded by 2.1; nil: not recorded, only in QueryCoord
	Replicas   int32
	LoadType   string // LoadCollection, LoadPartition
	Partitions []PartitionLoad
	Released   []PartitionID
	Indexes    map[FieldID]IndexID
	Fields     []FieldID // loaded fields, empty: all
	Recovered  int32     // number of load retries after QueryCoord restarts; QueryCoord limits them
	// UserReplicas is true if a user set the number of replicas. Cluster settings do not change it then.
	UserReplicas bool
	Key          string
}

// PartitionStatus returns the load status of one partition. The partition's own record decides. Since 2.2 a
// collection that was loaded as a whole has one record per partition, and 2.3 removes the record of a released
// partition. If no partition has a record, it is the status of the collection. It is NotLoad if the partition
// should not be in memory.
func (l *LoadState) PartitionStatus(id PartitionID) string {
	if l == nil {
		return NotLoad
	}
	for _, x := range l.Partitions {
		if x.Partition == id {
			return x.Status
		}
	}
	if slices.Contains(l.Released, id) || l.LoadType == "LoadPartition" || len(l.Partitions) > 0 {
		return NotLoad
	}
	return l.Status
}

// NotLoad is the load status of collections and partitions that should not be in memory.
const NotLoad = "NotLoad"

// PartitionLoad is the load state of one partition.
type PartitionLoad struct {
	Partition PartitionID
	Status    string
	Percent   *int32 // see LoadState
}

// Replica is a group of query nodes that jointly serve a collection.
type Replica struct {
	ID            ReplicaID
	Collection    CollectionID
	ResourceGroup string
	Nodes         []NodeID // read-write
	RONodes       []NodeID // read-only, leaving
	// StreamingNodes and ROStreamingNodes are query nodes embedded in streaming nodes (2.6).
	StreamingNodes, ROStreamingNodes []NodeID
	// ChannelNodes are the nodes that a channel is restricted to (2.4+ channel-exclusive mode).
	ChannelNodes map[string][]NodeID
	// ShardLeaders are recorded only up to 2.1.
	ShardLeaders map[string]NodeID
}

// ResourceGroup is a named set of query nodes.
type ResourceGroup struct {
	Name             string
	Capacity         int32
	Nodes            []NodeID
	Requests, Limits int32 // -1: not configured (before 2.4)
	TransferFrom     []string
	TransferTo       []string
	NodeLabels       []Pair // labels that a node must have to be added
}

// Session is the registration of one role of a process. A standalone process has several.
type Session struct {
	Node      NodeID
	Role      string // rootcoord, mixcoord, proxy, querynode, streamingnode, ...
	Address   string // gRPC host:port
	Version   string
	HostName  string
	Exclusive bool
	Stopping  bool
	Standby   bool // a coordinator registered under role-id, in standby
	Labels    []Pair
	Lease     int64
	// IndexEngine and ScalarIndexEngine are the ranges of index versions that a query node can read.
	IndexEngine, ScalarIndexEngine EngineRange
	Key                            string
	// RegisteredAt is not a field because etcd does not record the time. Revision gives the order of sessions
	// instead.
	Revision int64
}

// EngineRange is a range of index file versions.
type EngineRange struct{ Minimal, Current int32 }

// State returns the state according to the metadata: "registered", "stopping" or "standby". Only the Runtime
// shows whether the process responds.
func (s *Session) State() string {
	switch {
	case s.Stopping:
		return "stopping"
	case s.Standby:
		return "standby"
	}
	return "registered"
}

// Index is the definition of an index on a field.
type Index struct {
	ID         IndexID
	Collection CollectionID
	Field      FieldID
	Name       string
	Type       string // HNSW, IVF_FLAT, AUTOINDEX, INVERTED, ...; "" if not recorded
	Metric     string
	Params     []Pair // of the index, without type and metric
	TypeParams []Pair
	UserParams []Pair // as set by the user
	Auto       bool
	Deleted    bool
	CreatedAt  time.Time
	MinVersion int32
	MaxVersion int32
	// MinSchemaVersion is the first schema version whose segments have the field. Older segments are indexed
	// only after they were rewritten (3.0).
	MinSchemaVersion int32
	Layout           string // "2.1" or "2.2"
	Key              string
}

// Etcd is the health of the etcd behind a live source, from the Status responses of its members.
type Etcd struct {
	Members []EtcdMember
	// Problem is a problem of the whole etcd cluster, "" if none is known.
	Problem string
	At      time.Time
	// Elsewhere are the keys of sessions under root paths that hold sessions but no cluster metadata. They are
	// searched for only if no root path was given.
	Elsewhere []string
	// Linear holds the durations of linearizable reads of a key, which a majority of members must confirm.
	// Local holds those of serializable reads, which one member answers. nil: not measured.
	Linear, Local []time.Duration `doc:"-"`
	// Reads holds the duration of every small read since the health was last read, for any purpose. Concurrent
	// stalled reads are counted once.
	Reads []time.Duration `doc:"-"`
	// Activity is the write activity during the observation; nil: not observed.
	Activity *EtcdActivity
}

// Unresponsive reports whether no member could be reached. A refusal counts as reached.
func (e *Etcd) Unresponsive() bool {
	return e != nil && !slices.ContainsFunc(e.Members, func(m EtcdMember) bool {
		return m.Problem == "" || strings.Contains(m.Problem, "etcdserver:") || strings.Contains(m.Problem, "denied")
	})
}

// UnresponsiveReason returns the reason why etcd does not respond, from the first member that has one; "" if unknown.
func (e *Etcd) UnresponsiveReason() string {
	for _, m := range e.Members {
		if _, why, ok := strings.Cut(m.Problem, ": "); ok {
			return why
		}
	}
	return e.Problem
}

// Stall is the duration above which a small read counts as stalled. On an idle machine such a read takes 1 to 2
// ms.
const Stall = 300 * time.Millisecond

// Stalls returns the number of stalled reads, and their total and maximum duration.
func (e *Etcd) Stalls() (n int, sum, longest time.Duration) {
	if e == nil {
		return 0, 0, 0
	}
	for _, took := range e.Reads {
		if took > Stall {
			n, sum, longest = n+1, sum+took, max(longest, took)
		}
	}
	return n, sum, longest
}

// EtcdActivity counts the writes under the root path over a period.
type EtcdActivity struct {
	Over time.Duration
	// Revisions is the increase of etcd's revision. It includes writes outside the root path.
	Revisions int64
	// Writes are puts and deletes under the root path. Hot are the most frequently written keys, in descending
	// order. More is true if further keys were written, none more often than the last of Hot.
	Writes int64
	Hot    []KeyWrites
	More   bool
}

// KeyWrites is the number of writes of a key.
type KeyWrites struct {
	Key    string
	Writes int64
}

// EtcdMember is one member of an etcd cluster.
type EtcdMember struct {
	Name     string `doc:"-"`
	Endpoint string
	Version  string
	Leader   bool
	Learner  bool
	DBSize   int64    `doc:"db_size_bytes"` // on disk
	DBInUse  int64    `doc:"db_in_use_bytes"`
	DBQuota  int64    `doc:"db_quota_bytes,omitzero"` // 0: not reported (before etcd 3.6)
	Errors   []string // alarms and problems: "NOSPACE", "no leader"
	Problem  string   // why the member did not respond, "" if it did
}
