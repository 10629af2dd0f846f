// Package model defines the state of one Milvus cluster, which checks, views, diffs and replay read. Its input
// is decoded records: package meta fills Parts. Its output is an immutable Cluster with indexes.
//
//  1. meta collects Parts from a source's keys, in any order.
//  2. Build sorts them, links them by id and adds up rows and bytes: a Cluster.
//  3. A refresh builds a new Cluster that shares unchanged objects.
//  4. live queries the processes, BuildRuntime links their responses, and WithRuntime adds them to a copy of
//     the Cluster.
//
// A Cluster may be read from any number of goroutines. It never changes, and slices and maps that it returns
// must not be modified.
package model

import (
	"strconv"
	"strings"
	"time"
)

// Part is a set of the parts of the metadata that a Cluster was decoded from. A part that was not read is
// unknown, and a view shows "?" for values that depend on it.
type Part uint32

// The parts, in reading order.
const (
	// PartObjects are databases, collections, fields, partitions, aliases, functions.
	PartObjects Part = 1 << iota
	// PartIndexes are index definitions.
	PartIndexes
	// PartServing are load states, replicas, resource groups, the streaming coordinator.
	PartServing
	// PartSessions are the sessions of nodes.
	PartSessions
	// PartChannels are channel watches, checkpoints and removal marks, the WAL's state on streaming nodes, and
	// QueryCoord's targets per channel.
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
	// PartHistory holds older values and tombstones in RootCoord's snapshots/.
	PartHistory
	// PartRest is everything else: allocators, and keys that match no pattern.
	PartRest
	// PartAll is all metadata.
	PartAll = 1<<iota - 1
)

// PartRuntime marks the responses of processes. They are not metadata, but just as unknown until processes are
// queried. WithRuntime adds it to Cluster.Loaded.
const PartRuntime = PartAll + 1

// PartTargets is QueryCoord's current targets. A process reports them too, but they are requested only where
// needed, because the response lists every segment. WithRuntime adds it if they are known.
const PartTargets = PartRuntime << 1

// PartReported is the proxies' report of their clients and dependencies. It is requested only where needed,
// because a proxy opens connections of its own to check its dependencies.
const PartReported = PartTargets << 1

// PartLevels is the log level of each process. It takes one more request per process for a single column.
const PartLevels = PartReported << 1

// PartLive is everything that only processes report. It is not part of the metadata.
const PartLive = PartRuntime | PartTargets | PartReported | PartLevels

// PartCatalog holds the small parts that are read together. If a user's etcd role may read only some,
// Cluster.Loaded lacks the others.
const PartCatalog = PartObjects | PartIndexes | PartServing | PartSessions

// Has reports whether all parts in want were read.
func (p Part) Has(want Part) bool { return p&want == want }

// Origin describes where the metadata were read, when, and at which revision.
type Origin struct {
	Kind     string // etcd, etcd-snapshot, birdwatcher-backup, bundle
	Location string // URI or path without credentials
	Detail   string
	Root     string // etcd.rootPath, such as "by-dev"
	MetaPath string // etcd.metaSubPath, such as "meta"
	Revision int64  // 0: unknown
	Taken    time.Time
	// FileDate is true if Taken is only the date of a file, which copying may have changed.
	FileDate bool
	// ByClock is true if Taken is from a clock, when a live etcd was read or saved into a bundle. It is not
	// derived from the content of the store.
	ByClock bool
}

// Gap is a part of the store that could not be read; see source.Gap.
type Gap struct {
	Where, Reason string
	Count         int64 `doc:",omitzero"`
	// Damage is true if the lost content is unknown, so any record of the parts that were read may be missing.
	Damage bool `doc:"-"`
}

// Undecoded is a key without a decoder, or a record with more content than its decoder supports.
type Undecoded struct {
	Key    string
	Reason string // "unknown key", "SegmentInfo: proto: cannot parse ...", "SegmentInfo: unknown field 47"
	Size   int    // bytes of the value
}

