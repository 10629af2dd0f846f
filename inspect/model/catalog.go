package model

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Pair is one property, in the order in which Milvus stores it.
type Pair struct{ Key, Value string }

// ObjectState is the life-cycle state of a database, collection, partition or alias, in
// Milvus's words without the type's name: Created, Creating, Dropping, Dropped;
// "" before 2.2.
type ObjectState string

// Database is a namespace of collections (2.2.9 and later).
type Database struct {
	ID         DatabaseID
	Name       string
	State      ObjectState
	CreatedAt  TSO
	Properties []Pair
	Tenant     string
}

// Collection is a collection with its schema.
type Collection struct {
	ID               CollectionID
	Database         DatabaseID
	Name             string
	Description      string
	State            ObjectState
	Shards           int
	ConsistencyLevel string // Strong, Session, Bounded, Eventually, Customized
	AutoID           bool
	DynamicField     bool
	CreatedAt        TSO
	VChannels        []string
	PChannels        []string
	TruncatedAt      []TSO // when each shard was emptied last, in the order of VChannels; nil where it is not recorded
	Properties       []Pair
	Fields           []*Field // sorted by id, system fields (id < 100) and struct members included
	Functions        []*Function
	// UpdatedAt is when the record was last changed, zero if it is not recorded; SchemaVersion counts changes
	// of the schema. ExternalSource is where the rows of an external collection come from, without secrets.
	UpdatedAt      TSO
	SchemaVersion  int32
	Namespace      bool // rows belong to namespaces
	ExternalSource string
	FileResources  []int64 // ids of the files that its analyzers use
	// DynamicUnsaid: a field is dynamic, but the record of the collection says that it has none.
	DynamicUnsaid bool
	// Layout is where the record was found: "2.1" (all inline), "2.2" (no database), "2.2.9" (under a database).
	Layout string
	Key    string // the key that holds the record
}

// Gone reports whether the object is dropped or being dropped.
func (s ObjectState) Gone() bool { return s == "Dropping" || s == "Dropped" }

// Dropped reports whether the collection is gone or going.
func (c *Collection) Dropped() bool { return c.State.Gone() }

// Field is one column of a schema.
type Field struct {
	ID           FieldID
	Collection   CollectionID
	Name         string
	Description  string
	Type         string // Int64, VarChar, FloatVector, ArrayOfStruct, ...
	ElementType  string // of Array and ArrayOfVector
	Dim          int64  // of vectors, 0 otherwise (sparse vectors have none)
	State        string
	PrimaryKey   bool
	AutoID       bool
	PartitionKey bool
	Clustering   bool
	Dynamic      bool
	Nullable     bool
	FuncOutput   bool // filled by a Function
	Default      string
	Params       []Pair // type_params
	IndexParams  []Pair // 2.1 kept index params here
	External     string // name of the column of an external collection that it shows (3.0)
	Struct       string // name of the struct array that the field belongs to, "" if none
}

// FirstUserField is the lowest id of a field that Milvus did not add itself (common.StartOfUserFieldID).
const FirstUserField = 100

// System reports whether Milvus itself added the field (RowID, Timestamp).
func (f *Field) System() bool { return f.ID < FirstUserField }

// Vector reports whether the field holds vectors of any kind.
func (f *Field) Vector() bool {
	switch f.Type {
	case "BinaryVector", "FloatVector", "Float16Vector", "BFloat16Vector", "SparseFloatVector", "Int8Vector", "ArrayOfVector":
		return true
	}
	return false
}

// Function computes one field from others (2.5 and later): BM25, TextEmbedding, Rerank.
type Function struct {
	ID          int64
	Name, Type  string
	Description string
	Inputs      []string
	Outputs     []string
	Params      []Pair // secrets redacted
}

// Partition is a partition of a collection.
type Partition struct {
	ID         PartitionID
	Collection CollectionID
	Name       string
	State      ObjectState
	CreatedAt  TSO
}

// Remains counts what the catalog has of a collection without a record.
type Remains struct {
	Collection                    CollectionID
	Fields, Partitions, Functions int
}

// Alias is another name of a collection.
type Alias struct {
	Name       string
	Database   DatabaseID
	Collection CollectionID
	State      ObjectState
	CreatedAt  TSO
}

// User is a user of Milvus's own access control. The password hash is never read into the model.
type User struct {
	Name  string
	Roles []string
	// Unrecorded: only a role that it is a member of names it.
	Unrecorded bool
}

// Role is a named set of grants.
type Role struct {
	Name  string
	Users []string
	// Unrecorded: only a user that is a member names it.
	Unrecorded bool
}

// Grant is one privilege of one role.
type Grant struct {
	Role, ObjectType, Database, Object, Privilege, Grantor string
}

// Path names a grant in its cluster: role/object_type/database/object/privilege. Who granted it is not part of that.
func (g *Grant) Path() string {
	return strings.Join([]string{g.Role, g.ObjectType, g.Database, g.Object, g.Privilege}, "/")
}

// PrivilegeGroup is a named set of privileges (2.5 and later).
type PrivilegeGroup struct {
	Name       string
	Privileges []string
}

// ConfigEntry is a dynamic configuration key, as found in etcd.
type ConfigEntry struct {
	Name        string // as written after config/, "queryCoord/autoBalance"
	Value       string // "<redacted>" where the name says that it is a secret
	Redacted    bool
	ModRevision int64
}

// ConfigChange is a dynamic configuration key that was set, altered or deleted of late.
type ConfigChange struct {
	Name string
	// At is when that was at the latest, by the clock of who read etcd.
	At time.Time
}

// ConfigPast is how far back dynamic keys are looked at for changes: longer than processes take to take them over.
const ConfigPast = 12 * time.Second

// ConfigChanges are the keys that two readings do not have alike; at is the time of the later one.
func ConfigChanges(before, after []*ConfigEntry, at time.Time) []ConfigChange {
	revisions := make(map[string]int64, len(before))
	for _, e := range before {
		revisions[e.Name] = e.ModRevision
	}
	var changes []ConfigChange
	for _, e := range after {
		if revision, was := revisions[e.Name]; !was || revision != e.ModRevision {
			changes = append(changes, ConfigChange{e.Name, at})
		}
		delete(revisions, e.Name)
	}
	for name := range revisions {
		changes = append(changes, ConfigChange{name, at})
	}
	slices.SortFunc(changes, func(a, b ConfigChange) int { return cmp.Compare(a.Name, b.Name) })
	return changes
}

// Task is background work: kept in etcd, or told of by who has it in memory.
type Task struct {
	ID int64
	// Type is import-job, preimport, import, compaction, stats, analyze, broadcast in etcd; processes also tell of
	// segment-task, channel-task, leader-task, index-build, sync.
	Type       string
	SubType    string // of compaction: MixCompaction, ...; of stats: Sort, ...; of QueryCoord's tasks: Grow, Reduce, Move, ...
	Snapshot   string // that a job restores or exports, "" of others
	Collection CollectionID
	Partition  PartitionID
	State      string
	Node       NodeID
	Progress   string // "3/5 segments", "" if unknown
	Reason     string
	Trigger    int64 // compaction: trigger id; import: job id
	Segments   []SegmentID
	Results    []SegmentID
	Details    []string // what else its record says, as name=value
	VChannel   string
	// Unacknowledged are the channels that have not acknowledged a broadcast, nil where its record does not name them.
	Unacknowledged []string
	StartedAt      time.Time
	EndedAt        time.Time
	Key            string // "": not in etcd
	// Told is what a process says of it, nil: none does, or none was asked.
	Told *ToldTask
}
