package replay

import (
	"time"

	"kitescope/replay/load"
)

// ResultVersion is the version of saved results. ReadResult refuses later versions.
const ResultVersion = 1

// Result is the result of a run, a sweep or a prediction, with everything needed to repeat it. It is saved as JSON
// with its fields in this order (WriteResult, ReadResult).
type Result struct {
	Version int `doc:"-"`
	// Kind is "run", "sweep" or "whatif".
	Kind  string `doc:"mode"`
	Taken time.Time
	// Stopped is the reason why the run is incomplete ("interrupted", "disk full", ...); "" if it is complete.
	Stopped string
	Setup   Setup
	Cover   Coverage     `doc:"coverage"`
	Points  []load.Point // one for a run; one per combination for a sweep
	// Recall and Differences are nil if nothing was compared.
	Recall      *Recall
	Differences *Differences
	Costs       *Costs // nil for live targets
	// Slowest holds the slowest queries with their time by segment, the slowest first.
	Slowest []SlowQuery
	Notes   []string
}

// Setup describes how to repeat a run.
type Setup struct {
	Command    string // kitescope's version and the command line, without secrets
	Program    string // kitescope's version
	Source     string // location of the cluster of the layout
	Storage    string // location of the files, without credentials
	Target     string // "engine", or the name of the live target
	Collection string
	Milvus     string // version whose answers are reproduced; "" unknown
	Metric     string
	Dim        int
	Element    string
	Log        string
	LogFormat  string
	LogDigest  string
	LogSeed    uint64 // seed of a drawn log
	Queries    int
	Replica    int64 `doc:"replica_id,id" whatif:"replica,id"`
	Machine    Machine
}

// Machine describes the machine of a run.
type Machine struct {
	CPU       string // model name
	Cores     int    `doc:",omitzero" whatif:""`
	OS, Arch  string
	Kernels   string // vector instructions in use: "avx512", ...
	GoVersion string
}

// Coverage describes how much of the collection was loaded.
type Coverage struct {
	Segments, Loaded int
	// Rows is the number of rows that the cluster serves, as far as it is known. Covered is the number of loaded
	// rows, including deleted ones. Deleted is the number of loaded rows that deletes hide.
	Rows    int64
	Covered int64 `doc:"covered_rows" whatif:""`
	Deleted int64 `doc:"deleted_rows" whatif:""`
	// RowsUnknown is the number of segments with an unknown number of rows.
	RowsUnknown int `doc:"segments_of_unknown_rows" whatif:""`
	Missing     []Missing
	Bytes       int64 `doc:"read_bytes" whatif:""`   // of the files that were read
	Memory      int64 `doc:"memory_bytes" whatif:""` // of vectors, graphs and keys
	Took        time.Duration
}

// Missing is a segment that was skipped, completely or in part.
type Missing struct {
	Segment int64 `doc:"segment_id,id" whatif:"segment,id"`
	State   State
	Rows    int64 `doc:",unknown=-1"` // rows not covered; -1 unknown, 0 if only the index is missing
	// Of is the number of rows of the segment, -1 unknown.
	Of     int64 `doc:"segment_rows,unknown=-1" whatif:""`
	Reason string
}

// Recall is the share of the true nearest keys that were returned.
type Recall struct {
	K       int
	Queries int
	Mean    float64 `doc:",omitzero"`
	// Low and High are the bounds of the mean's 95% interval over queries.
	Low, High float64 `doc:",omitzero"`
	// Unseen is the share of the cluster's rows that the truth does not include because they could not be loaded.
	// The recall over all rows is then unknown. 0: no rows, -1: unknown.
	Unseen     float64 `doc:"unseen_rows_share,omitzero"`
	Worst      float64 `doc:",omitzero"`
	WorstQuery int
	// Against is the source of the truth: "exact, by the engine" or "the log's own".
	Against string
}

// Differences holds the comparison of answers with a reference, key by key.
type Differences struct {
	Against     string // source of the reference answers
	Queries     int
	Hits, Equal int // hits of the reference; those with the same key at the same position
	SameSet     int // hits of the reference found at any position
	BitEqual    int // of Equal, those with bitwise equal distances
	// Explained counts the different hits by reason: "equal distance", "row not in storage", "deleted since",
	// "different path through the graph", "searched row by row here, with an index there".
	Explained map[string]int
	Examples  []Difference // at most 20
}

// Difference is one hit that differs from the reference.
type Difference struct {
	Query, Place int
	Want, Got    load.Hit
	GotNone      bool
	Reason       string // "" if unexplained
}

// Costs holds the time of all queries of the measured rounds.
type Costs struct {
	Queries  int64
	Wall     time.Duration // time in segment searches, summed over threads
	Reduce   time.Duration // time for merging hits
	Segments []SegmentCost // by descending time
}

// SegmentCost is the cost of a segment.
type SegmentCost struct {
	Segment   int64 `doc:"segment_id,id"`
	Partition string
	Channel   string
	State     State
	Index     string // "" without an index
	Node      int64  `doc:"node_id,id"`
	NodeName  string `doc:"node"`
	Rows      int64  `doc:",unknown=-1"`
	Deleted   int64  `doc:"deleted_rows,unknown=-1"`
	Queries   int64
	Time      time.Duration // of all queries
	Distances int64
	// BruteForce counts the queries that compared all rows although there is an index.
	BruteForce int64
	// EF is the number of candidates that searches of a graph keep: the larger of ef and k.
	EF int `doc:",omitzero"`
}

// SlowQuery is one of the slowest queries.
type SlowQuery struct {
	Request  int
	Took     time.Duration
	Segments []SegmentTime // the slowest first, at most 10
}

// SegmentTime is the cost of a segment for one query.
type SegmentTime struct {
	Segment   int64 `doc:"segment_id,id"`
	Node      int64 `doc:"node_id,id"`
	State     State
	Took      time.Duration
	Distances int
}

// Share is a sum of SegmentCosts, e.g. by state, index or node.
type Share struct {
	Name      string
	Segments  int
	Rows      int64
	Time      time.Duration
	Part      float64 // share of the total time, 0 to 1
	Distances int64
}
