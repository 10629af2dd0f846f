package model

import (
	"fmt"
	"slices"
	"time"
)

// SegmentState is DataCoord's state of a segment (commonpb.SegmentState).
type SegmentState uint8

// The states, with Milvus's numbers.
const (
	SegmentStateNone SegmentState = iota
	SegmentNotExist
	SegmentGrowing
	SegmentSealed
	SegmentFlushed
	SegmentFlushing
	SegmentDropped
	SegmentImporting
	segmentStates
)

var segmentStateNames = [segmentStates]string{"None", "NotExist", "Growing", "Sealed", "Flushed", "Flushing", "Dropped", "Importing"}

// SegmentStates is how many states there are: Totals.ByState is indexed by state.
const SegmentStates = int(segmentStates)

func (s SegmentState) String() string {
	if s < segmentStates {
		return segmentStateNames[s]
	}
	return "State" + NodeID(s).String()
}

// Healthy reports whether rows of the segment count: neither dropped nor nonexistent.
func (s SegmentState) Healthy() bool {
	return s == SegmentGrowing || s == SegmentSealed || s == SegmentFlushing || s == SegmentFlushed || s == SegmentImporting
}

// SegmentLevel is the compaction level: "" before 2.4 (Legacy), L0 holds deletes only, L1, L2.
type SegmentLevel uint8

// The levels, with Milvus's numbers (datapb.SegmentLevel).
const (
	LevelLegacy SegmentLevel = iota
	LevelL0
	LevelL1
	LevelL2
)

func (l SegmentLevel) String() string {
	switch l {
	case LevelLegacy:
		return "Legacy"
	case LevelL0:
		return "L0"
	case LevelL1:
		return "L1"
	case LevelL2:
		return "L2"
	}
	return "L?" + NodeID(l).String()
}

// LogKind is what a group of log files holds.
type LogKind uint8

// The kinds of logs.
const (
	InsertLog LogKind = iota
	DeltaLog
	StatsLog
	BM25Log
)

func (k LogKind) String() string {
	return [...]string{"insert", "delta", "stats", "bm25"}[k&3]
}

// FieldLogs sums the log files of one kind and field of a segment.
type FieldLogs struct {
	Kind LogKind
	// Group are the fields that a column group holds (storage version 2); empty of logs of one field.
	Group FieldSet
	Field FieldID // of delta logs without meaning; column group id under storage version 2
	Files int32
	Rows  int64 // entries: rows for inserts, deletes for delta logs
	Bytes int64 // in storage
	// MemoryBytes is the decoded size (2.4 and later), 0 if not recorded.
	MemoryBytes int64
}

// FieldSet is a set of fields, in the room that FieldLogs has to spare. It is exact for the system fields and the first 54 that users
// define; beyond, two fields may be taken for one.
type FieldSet [7]byte

// Add puts a field in.
func (s *FieldSet) Add(f FieldID) {
	bit := f
	if !(0 <= f && f < 2) {
		bit = 2 + ((f-100)%54+54)%54
	}
	s[bit/8] |= 1 << (bit % 8)
}

// Union adds all fields of another set.
func (s *FieldSet) Union(other FieldSet) {
	for i := range s {
		s[i] |= other[i]
	}
}

// Empty reports whether there is none.
func (s FieldSet) Empty() bool { return s == FieldSet{} }

// Overlaps reports whether two sets share a field.
func (s FieldSet) Overlaps(other FieldSet) bool {
	for i := range s {
		if s[i]&other[i] != 0 {
			return true
		}
	}
	return false
}

// IndexState is the state of an index on a segment (commonpb.IndexState), and,
// with the last three, the summary over all indexes of a segment.
type IndexState uint8

// The states. The first six have Milvus's numbers.
const (
	IndexStateNone IndexState = iota
	IndexUnissued
	IndexInProgress
	IndexFinished
	IndexFailed
	IndexRetry
	// IndexMissing: an index is defined, the segment is flushed, and no record exists.
	IndexMissing
	// IndexNotNeeded: no index is defined, or the segment's state or level gets none (growing, dropped, L0).
	IndexNotNeeded
	// IndexUnknown: the records were not read.
	IndexUnknown
)

func (s IndexState) String() string {
	names := [...]string{"None", "Unissued", "InProgress", "Finished", "Failed", "Retry", "Missing", "NotNeeded", "Unknown"}
	if int(s) < len(names) {
		return names[s]
	}
	return "State" + NodeID(s).String()
}

