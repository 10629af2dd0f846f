package model

import (
	"fmt"
	"slices"
	"time"
)

// SegmentState is the state of a segment in DataCoord (commonpb.SegmentState).
type SegmentState uint8

// The segment states, with Milvus's numbers.
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

var segmentStateNames = [segmentStates]string{
	"None", "NotExist", "Growing", "Sealed", "Flushed", "Flushing", "Dropped", "Importing",
}

// SegmentStates is the number of states. Totals.ByState is indexed by state.
const SegmentStates = int(segmentStates)

func (s SegmentState) String() string {
	if s < segmentStates {
		return segmentStateNames[s]
	}
	return "State" + NodeID(s).String()
}

// Healthy reports whether the rows of the segment count, i.e. it is neither dropped nor nonexistent.
func (s SegmentState) Healthy() bool {
	return s == SegmentGrowing || s == SegmentSealed || s == SegmentFlushing || s == SegmentFlushed ||
		s == SegmentImporting
}

// SegmentLevel is the compaction level: Legacy before 2.4, L0 (deletes only), L1 or L2.
type SegmentLevel uint8

// The segment levels, with Milvus's numbers (datapb.SegmentLevel).
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

// LogKind is the kind of a group of log files.
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

// FieldLogs sums up the log files of one kind and field of a segment.
type FieldLogs struct {
	Kind LogKind
	// Group is the set of fields in a column group (storage version 2). It is empty for logs of one field.
	Group FieldSet
	Field FieldID // unused for delta logs; the column group id under storage version 2
	Files int32
	Rows  int64 // entries: rows for inserts, deletes for delta logs
	Bytes int64 // in storage
	// MemoryBytes is the decoded size (2.4 and later), 0 if not recorded.
	MemoryBytes int64
}

// FieldSet is a set of fields that fits into the padding of FieldLogs. It is exact for the system fields and
// the first 54 user-defined fields. Beyond that, two fields may share a bit.
type FieldSet [7]byte

// Add adds a field.
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

// Empty reports whether the set has no fields.
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

// IndexState is the state of an index on a segment (commonpb.IndexState). The last three states occur only in
// summaries over all indexes of a segment.
type IndexState uint8

// The index states. The first six have Milvus's numbers.
const (
	IndexStateNone IndexState = iota
	IndexUnissued
	IndexInProgress
	IndexFinished
	IndexFailed
	IndexRetry
	// IndexMissing means that an index is defined and the segment is flushed, but there is no record.
	IndexMissing
	// IndexNotNeeded means that no index is defined, or that segments of this state or level get none (growing,
	// dropped, L0).
	IndexNotNeeded
	// IndexUnknown means that the records were not read.
	IndexUnknown
)

func (s IndexState) String() string {
	names := [...]string{
		"None", "Unissued", "InProgress", "Finished", "Failed", "Retry", "Missing", "NotNeeded", "Unknown",
	}
	if int(s) < len(names) {
		return names[s]
	}
	return "State" + NodeID(s).String()
}

// SegmentIndex is the build and the files of one index on one segment. Fields that are read for all 200,000 of
// them come first, in the first cache line, because memory access dominates such scans.
type SegmentIndex struct {
	Index   IndexID
	State   IndexState
	Deleted bool // marked deleted, kept until garbage collection
	Legacy  bool // recorded in the format of 2.1
	// ByCollection is true if the files are below the collection (3.0), and false if they are below the build
	// (see Folder).
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
	Version    int64 // number of assignments
	Rows       int64
	Bytes      int64 // size of the index files, 0 in releases that do not record it
	CreatedAt  time.Time
}

// Folder returns the folder of the index files, below the root of the storage (Milvus pkg/util/metautil,
// segment_index.go: BuildPrefix of 3.0.1; the comment of the message still names index_files for both).
func (x *SegmentIndex) Folder(partition PartitionID, segment SegmentID) string {
	if x.ByCollection {
		return fmt.Sprintf("index_v1/%d/%d/%d/%d/%d", x.Collection, partition, segment, x.Build, x.Version)
	}
	return fmt.Sprintf("index_files/%d/%d/%d/%d", x.Build, x.Version, partition, segment)
}

// Segment is a segment according to DataCoord's metadata. Nodes may serve something else. Fields that are read
// for all segments are in the first two cache lines (see SegmentIndex).
type Segment struct {
	ID         SegmentID
	Collection CollectionID
	Partition  PartitionID
	State      SegmentState
	Level      SegmentLevel
	// Flags from the record.
	ByCompaction, Compacted, Importing, Sorted, Invisible, Fake, ByStreaming bool
	// TwoLayouts is true if the record has both inline binlogs and separate binlog keys (upgrade).
	TwoLayouts bool
	// MixedLogs is true if some fields have their own insert logs and others are in a column group, so their
	// rows are recorded twice.
	MixedLogs bool
	// LogKeys is true if the logs have their own keys, as in Milvus 2.2 and later.
	LogKeys bool
	// SortedByKey is true if the segment is sorted by something other than the primary key. Version.SortKey
	// returns the sort key.
	SortedByKey    bool
	StorageVersion int16

	Indexes []SegmentIndex // sorted by index, build
	Rows    int64          // as recorded: 0 for a growing segment until its first sync
	MaxRows int64
	// DeletedRows is the number of entries in the delta logs, an upper bound of the deleted rows. A key deleted
	// twice counts twice. A data node writes a delete to each segment whose bloom filter has its key, including
	// false positives (storage/pk_statistics.go).
	DeletedRows int64
	Bytes       int64 // of all logs in storage, without index files

	StartAt    TSO // start position: first message
	PositionAt TSO // DML position: checkpoint of the segment

	VChannel   string
	IndexBytes int64 // of finished index files, where recorded
	ExpireAt   TSO   // expiry of the last allocation
	DroppedAt  TSO

	CompactedFrom []SegmentID
	Logs          []FieldLogs // sorted by kind, field
	// Details holds facts that most segments do not have. It is nil if there are none.
	Details *SegmentDetails
}

