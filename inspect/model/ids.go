package model

import (
	"slices"
	"strconv"
)

// Ids are int64 as in Milvus. Each kind has its own type to prevent mix-ups.
type (
	// DatabaseID identifies a database. 1 is "default", 0 was used before databases existed (2.2.8 and older).
	DatabaseID int64
	// CollectionID identifies a collection.
	CollectionID int64
	// PartitionID identifies a partition. -1 (all partitions) occurs on L0 segments.
	PartitionID int64
	// FieldID identifies a field inside its collection: 0 RowID, 1 Timestamp, user fields from 100.
	FieldID int64
	// SegmentID identifies a segment.
	SegmentID int64
	// IndexID identifies an index definition.
	IndexID int64
	// BuildID identifies the build of one index on one segment.
	BuildID int64
	// ReplicaID identifies a replica of a loaded collection.
	ReplicaID int64
	// NodeID is the ServerID of a session. It changes at each start of a process.
	NodeID int64
)

func (id DatabaseID) String() string   { return strconv.FormatInt(int64(id), 10) }
func (id CollectionID) String() string { return strconv.FormatInt(int64(id), 10) }
func (id PartitionID) String() string  { return strconv.FormatInt(int64(id), 10) }
func (id FieldID) String() string      { return strconv.FormatInt(int64(id), 10) }
func (id SegmentID) String() string    { return strconv.FormatInt(int64(id), 10) }
func (id IndexID) String() string      { return strconv.FormatInt(int64(id), 10) }
func (id BuildID) String() string      { return strconv.FormatInt(int64(id), 10) }
func (id ReplicaID) String() string    { return strconv.FormatInt(int64(id), 10) }
func (id NodeID) String() string       { return strconv.FormatInt(int64(id), 10) }

// Name returns the name of the node's session under a role, as shown everywhere, e.g. "querynode-19".
func (id NodeID) Name(role string) string { return role + "-" + id.String() }

// Seek searches a sorted list for an id, starting at position from. If the id is missing, at is its insertion
// position. Callers with ascending ids pass the previous position, because an exponential search from there is
// shorter than a binary search of the whole list.
func Seek(ids []SegmentID, id SegmentID, from int) (at int, ok bool) {
	low, step := from, 1
	for low+step < len(ids) && ids[low+step] < id {
		low += step
		step *= 2
	}
	high := min(low+step+1, len(ids))
	at, ok = slices.BinarySearch(ids[low:high], id)
	return low + at, ok
}