// Parts holds decoded records passed to Build, in any order. Segments must be sorted by id.
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
	// ConfigChanges are the recent changes, for a live etcd; nil if past revisions were not read.
	ConfigChanges []ConfigChange
	Tasks         []*Task
	// Orphans are segments with binlog, index or assignment keys but no segment record, because garbage
	// collection leaked them or a write was interrupted. Only ids, Logs, Indexes and Details are set.
	Orphans []*Segment
	// Remains counts catalog records of collections without a record of their own (PartObjects).
	Remains []*Remains
	// Targets are the targets that QueryCoord last saved (2.4 and later; PartChannels).
	Targets        []*Target
	PartitionStats []*PartitionStats // of clustering compaction (PartTasks)
	Snapshots      []*Snapshot       // of collections (3.0; PartTasks)
	History        []*HistoryEntry   // RootCoord's older values (PartHistory)
	Allocators     []*Allocator      // timestamp and id allocators (PartRest)
	// Streaming is nil before 2.6 (PartCatalog).
	Streaming *Streaming
	// Woodpecker is nil if no key of Woodpecker was read, because another queue is used or the source lacks
	// them (PartChannels).
	Woodpecker *Woodpecker
	Undecoded  []*Undecoded
	// Keys is the number of keys read, and Tombstones the number of tombstones among them, for the overview.
	Keys, Tombstones int64
	// KeysByKind counts the keys of each kind, "" for keys that match no pattern.
	KeysByKind map[string]int64
	// Etcd is nil for offline sources and if its health was not requested.
	Etcd *Etcd
	// Recent is the most recent activity, counted in the past revisions in a file; nil if the file has none,
	// and for live sources.
	Recent *EtcdActivity
	// Starts are the processes that registered within StartsWindow, the first one first; nil if past revisions
	// were not read.
	Starts []Start
	// Profiles holds the profiles of the processes, nil if none were taken.
	Profiles *Profiles
	// Storage is the result of a storage check, nil if there was none.
	Storage *Storage
	// Runtime holds the responses of the processes, nil if they were not queried.
	Runtime *Runtime
	// Keyspace is nil unless records were kept.
	Keyspace Keyspace
}

// links holds indexes of everything but segments.
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

// Cluster is a sorted and linked Parts.
type Cluster struct {
	Parts

	links
	segmentsOf map[CollectionID][]*Segment

	totalsOfCollection map[CollectionID]*Totals
	totalsOfPartition  map[PartitionID]*Totals
	totalsOfVChannel   map[string]*Totals
	totals             Totals
	// delta is nil unless the changes of segments from the previous cluster are known.
	delta *segmentDelta

	// queryState is nil unless metadata and responses are known to be of different times.
	queryState *queryState
	cache      *derivedCache
}

// Keyspace is the store that a Cluster was decoded from: every key in lexical order, with secrets redacted.
// Records are decoded on demand. Implementations must be safe for concurrent use.
type Keyspace interface {
	Len() int
	// Info describes the i-th key, 0 <= i < Len.
	Info(i int) KeyInfo
	// Collection returns the collection that the i-th key names by its id or channel, 0 if none.
	Collection(i int) CollectionID
	// Find returns the position of key, or the position at which it would be inserted.
	Find(key string) (i int, ok bool)
	// Record decodes the i-th key's value.
	Record(i int) Record
	// ObjectKeys returns the keys that an object was decoded from, in lexical order, or none if unknown. resource is
	// the plural name in package view ("segments"), id the ID of its Ref; see Ref.
	ObjectKeys(resource, id string) []string
}

// KeyInfo describes one key.
type KeyInfo struct {
	Key         string
	Kind        string // name of the key's kind: "segment", "channel-checkpoint"; "" unknown
	Size        int    // bytes of the value
	ModRevision int64
	Lease       int64
	Tombstone   bool
}

// Record is one decoded value.
type Record struct {
	KeyInfo
	// Message is the full name of the protobuf message, or "json", "text", "int", "time" or "binary".
	Message string
	// Text is the value in readable form: indented JSON for messages, the text itself, or hex.
	Text string
	// Problem is why the value could not be decoded, or which part is unknown.
	Problem string
	Raw     []byte
}

// Version is the Milvus version and its source.
type Version struct {
	// Text is e.g. "2.3.5", or a range such as "2.2.9 to 2.3" if only the layout of the keys is known, or "".
	Text string
	// From is "sessions", "key layout" or "".
	From string
	// Others are further versions in sessions, during a rolling upgrade or after an error.
	Others []string
	// Notes are contradictions, such as keys of an older layout next to newer ones.
	Notes []string
}

// SortKey returns the sort key of segments with Segment.SortedByKey. Field 31 of the record is
// is_partition_key_sorted in 2.6 (2.6.23) and is_sorted_by_namespace in 3.0. The versions in sessions decide.
// With both versions or none it returns both sort keys.
func (v Version) SortKey() string {
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
