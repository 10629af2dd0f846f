package model

import (
	"slices"
	"strings"
	"time"
)

// UnassignedNode is the node id under which DataCoord buffers channels that no node watches.
const UnassignedNode = NodeID(-1 << 63)

// LoadState says that a collection should be in memory (QueryCoord's load info).
type LoadState struct {
	Collection CollectionID
	Status     string // Loaded, Loading, Invalid
	Percent    *int32 // share that is in memory, as 2.1 records it; nil: not recorded, QueryCoord alone knows
	Replicas   int32
	LoadType   string // LoadCollection, LoadPartition
	Partitions []PartitionLoad
	Released   []PartitionID
	Indexes    map[FieldID]IndexID
	Fields     []FieldID // loaded fields, empty: all
	Recovered  int32     // how often QueryCoord took the load up again after a restart; it gives up after a number of times
	// UserReplicas says that a user named the number of replicas: the settings of the cluster do not change it.
	UserReplicas bool
	Key          string
}

// PartitionStatus is the load status of one partition: its own record's; a collection that was loaded as a whole has one for each of its
// partitions since 2.2, and 2.3 removes that of a partition that is released. Without any it is that of the collection. NotLoad if the partition is not to be in memory.
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

// NotLoad is the load status of what is not to be in memory.
const NotLoad = "NotLoad"

// PartitionLoad is the load state of one partition.
type PartitionLoad struct {
	Partition PartitionID
	Status    string
	Percent   *int32 // as of LoadState
}

// Replica is a group of query nodes that together serve a collection.
type Replica struct {
	ID            ReplicaID
	Collection    CollectionID
	ResourceGroup string
	Nodes         []NodeID // read and write
	RONodes       []NodeID // leaving
	// StreamingNodes and ROStreamingNodes are query nodes embedded in streaming nodes (2.6).
	StreamingNodes, ROStreamingNodes []NodeID
	// ChannelNodes are the nodes that a channel is confined to (2.4+ channel-exclusive mode).
	ChannelNodes map[string][]NodeID
	// ShardLeaders are recorded in metadata up to 2.1 only.
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
	NodeLabels       []Pair // that a node needs to be taken
}

// Session is one registration of one role of one process. A standalone process has several.
type Session struct {
	Node      NodeID
	Role      string // rootcoord, mixcoord, proxy, querynode, streamingnode, ...
	Address   string // gRPC host:port
	Version   string
	HostName  string
	Exclusive bool
	Stopping  bool
	Standby   bool // a coordinator registered under role-id, waiting
	Labels    []Pair
	Lease     int64
	// IndexEngine and ScalarIndexEngine are the ranges of index versions that a query node reads.
	IndexEngine, ScalarIndexEngine EngineRange
	Key                            string
	// RegisteredAt is zero: etcd does not record it. Revision orders sessions instead.
	Revision int64
}

// EngineRange is a range of index file versions.
type EngineRange struct{ Minimal, Current int32 }

// State is what metadata alone can say: "registered", "stopping" or "standby". Whether the
// process answers is the runtime's to tell.
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
	UserParams []Pair // as the user gave them
	Auto       bool
	Deleted    bool
	CreatedAt  time.Time
	MinVersion int32
	MaxVersion int32
	// MinSchemaVersion is the schema from which on segments have the field: older ones are not indexed before they were rewritten (3.0).
	MinSchemaVersion int32
	Layout           string // "2.1" or "2.2"
	Key              string
}

// Etcd is the health of the etcd behind a live source, as its members' Status answers say.
type Etcd struct {
	Members []EtcdMember
	// Problem is what is wrong with the whole, "" if nothing is known.
	Problem string
	At      time.Time
	// Elsewhere are the keys of sessions under other roots that hold no cluster. They are looked for where no root was named.
	Elsewhere []string
	// Linear is how long reads of a key took that a majority of the members has to agree on, Local of reads that one member answers alone;
	// nil: none was timed.
	Linear, Local []time.Duration `doc:"-"`
	// Reads is how long each read of few keys took that was made since the health was read last, for whatever purpose. Of reads that stalled
	// at the same time it has one.
	Reads []time.Duration `doc:"-"`
	// Activity is what was written while someone watched; nil: nobody did.
	Activity *EtcdActivity
}

// Silent reports whether no member could be reached. A refusal is an answer.
func (e *Etcd) Silent() bool {
	return e != nil && !slices.ContainsFunc(e.Members, func(m EtcdMember) bool {
		return m.Problem == "" || strings.Contains(m.Problem, "etcdserver:") || strings.Contains(m.Problem, "denied")
	})
}

// WhySilent returns why etcd does not answer, as known of its first member; "" if unknown.
func (e *Etcd) WhySilent() string {
	for _, m := range e.Members {
		if _, why, ok := strings.Cut(m.Problem, ": "); ok {
			return why
		}
	}
	return e.Problem
}

// Stall is from how long on a read of few keys stalled: on a calm machine it takes 1 to 2 ms.
const Stall = 300 * time.Millisecond

// Stalls counts the reads that stalled, and how long they took together and at most.
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

// EtcdActivity counts what was written under the root over a while.
type EtcdActivity struct {
	Over time.Duration
	// Revisions is how far etcd's revision went: writes of everyone, whatever the root.
	Revisions int64
	// Writes are puts and deletes under the root; Hot the keys written most often, most first. More is that other keys were written
	// too, none of them more often than the last of Hot.
	Writes int64
	Hot    []KeyWrites
	More   bool
}

// KeyWrites is how often a key was written.
type KeyWrites struct {
	Key    string
	Writes int64
}

// EtcdMember is one member.
type EtcdMember struct {
	Name     string `doc:"-"`
	Endpoint string
	Version  string
	Leader   bool
	Learner  bool
	DBSize   int64    `doc:"db_size_bytes"` // on disk
	DBInUse  int64    `doc:"db_in_use_bytes"`
	DBQuota  int64    `doc:"db_quota_bytes,omitzero"` // 0: not reported (before etcd 3.6)
	Errors   []string // alarms and trouble: "NOSPACE", "no leader"
	Problem  string   // why the member did not answer, "" if it did
}
