package model

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Pair is one property. Lists of pairs keep Milvus's order.
type Pair struct{ Key, Value string }

// ObjectState is the life-cycle state of a database, collection, partition or alias, named as in Milvus without
// the type's name: Created, Creating, Dropping, Dropped; "" before 2.2.
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
	TruncatedAt      []TSO // last truncation of each shard, in order of VChannels; nil if not recorded
	Properties       []Pair
	Fields           []*Field // sorted by id, system fields (id < 100) and struct members included
	Functions        []*Function
	// UpdatedAt is the last change of the record, zero if not recorded. SchemaVersion counts changes of the
	// schema. ExternalSource is the source of an external collection's rows, without secrets.
	UpdatedAt      TSO
	SchemaVersion  int32
	Namespace      bool // rows belong to namespaces
	ExternalSource string
	FileResources  []int64 // ids of the files that its analyzers use
	// DynamicUndeclared is true if a field is dynamic although the record of the collection does not allow one.
	DynamicUndeclared bool
	// Layout is the layout of the record's key: "2.1" (all inline), "2.2" (no database), "2.2.9" (under a
	// database).
	Layout string
	Key    string // the key that holds the record
}

// Dropped reports whether the object is dropped or being dropped.
func (s ObjectState) Dropped() bool { return s == "Dropping" || s == "Dropped" }

// Dropped reports whether the collection is dropped or being dropped.
func (c *Collection) Dropped() bool { return c.State.Dropped() }

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
	IndexParams  []Pair // 2.1 stored index params here
	External     string // column of the external collection that it maps to (3.0)
	Struct       string // struct array of the field, "" if none
}

// FirstUserField is the lowest id of a user-defined field (common.StartOfUserFieldID).
const FirstUserField = 100

// System reports whether Milvus added the field (RowID, Timestamp).
func (f *Field) System() bool { return f.ID < FirstUserField }

// Vector reports whether the field holds vectors of any kind.
func (f *Field) Vector() bool {
	switch f.Type {
	case "BinaryVector", "FloatVector", "Float16Vector", "BFloat16Vector", "SparseFloatVector", "Int8Vector",
		"ArrayOfVector":
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

// Remains counts the catalog records of a collection that has no record of its own.
type Remains struct {
	Collection                    CollectionID
	Fields, Partitions, Functions int
}

// Alias is an alternative name of a collection.
type Alias struct {
	Name       string
	Database   DatabaseID
	Collection CollectionID
	State      ObjectState
	CreatedAt  TSO
}

// User is a user of Milvus's access control. Password hashes are never read.
type User struct {
	Name  string
	Roles []string
	// Unrecorded is true if the user has no record and only a role lists it as a member.
	Unrecorded bool
}

// Role is a named set of grants.
type Role struct {
	Name  string
	Users []string
	// Unrecorded is true if the role has no record and only a user lists it.
	Unrecorded bool
}

// Grant is one privilege granted to a role.
type Grant struct {
	Role, ObjectType, Database, Object, Privilege, Grantor string
}

// Path returns the name of a grant in its cluster: role/object_type/database/object/privilege. The grantor is
// not included.
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
	Name        string // key below config/, "queryCoord/autoBalance"
	Value       string // "<redacted>" if the key is a secret
	Redacted    bool
	ModRevision int64
}

// ConfigChange is a dynamic configuration key that was recently set, changed or deleted.
type ConfigChange struct {
	Name string
	// At is the latest possible time of the change, by the clock of the reader of etcd.
	At time.Time
}

// ConfigChangeWindow is how far back changes of dynamic keys are searched. Processes apply changes within that time.
const ConfigChangeWindow = 12 * time.Second

// ConfigChanges returns the keys that differ between two readings, by name. at is the time of the later one.
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

// Task is background work, recorded in etcd or reported by the process that has it in memory.
type Task struct {
	ID int64
	// Type is import-job, preimport, import, compaction, stats, analyze or broadcast in etcd. Processes also
	// report segment-task, channel-task, leader-task, index-build and sync.
	Type       string
	SubType    string // compaction: MixCompaction, ...; stats: Sort, ...; QueryCoord: Grow, Reduce, Move, ...
	Snapshot   string // restored or exported snapshot, else ""
	Collection CollectionID
	Partition  PartitionID
	State      string
	Node       NodeID
	Progress   string // "3/5 segments", "" if unknown
	Reason     string
	Trigger    int64 // compaction: trigger id; import: job id
	Segments   []SegmentID
	Results    []SegmentID
	Details    []string // other values in its record, as name=value
	VChannel   string
	// Unacknowledged are the channels that have not acknowledged a broadcast, nil if its record does not list
	// them.
	Unacknowledged []string
	StartedAt      time.Time
	EndedAt        time.Time
	Key            string // "" if not in etcd
	// Report is the report of a process; nil if there is none.
	Report *TaskReport
}
