package replay

import (
	"time"

	"kitescope/replay/load"
)

// ResultVersion is written into files; a file of a later one is refused.
const ResultVersion = 1

// Result is what a run, a sweep or a prediction found, with all that is needed to repeat it. It is saved as JSON, its fields in their order
// (WriteResult, ReadResult), shown by render, plotted, compared.
type Result struct {
	Version int `doc:"-"`
	// Kind is "run", "sweep" or "whatif".
	Kind  string `doc:"mode"`
	Taken time.Time
	// Stopped says why the run is not whole ("interrupted", "disk full", ...); "" if it is.
	Stopped string
	Setup   Setup
	Cover   Coverage     `doc:"coverage"`
	Points  []load.Point // one of a run; each combination of a sweep
	// Recall and Differences are nil if nothing was compared.
	Recall      *Recall
	Differences *Differences
	Costs       *Costs // nil of live targets
	// Slowest are the queries that took longest, with where they spent their time; the longest first.
	Slowest []SlowQuery
	Notes   []string
}

// Setup is what repeats a run.
type Setup struct {
	Command    string // kitescope's version and the command line, without secrets
	Program    string // kitescope's version
	Source     string // of the layout
	Storage    string // of the files, without credentials
	Target     string // "engine", or the live target's name
	Collection string
	Milvus     string // the version whose answers are reproduced; "" unknown
	Metric     string
	Dim        int
	Element    string
	Log        string
	LogFormat  string
	LogDigest  string
	LogSeed    uint64 // of a drawn log
	Queries    int
	Replica    int64 `doc:"replica_id,id" whatif:"replica,id"`
	Machine    Machine
}

// Machine is where the run was made.
type Machine struct {
	CPU       string // model name
	Cores     int    `doc:",omitzero" whatif:""`
	OS, Arch  string
	Kernels   string // the vector instructions in use: "avx512", ...
	GoVersion string
}

// Coverage is how much of the collection could be loaded.
type Coverage struct {
	Segments, Loaded int
	// Rows are those that the cluster says it serves, as far as it says, Covered those that were loaded (deleted ones included), Deleted
	// those of them that deletes hide.
	Rows    int64
	Covered int64 `doc:"covered_rows" whatif:""`
	Deleted int64 `doc:"deleted_rows" whatif:""`
	// RowsUnknown counts segments whose rows nobody tells.
	RowsUnknown int `doc:"segments_of_unknown_rows" whatif:""`
	Missing     []Missing
	Bytes       int64 `doc:"read_bytes" whatif:""`   // of files read
	Memory      int64 `doc:"memory_bytes" whatif:""` // of vectors, graphs, keys
	Took        time.Duration
}

// Missing is a segment that was left out, whole or in part.
type Missing struct {
	Segment int64 `doc:"segment_id,id" whatif:"segment,id"`
	State   State
	Rows    int64 `doc:",unknown=-1"` // not covered; -1 unknown, 0 only its index
	// Of are the rows of the segment, -1 unknown.
	Of     int64 `doc:"segment_rows,unknown=-1" whatif:""`
	Reason string
}

// Recall is how many of the true nearest keys were answered.
type Recall struct {
	K       int
	Queries int
	Mean    float64 `doc:",omitzero"`
	// Low and High bound the mean: 95%, over queries.
	Low, High float64 `doc:",omitzero"`
	// Unseen is the share of the cluster's rows that the truth is not of, as they could not be loaded: what the recall among all rows is, is
	// not known then. 0 is none, -1 that nobody tells how many.
	Unseen     float64 `doc:"unseen_rows_share,omitzero"`
	Worst      float64 `doc:",omitzero"`
	WorstQuery int
	// Against is what the truth was: "exact, by the engine" or the log's own.
	Against string
}

// Differences are answers that are not the reference's, id by id.
type Differences struct {
	Against     string // whose answers are the reference
	Queries     int
	Hits, Equal int // hits of the reference, and how many have the same key at the same place
	SameSet     int // hits that are there at whatever place
	BitEqual    int // of Equal, how many have the same bits as distance
	// Explained counts hits that differ, by reason: "equal distance", "row not in storage", "deleted since", "different path through the graph",
	// "searched row by row here, with an index there".
	Explained map[string]int
	Examples  []Difference // at most 20
}

// Difference is one hit that differs.
type Difference struct {
	Query, Place int
	Want, Got    load.Hit
	GotNone      bool
	Reason       string // "" unexplained
}

// Costs are where the time went, all queries of the measured rounds together.
type Costs struct {
	Queries  int64
	Wall     time.Duration // in searching segments, all threads together
	Reduce   time.Duration // merging answers
	Segments []SegmentCost // the dearest first
}

// SegmentCost is one segment's share.
type SegmentCost struct {
	Segment   int64 `doc:"segment_id,id"`
	Partition string
	Channel   string
	State     State
	Index     string // "" without one
	Node      int64  `doc:"node_id,id"`
	NodeName  string `doc:"node"`
	Rows      int64  `doc:",unknown=-1"`
	Deleted   int64  `doc:"deleted_rows,unknown=-1"`
	Queries   int64
	Time      time.Duration // all queries together
	Distances int64
	// BruteForce counts queries that compared with all rows although there is a graph.
	BruteForce int64
	// EF is what the searches kept where there is a graph.
	EF int `doc:",omitzero"`
}

// SlowQuery is one query that took long.
type SlowQuery struct {
	Request  int
	Took     time.Duration
	Segments []SegmentTime // the longest first, at most 10
}

// SegmentTime is what one segment took of one query.
type SegmentTime struct {
	Segment   int64 `doc:"segment_id,id"`
	Node      int64 `doc:"node_id,id"`
	State     State
	Took      time.Duration
	Distances int
}

// Share is a sum of SegmentCosts: of a state, an index, a node.
type Share struct {
	Name      string
	Segments  int
	Rows      int64
	Time      time.Duration
	Part      float64 // of all time, 0 to 1
	Distances int64
}