// SegmentIndex is the building, and then the files, of one index on one segment. What is asked of all of 200,000 stands together, in the
// first line of memory: reading more of them from there is what takes the time.
type SegmentIndex struct {
	Index   IndexID
	State   IndexState
	Deleted bool // marked deleted, kept until garbage collection
	Legacy  bool // recorded as 2.1 did
	// ByCollection: the files lie below the collection (3.0), not below the build (see Folder).
	ByCollection  bool
	Files         int32
	EngineVersion int32 // knowhere's index version
	ScalarVersion int32 // version of scalar indexes (2.6)
	Node          NodeID
	FinishedAt    time.Time

	Segment    SegmentID
	Collection CollectionID
	Partition  PartitionID
	Build      BuildID
	FailReason string
	Version    int64 // how often it was assigned
	Rows       int64
	Bytes      int64 // of the index files, as recorded (0 on versions that do not record it)
	CreatedAt  time.Time
}

// Folder is where the files of the index are, below the root of storage (Milvus pkg/util/metautil, segment_index.go: BuildPrefix of 3.0.1;
// the comment of the message still names index_files for both).
func (x *SegmentIndex) Folder(partition PartitionID, segment SegmentID) string {
	if x.ByCollection {
		return fmt.Sprintf("index_v1/%d/%d/%d/%d/%d", x.Collection, partition, segment, x.Build, x.Version)
	}
	return fmt.Sprintf("index_files/%d/%d/%d/%d", x.Build, x.Version, partition, segment)
}

// Segment is a segment as DataCoord's metadata has it. What nodes serve is another matter. What is asked of all stands in its first two
// lines of memory (see SegmentIndex).
type Segment struct {
	ID         SegmentID
	Collection CollectionID
	Partition  PartitionID
	State      SegmentState
	Level      SegmentLevel
	// Flags of the record.
	ByCompaction, Compacted, Importing, Sorted, Invisible, Fake, ByStreaming bool
	// TwoLayouts: the record has inline binlogs and separate binlog keys at once (upgrade).
	TwoLayouts bool
	// MixedLogs: fields have insert logs of their own and others in a column group: their rows are recorded twice.
	MixedLogs bool
	// LogKeys: logs of the segment are under keys of their own, as Milvus 2.2 and later write them.
	LogKeys bool
	// SortedElse: sorted by something else than the primary key. Version.SortedElse says by what.
	SortedElse     bool
	StorageVersion int16

	Indexes []SegmentIndex // sorted by index, build
	Rows    int64          // as recorded: 0 on a growing segment until its first sync
	MaxRows int64
	// DeletedRows are the entries of its delta logs: an upper bound of the rows that they delete. A key deleted twice counts twice, and a data
	// node writes a delete to each segment whose bloom filter has its key, to some wrongly (storage/pk_statistics.go).
	DeletedRows int64
	Bytes       int64 // of all logs in storage, index files not included

	StartAt    TSO // start position: the first message
	PositionAt TSO // dml position: checkpoint of the segment

	VChannel   string
	IndexBytes int64 // of finished index files, where recorded
	ExpireAt   TSO   // last allocation's expiry
	DroppedAt  TSO

	CompactedFrom []SegmentID
	Logs          []FieldLogs // sorted by kind, field
	// Details are facts that most segments do not have; nil if there are none.
	Details *SegmentDetails
}

// SegmentDetails are facts about a segment that only some versions or features record.
type SegmentDetails struct {
	// Growing is the streaming node's account of a growing segment (2.6), nil if none.
	Growing *GrowingStat
	// ManifestPath is the manifest of storage version 3, "" otherwise.
	ManifestPath string
	// TextIndexes and JSONIndexes are the files of text matches and of JSON keys per field (2.5 and later), by field.
	TextIndexes, JSONIndexes []FieldStat
	// PartitionStatsVersion is the version of the clustering statistics that the segment belongs to.
	PartitionStatsVersion int64
	// CommitAt, if not 0, is when an import or a replication committed the segment (3.0): it stands for the timestamps of all its
	// rows, in what is visible and what a delete hits, until a compaction writes it into them.
	CommitAt TSO
	// SchemaVersion is the schema that the rows were written by, DataVersion counts what was added to them since (3.0).
	SchemaVersion, DataVersion int32
	// ExpiresAt are the times at which 20, 40, 60, 80 and 100% of the rows expire, in microseconds since 1970 (3.0, TTL by field).
	ExpiresAt []int64
	// Stats are the sums that storage version 3 records of its files; nil of other versions, whose logs are added up.
	Stats *RecordedStats
}

