package model

import "time"

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
	Kind  LogKind
	Field FieldID // of delta logs without meaning; column group id under storage version 2
	Files int32
	Rows  int64 // entries: rows for inserts, deletes for delta logs
	Bytes int64 // in storage
	// MemoryBytes is the decoded size (2.4 and later), 0 if not recorded.
	MemoryBytes int64
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

// SegmentIndex is the building, and then the files, of one index on one segment.
type SegmentIndex struct {
	Segment       SegmentID
	Collection    CollectionID
	Partition     PartitionID
	Index         IndexID
	Build         BuildID
	State         IndexState
	Deleted       bool // marked deleted, kept until garbage collection
	FailReason    string
	Node          NodeID
	Version       int64 // how often it was assigned
	Rows          int64
	Bytes         int64 // of the index files, as recorded (0 on versions that do not record it)
	Files         int32
	EngineVersion int32 // knowhere's index version
	CreatedAt     time.Time
	FinishedAt    time.Time
}

// Segment is a segment as DataCoord's metadata has it. What nodes serve is another matter.
type Segment struct {
	ID         SegmentID
	Collection CollectionID
	Partition  PartitionID
	VChannel   string
	State      SegmentState
	Level      SegmentLevel
	// Flags of the record.
	ByCompaction, Compacted, Importing, Sorted, Invisible, Fake, ByStreaming bool
	// TwoLayouts: the record has inline binlogs and separate binlog keys at once (upgrade).
	TwoLayouts     bool
	StorageVersion int32

	Rows    int64 // as recorded: 0 on a growing segment until its first sync
	MaxRows int64
	// DeletedRows are the entries of its delta logs: an upper bound, a key deleted twice counts twice.
	DeletedRows int64
	Bytes       int64 // of all logs in storage, index files not included
	IndexBytes  int64 // of finished index files, where recorded

	StartAt    TSO // start position: the first message
	PositionAt TSO // dml position: checkpoint of the segment
	ExpireAt   TSO // last allocation's expiry
	DroppedAt  TSO

	CompactedFrom []SegmentID
	Logs          []FieldLogs    // sorted by kind, field
	Indexes       []SegmentIndex // sorted by index, build
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
	IndexBytes  int64
	// SealedRows are the rows of flushed, flushing and sealed segments; IndexedRows those of them whose indexes are all finished,
	// NeedIndexRows those that want an index at all.
	SealedRows, IndexedRows, NeedIndexRows int64
	ByState                                [SegmentStates]int
	RowsByState                            [SegmentStates]int64
}

// Add counts one segment; index is the summary over its indexes (Cluster.IndexState).
func (t *Totals) Add(s *Segment, index IndexState) {
	if int(s.State) < SegmentStates {
		t.ByState[s.State]++
		t.RowsByState[s.State] += s.Rows
	}
	if !s.State.Healthy() || s.Fake {
		return
	}
	t.Segments++
	t.DeletedRows += s.DeletedRows
	t.Bytes += s.Bytes
	t.IndexBytes += s.IndexBytes
	if s.Level == LevelL0 {
		return
	}
	t.Rows += s.Rows
	if s.State == SegmentGrowing || s.State == SegmentImporting {
		return
	}
	t.SealedRows += s.Rows
	if index == IndexNotNeeded || index == IndexUnknown {
		return
	}
	t.NeedIndexRows += s.Rows
	if index == IndexFinished {
		t.IndexedRows += s.Rows
	}
}
