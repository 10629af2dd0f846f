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

// State is the way in which a node searches a segment.
type State uint8

// The states, in display order.
const (
	Growing   State = iota // row by row, on the shard leader (or on the streaming node)
	Unindexed              // sealed, row by row: not indexed yet, too small for an index, or FLAT
	Indexed                // sealed, by its index file
)

func (s State) String() string {
	return s.name([...]string{"growing", "sealed, row by row", "indexed"})
}

// Word returns the state's name in JSON: growing, sealed_unindexed or sealed_indexed; unknown for other values,
// which UnmarshalText refuses.
func (s State) Word() string {
	return s.name([...]string{"growing", "sealed_unindexed", "sealed_indexed"})
}

// MarshalText returns Word.
func (s State) MarshalText() ([]byte, error) { return []byte(s.Word()), nil }

// UnmarshalText parses a Word.
func (s *State) UnmarshalText(word []byte) error {
	for state := Growing; state <= Indexed; state++ {
		if state.Word() == string(word) {
			*s = state
			return nil
		}
	}
	return errors.New("a segment's state")
}

func (s State) name(words [3]string) string {
	if int(s) < len(words) {
		return words[s]
	}
	return "unknown"
}

// Layout describes how a cluster serves one collection. It is immutable.
type Layout struct {
	// Source is the cluster's location without credentials, Taken the time when it was read, and Version the Milvus
	// version, "" if unknown.
	Source  string
	Taken   time.Time
	Version string

	Collection Collection
	Nodes      []Node // query nodes by id, including idle ones
	Replicas   []Replica
	Segments   []Segment // by id
	// L0 holds the delta logs of L0 segments. They apply to the segments of their channel and partition.
	L0 []Deletes
	// Root is the path of the files in storage (Milvus's minio.rootPath). Storage is the location of the files in the
	// configuration.
	Root    string
	Storage Storage
	// ChunkRows is the number of rows that a node searches at a time in growing segments
	// (queryNode.segcore.chunkRows); 0 unknown.
	ChunkRows int
	// Assumed reports that no node reported its segments. They are then placed by a rule that Notes describe.
	Assumed bool
	Notes   []string
}

// Collection holds the properties of a collection that a search needs.
type Collection struct {
	ID                    int64
	Name, Database        string
	VectorField, KeyField string
	Dim                   int
	Element               dist.Element
	Metric                engine.Metric
	Schema                segment.Schema
	// Filter holds the fields that filter expressions can refer to.
	Filter expr.Schema
	// Index is the index of the vector field in the metadata. Its Type is "" if the field has none.
	Index Index
	// BM25 holds the BM25 parameters of the index (segment.Options); nil if the metadata has none.
	BM25 *sparse.BM25
}

// Index holds an index's type and parameters; 0 if they are unknown or do not apply.
type Index struct {
	Type              string // HNSW, FLAT, IVF_FLAT, ... as in Milvus
	M, EFConstruction int
	NList             int
}

// Node is a query node. In 2.6 a streaming node counts as one for growing segments.
type Node struct {
	ID    int64
	Name  string  // name in inspect, e.g. querynode-7
	Cores float64 // 0 unknown
}

// Replica is one copy of the collection in memory. A search uses one replica.
type Replica struct {
	ID      int64
	Nodes   []int64
	Leaders map[string]int64 // node by vchannel
}

// Segment is a segment that nodes search.
type Segment struct {
	ID, Partition int64
	PartitionName string
	Channel       string
	State         State
	Rows          int64 // reported by nodes or in the metadata; -1 unknown
	Index         Index // index used by searches; Type "" for row by row
	// On holds the node in each replica, in the order of Layout.Replicas; 0 if the segment is not served there.
	On []int64
	// Files are the segment's files in storage; nil if the metadata names none (a growing segment before its first
	// sync).
	Files *segment.Files
}

// Deletes holds delta logs that apply to a channel. Partition 0 or -1 means all partitions.
type Deletes struct {
	Segment, Partition int64
	Channel            string
	Files              []string
}

// Storage is the location of the files in the cluster's configuration. It never contains access keys.
type Storage struct {
	Kind             string // "local", "remote", "" unknown
	Endpoint, Bucket string
	Folder           string // of local storage
	TLS              bool
	Region           string
}

// Node returns the node with the given id, nil if there is none.
func (l *Layout) Node(id int64) *Node {
	for i := range l.Nodes {
		if l.Nodes[i].ID == id {
			return &l.Nodes[i]
		}
	}
	return nil
}