// IsZero reports whether there is none of it.
func (d *SegmentDetails) IsZero() bool {
	return d.Growing == nil && d.ManifestPath == "" && len(d.TextIndexes) == 0 && len(d.JSONIndexes) == 0 && d.PartitionStatsVersion == 0 && d.CommitAt == 0 &&
		d.SchemaVersion == 0 && d.DataVersion == 0 && len(d.ExpiresAt) == 0 && d.Stats == nil
}

// Unsized reports whether the size of a segment in storage is unknown: with storage version 3 its files stand in a manifest in storage,
// and metadata have sums of them in memory alone (Details.Stats).
func (s *Segment) Unsized() bool {
	return s.Details != nil && s.Details.ManifestPath != "" && !slices.ContainsFunc(s.Logs, func(l FieldLogs) bool { return l.Kind == InsertLog })
}

// RecordedStats is what a writer recorded of the files of a segment (datapb.Statistics).
type RecordedStats struct {
	InsertBytes, StatsBytes, DeltaBytes        int64 // in memory
	InsertFiles, DeltaFiles, Deletes           int64
	InsertsFrom, InsertsTo, DeltaFrom, DeltaTo TSO
	Formats                                    []string // parquet, vortex, ...
}

// FieldStat sums the files of one field's text or JSON index.
type FieldStat struct {
	Field              FieldID
	Version            int64
	Files              int32
	Bytes, MemoryBytes int64
}

// GrowingStat is what a streaming node records of a segment that it fills.
type GrowingStat struct {
	PChannel   string
	State      string // Growing, Flushed
	Level      SegmentLevel
	Rows       int64 // written so far
	Bytes      int64 // in memory
	MaxBytes   int64 // at which it is sealed
	Flushes    int64 // binlogs written so far
	CreatedAt  time.Time
	ModifiedAt time.Time
	Checkpoint TSO
}

// CreatedAt is the time of the first message, else of the last allocation.
func (s *Segment) CreatedAt() time.Time {
	if t := s.StartAt.Time(); !t.IsZero() {
		return t
	}
	return s.ExpireAt.Time()
}

// Totals adds up segments.
type Totals struct {
	Segments    int   // healthy ones: not dropped
	Rows        int64 // of healthy segments, L0 excluded
	DeletedRows int64
	Bytes       int64
	// Unsized are segments whose size in storage is unknown: it is not in Bytes.
	Unsized    int
	IndexBytes int64
	// SealedRows are the rows of flushed, flushing and sealed segments; IndexedRows those of them whose indexes are all finished,
	// NeedIndexRows those that want an index at all.
	SealedRows, IndexedRows, NeedIndexRows int64
	ByState                                [SegmentStates]int
	RowsByState                            [SegmentStates]int64
}

// Add counts one segment; index is the summary over its indexes (Cluster.IndexState).
func (t *Totals) Add(s *Segment, index IndexState) { t.count(s, index, 1) }

// count adds a segment (sign 1) or takes it out again (sign -1).
func (t *Totals) count(s *Segment, index IndexState, sign int64) {
	if int(s.State) < SegmentStates {
		t.ByState[s.State] += int(sign)
		t.RowsByState[s.State] += sign * s.Rows
	}
	if !s.State.Healthy() || s.Fake {
		return
	}
	t.Segments += int(sign)
	t.DeletedRows += sign * s.DeletedRows
	t.Bytes += sign * s.Bytes
	if s.Unsized() {
		t.Unsized += int(sign)
	}
	t.IndexBytes += sign * s.IndexBytes
	if s.Level == LevelL0 {
		return
	}
	t.Rows += sign * s.Rows
	if s.State == SegmentGrowing || s.State == SegmentImporting {
		return
	}
	t.SealedRows += sign * s.Rows
	if index == IndexNotNeeded || index == IndexUnknown {
		return
	}
	t.NeedIndexRows += sign * s.Rows
	if index == IndexFinished {
		t.IndexedRows += sign * s.Rows
	}
}