// SegmentDetails holds facts about a segment that only some releases or features record.
type SegmentDetails struct {
	// Growing is the streaming node's record of a growing segment (2.6), nil if there is none.
	Growing *GrowingStat
	// ManifestPath is the manifest of storage version 3, else "".
	ManifestPath string
	// TextIndexes and JSONIndexes are the files of text match and JSON key indexes (2.5 and later), by field.
	TextIndexes, JSONIndexes []FieldStat
	// PartitionStatsVersion is the version of the segment's clustering statistics.
	PartitionStatsVersion int64
	// CommitAt is the time at which an import or a replication committed the segment (3.0), or 0. It replaces
	// the timestamps of all its rows for visibility and deletes, until a compaction writes it into the rows.
	CommitAt TSO
	// SchemaVersion is the schema version of the rows when written. DataVersion counts later additions to them
	// (3.0).
	SchemaVersion, DataVersion int32
	// ExpiresAt holds the times at which 20, 40, 60, 80 and 100% of the rows expire, in microseconds since 1970
	// (3.0, TTL by field).
	ExpiresAt []int64
	// Stats holds the file statistics that storage version 3 records. It is nil for other versions, where logs
	// are added up.
	Stats *RecordedStats
}

// IsZero reports whether the details are empty.
func (d *SegmentDetails) IsZero() bool {
	return d.Growing == nil && d.ManifestPath == "" && len(d.TextIndexes) == 0 && len(d.JSONIndexes) == 0 &&
		d.PartitionStatsVersion == 0 && d.CommitAt == 0 &&
		d.SchemaVersion == 0 && d.DataVersion == 0 && len(d.ExpiresAt) == 0 && d.Stats == nil
}

// Unsized reports whether the size of a segment in storage is unknown. With storage version 3 a manifest in
// storage lists the files. The metadata only have their size in memory (Details.Stats).
func (s *Segment) Unsized() bool {
	return s.Details != nil && s.Details.ManifestPath != "" &&
		!slices.ContainsFunc(s.Logs, func(l FieldLogs) bool { return l.Kind == InsertLog })
}

// RecordedStats holds the statistics that a writer recorded about the files of a segment (datapb.Statistics).
type RecordedStats struct {
	InsertBytes, StatsBytes, DeltaBytes        int64 // in memory
	InsertFiles, DeltaFiles, Deletes           int64
	InsertsFrom, InsertsTo, DeltaFrom, DeltaTo TSO
	Formats                                    []string // parquet, vortex, ...
}

// FieldStat sums up the files of the text or JSON index of a field.
type FieldStat struct {
	Field              FieldID
	Version            int64
	Files              int32
	Bytes, MemoryBytes int64
}

// GrowingStat is a streaming node's record of a segment that it fills.
type GrowingStat struct {
	PChannel   string
	State      string // Growing, Flushed
	Level      SegmentLevel
	Rows       int64 // written so far
	Bytes      int64 // in memory
	MaxBytes   int64 // size at which it is sealed
	Flushes    int64 // binlogs written so far
	CreatedAt  time.Time
	ModifiedAt time.Time
	Checkpoint TSO
}

// CreatedAt returns the time of the first message, or else of the last allocation.
func (s *Segment) CreatedAt() time.Time {
	if t := s.StartAt.Time(); !t.IsZero() {
		return t
	}
	return s.ExpireAt.Time()
}

// Totals holds sums over segments.
type Totals struct {
	Segments    int   // healthy ones, i.e. not dropped
	Rows        int64 // of healthy segments, L0 excluded
	DeletedRows int64
	Bytes       int64
	// Unsized is the number of segments whose size in storage is unknown. Bytes does not include their insert logs.
	Unsized    int
	IndexBytes int64
	// SealedRows are the rows of flushed, flushing and sealed segments. NeedIndexRows is the part of them in
	// segments that need an index. IndexedRows is the part in segments whose indexes are all finished.
	SealedRows, IndexedRows, NeedIndexRows int64
	ByState                                [SegmentStates]int
	RowsByState                            [SegmentStates]int64
}

// Add adds a segment. index is the summary over its indexes (Cluster.IndexState).
func (t *Totals) Add(s *Segment, index IndexState) { t.count(s, index, 1) }

// count adds a segment (sign 1) or subtracts it (sign -1).
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
