// Package model is the picture of one Milvus cluster that everything else reads:
// checks, views, diffs, replay. What enters are decoded records (package meta
// fills Parts), what leaves is an immutable Cluster with its indexes.
//
//  1. meta collects Parts from a source's keys, in any order.
//  2. Build sorts them, links them by id and adds up rows and bytes: a Cluster.
//  3. A refresh builds a new Cluster that shares what did not change.
//  4. live asks the processes, BuildRuntime links their answers, and WithRuntime lays
//     them over the Cluster.
//
// A Cluster may be read from any number of goroutines; nothing changes it, and
// no slice or map that it returns may be changed.
package model

import (
	"strconv"
	"strings"
	"time"
)

// Part is a set of the parts of the metadata that a Cluster was decoded from.
// A part that was not read is unknown: a view shows "?" for what depends on it.
type Part uint32

// The parts, in the order in which they are read.
const (
	// PartObjects are databases, collections, fields, partitions, aliases, functions.
	PartObjects Part = 1 << iota
	// PartIndexes are index definitions.
	PartIndexes
	// PartServing are load states, replicas, resource groups, the streaming coordinator.
	PartServing
	// PartSessions are the sessions of nodes.
	PartSessions
	// PartChannels are channel watches, checkpoints and removal marks, the WAL's state
	// on streaming nodes, and QueryCoord's targets per channel.
	PartChannels
	// PartSegments are DataCoord's segment records.
	PartSegments
	// PartLogs are binlogs, delta logs, stats logs and BM25 logs: sizes, deletes.
	PartLogs
	// PartSegmentIndexes are the index files of segments.
	PartSegmentIndexes
	// PartUsers are users, roles, grants, privilege groups.
	PartUsers
	// PartConfig are dynamic configuration keys.
	PartConfig
	// PartTasks are import, compaction, stats and analyze tasks, broadcasts, partition
	// stats, snapshots of collections.
	PartTasks
	// PartHistory is RootCoord's snapshots/ of older values and tombstones.
	PartHistory
	// PartRest is everything else: allocators, and the keys that no pattern explains.
	PartRest
	// PartAll is everything that is metadata.
	PartAll = 1<<iota - 1
)

// PartRuntime is what processes say when they are asked: no part of the metadata, but as
// unknown as one as long as nobody has. WithRuntime adds it to Cluster.Loaded.
const PartRuntime = PartAll + 1

// PartTargets is what QueryCoord wants served now: said by a process, too, but it is only asked where this is wanted, as its
// answer names every segment. WithRuntime adds it where it is known.
const PartTargets = PartRuntime << 1

// PartReported is what proxies report of their clients and of what they depend on. It is asked only where it is wanted: for what it
// depends on a proxy opens connections of its own.
const PartReported = PartTargets << 1

// PartLevels is the level that each process logs at: a question more to each, for one column.
const PartLevels = PartReported << 1

// PartAsked is all that only processes say: no part of the metadata.
const PartAsked = PartRuntime | PartTargets | PartReported | PartLevels

// PartCatalog is all that is small and is read together. A role that may read only some
// of it leaves the others out of Cluster.Loaded.
const PartCatalog = PartObjects | PartIndexes | PartServing | PartSessions

// Has reports whether all of want was read.
func (p Part) Has(want Part) bool { return p&want == want }

// Origin says where the metadata was read, when, and at which revision.
type Origin struct {
	Kind     string // etcd, etcd-snapshot, birdwatcher-backup, bundle
	Location string // URI or path without credentials
	Detail   string
	Root     string // etcd.rootPath, such as "by-dev"
	MetaPath string // etcd.metaSubPath, such as "meta"
	Revision int64  // 0: unknown
	Taken    time.Time
	// FileDate says that Taken is only the date of a file, which a copy may have moved.
	FileDate bool
	// ByClock says that Taken was read off a clock when a live etcd was read, or saved into a
	// bundle: it is not worked out from what the store holds.
	ByClock bool
}

// Gap is a part of the store that could not be read; see source.Gap.
type Gap struct {
	Where, Reason string
	Count         int64 `doc:",omitzero"`
	// Damage: it is unknown what stood there, so that any record may be missing from the parts that were read.
	Damage bool `doc:"-"`
}

// Undecoded is a key that no decoder understands, or a record that holds more
// than its decoder knows.
type Undecoded struct {
	Key    string
	Reason string // "unknown key", "SegmentInfo: proto: cannot parse ...", "SegmentInfo: unknown field 47"
	Size   int    // bytes of the value
}

