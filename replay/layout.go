package replay

import (
	"errors"
	"time"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/expr"
	"kitescope/engine/segment"
	"kitescope/engine/sparse"
)

// State is how a node searches a segment.
type State uint8

// The states, in the order in which they are shown.
const (
	Growing   State = iota // row by row, on the shard leader (or where the streaming node is)
	Unindexed              // sealed, row by row: no index yet, too small for one, or FLAT
	Indexed                // sealed, by its index file
)

func (s State) String() string { return s.in([...]string{"growing", "sealed, row by row", "indexed"}) }

// Word is the state in JSON: growing, sealed_unindexed, sealed_indexed; unknown for what is none of them, which UnmarshalText refuses.
func (s State) Word() string {
	return s.in([...]string{"growing", "sealed_unindexed", "sealed_indexed"})
}

// MarshalText is Word.
func (s State) MarshalText() ([]byte, error) { return []byte(s.Word()), nil }

// UnmarshalText reads a Word.
func (s *State) UnmarshalText(word []byte) error {
	for state := Growing; state <= Indexed; state++ {
		if state.Word() == string(word) {
			*s = state
			return nil
		}
	}
	return errors.New("a segment's state")
}

func (s State) in(words [3]string) string {
	if int(s) < len(words) {
		return words[s]
	}
	return "unknown"
}

// Layout is what a cluster serves of one collection. It is immutable.
type Layout struct {
	// Source is where the cluster was read from, without credentials, and Taken when; Version is Milvus's, "" unknown.
	Source  string
	Taken   time.Time
	Version string

	Collection Collection
	Nodes      []Node // query nodes, by id; idle ones too
	Replicas   []Replica
	Segments   []Segment // by id
	// L0 are the delta logs of L0 segments: they hold for the segments of their channel and partition.
	L0 []Deletes
	// Root is the path of the files in storage (Milvus's minio.rootPath), Storage the place as far as the configuration tells it.
	Root    string
	Storage Storage
	// ChunkRows is how many rows a node searches at a time in growing segments (queryNode.segcore.chunkRows); 0 unknown.
	ChunkRows int
	// Assumed tells that no node reported its segments: spread by rule, and Notes say so.
	Assumed bool
	Notes   []string
}

// Collection is what a search must know of it.
type Collection struct {
	ID                    int64
	Name, Database        string
	VectorField, KeyField string
	Dim                   int
	Element               dist.Element
	Metric                engine.Metric
	Schema                segment.Schema
	// Filter is what filter expressions may refer to.
	Filter expr.Schema
	// Index is what the metadata says that the vector field's index is; Type is "" if it has none.
	Index Index
	// BM25 are its parameters by the index (segment.Options); nil where it says nothing.
	BM25 *sparse.BM25
}

// Index is an index's type and parameters; 0 where they do not apply or are not known.
type Index struct {
	Type              string // HNSW, FLAT, IVF_FLAT, ... as Milvus names it
	M, EFConstruction int
	NList             int
}

// Node is a query node (in 2.6 a streaming node, for growing segments, counts as one).
type Node struct {
	ID    int64
	Name  string  // as inspect shows it: querynode-7
	Cores float64 // 0 unknown
}

// Replica is one copy of the collection in memory: a search goes to one of them.
type Replica struct {
	ID      int64
	Nodes   []int64
	Leaders map[string]int64 // node by vchannel
}

// Segment is one that nodes search.
type Segment struct {
	ID, Partition int64
	PartitionName string
	Channel       string
	State         State
	Rows          int64 // as nodes or the metadata say; -1 unknown
	Index         Index // what its searches use; Type "" row by row
	// On is the node in each replica, as in Layout.Replicas; 0 where it is not served.
	On []int64
	// Files are those in storage; nil if the metadata names none (a growing segment before its first sync).
	Files *segment.Files
}

// Deletes are delta logs that hold for a channel; Partition 0 or -1 is all of them.
type Deletes struct {
	Segment, Partition int64
	Channel            string
	Files              []string
}

// Storage is where the cluster's configuration says that files lie. Keys are never in it.
type Storage struct {
	Kind             string // "local", "remote", "" unknown
	Endpoint, Bucket string
	Folder           string // of local storage
	TLS              bool
	Region           string
}

// Node returns the node of that id.
func (l *Layout) Node(id int64) *Node {
	for i := range l.Nodes {
		if l.Nodes[i].ID == id {
			return &l.Nodes[i]
		}
	}
	return nil
}