// Parts is what a decoder hands to Build, in any order. Segments must be sorted by id.
type Parts struct {
	Origin  Origin
	Loaded  Part
	Version Version
	Gaps    []Gap

	Databases       []*Database
	Collections     []*Collection
	Partitions      []*Partition
	Aliases         []*Alias
	VChannels       []*VChannel
	PChannels       []*PChannel
	Segments        []*Segment
	Indexes         []*Index
	LoadStates      []*LoadState
	Replicas        []*Replica
	ResourceGroups  []*ResourceGroup
	Sessions        []*Session
	Users           []*User
	Roles           []*Role
	Grants          []*Grant
	PrivilegeGroups []*PrivilegeGroup
	Config          []*ConfigEntry
	// ConfigChanges are of the last while, for a live etcd; nil where nobody looked back.
	ConfigChanges []ConfigChange
	Tasks         []*Task
	// Orphans are segments of which binlog, index or assignment keys exist, but no segment record:
	// leaks of a garbage collection, or a write that was cut. Only ids, Logs, Indexes and Details are set.
	Orphans []*Segment
	// Remains are records in the catalog of collections that have none themselves (PartObjects).
	Remains []*Remains
	// Targets is what QueryCoord last decided that nodes should serve (2.4 and later; PartChannels).
	Targets        []*Target
	PartitionStats []*PartitionStats // of clustering compaction (PartTasks)
	Snapshots      []*Snapshot       // of collections (3.0; PartTasks)
	History        []*HistoryEntry   // RootCoord's older values (PartHistory)
	Allocators     []*Allocator      // timestamp and id allocators (PartRest)
	// Streaming is nil before 2.6 (PartCatalog).
	Streaming *Streaming
	// Woodpecker is nil where none of its keys was read: another queue is used, or the source does not have them (PartChannels).
	Woodpecker *Woodpecker
	Undecoded  []*Undecoded
	// Counts of keys, for the overview: all that were read, and tombstones among them.
	Keys, Tombstones int64
	// KeysByKind counts the keys of each kind, "" those that no pattern explains.
	KeysByKind map[string]int64
	// Etcd is nil for offline sources and where it was not asked.
	Etcd *Etcd
	// Recent is what was written last, as counted in the past revisions that a file keeps; nil where it keeps none, and for live sources.
	Recent *EtcdActivity
	// Starts are the processes that registered in the last StartsPast, the first one first; nil where nobody looked back.
	Starts []Start
	// Profiles are those of the processes, nil where none were taken.
	Profiles *Profiles
	// Storage is what a look into it said, nil where nobody looked.
	Storage *Storage
	// Runtime is what the processes themselves say, nil where they were not asked.
	Runtime *Runtime
	// Keyspace is nil unless records were kept.
	Keyspace Keyspace
}

// links index everything but segments.
type links struct {
	databases   map[DatabaseID]*Database
	collections map[CollectionID]*Collection
	partitions  map[PartitionID]*Partition
	indexes     map[IndexID]*Index
	vchannels   map[string]*VChannel
	pchannels   map[string]*PChannel
	loadStates  map[CollectionID]*LoadState
	sessions    map[NodeID][]*Session

	partitionsOf map[CollectionID][]*Partition
	vchannelsOf  map[CollectionID][]*VChannel
	indexesOf    map[CollectionID][]*Index
	aliasesOf    map[CollectionID][]*Alias
	replicasOf   map[CollectionID][]*Replica
}

// Cluster is Parts, sorted and linked.
type Cluster struct {
	Parts

	links
	segmentsOf map[CollectionID][]*Segment

	totalsOfCollection map[CollectionID]*Totals
	totalsOfPartition  map[PartitionID]*Totals
	totalsOfVChannel   map[string]*Totals
	totals             Totals
	// since is nil unless it is known how segments differ from those of the cluster before.
	since *since

	// asking is nil where metadata and answers are not known to be of different times.
	asking *asking
	onces  *onces
}

// Keyspace is the store that a Cluster was decoded from: every key in lexical
// order, secrets already redacted, each record decoded only when asked for.
// Implementations may be used from several goroutines.
type Keyspace interface {
	Len() int
	// Info describes the i-th key, 0 <= i < Len.
	Info(i int) KeyInfo
	// Collection is the collection that the i-th key names, by its id or its channel; 0 if it names none.
	Collection(i int) CollectionID
	// Find returns the position of key, or where it would stand.
	Find(key string) (i int, ok bool)
	// Record decodes the i-th key's value.
	Record(i int) Record
	// Of returns the keys that an object was decoded from, in lexical order, none
	// if it is unknown. The resource is the plural name that package view gives it
	// ("segments"), the id its Ref's ID; see Ref.
	Of(resource, id string) []string
}

// KeyInfo describes one key.
type KeyInfo struct {
	Key         string
	Kind        string // the key kind's name: "segment", "channel-checkpoint"; "" unknown
	Size        int    // bytes of the value
	ModRevision int64
	Lease       int64
	Tombstone   bool
}

// Record is one decoded value.
type Record struct {
	KeyInfo
	// Message is the protobuf message's full name, "json", "text", "int", "time" or "binary".
	Message string
	// Text is the value for people and scripts: indented JSON for messages, the
	// text itself, or hex.
	Text string
	// Problem is why the value could not be decoded, or what of it is unknown.
	Problem string
	Raw     []byte
}

// Version is the Milvus version and how it is known.
type Version struct {
	// Text is "2.3.5", a range such as "2.2.9 to 2.3" where only the layout of the
	// keys tells, or "" if nothing does.
	Text string
	// From is "sessions", "key layout" or "".
	From string
	// Others are further versions that sessions report (a rolling upgrade, or trouble).
	Others []string
	// Notes are contradictions: keys of an older layout beside newer ones.
	Notes []string
}

// SortedElse is what Segment.SortedElse means: field 31 of the record is is_partition_key_sorted in 2.6 (2.6.23) and
// is_sorted_by_namespace in 3.0. It goes by what sessions say; of a cluster of both, or of none, it may be either.
func (v Version) SortedElse() string {
	var two, three bool
	if v.From == "sessions" {
		for _, text := range append([]string{v.Text}, v.Others...) {
			major, _, _ := strings.Cut(text, ".")
			n, err := strconv.Atoi(major)
			two, three = two || err == nil && n < 3, three || err == nil && n >= 3
		}
	}
	switch {
	case three && !two:
		return "namespace"
	case two && !three:
		return "partition key"
	}
	return "partition key or namespace"
}
