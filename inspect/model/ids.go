package model

import (
	"slices"
	"strconv"
)

// Ids are Milvus's int64; each kind has its own type so that they cannot be mixed up.
type (
	// DatabaseID identifies a database; 1 is "default", 0 stands for the time before databases (2.2.8 and older).
	DatabaseID int64
	// CollectionID identifies a collection.
	CollectionID int64
	// PartitionID identifies a partition; -1 (all partitions) occurs on L0 segments.
	PartitionID int64
	// FieldID identifies a field inside its collection: 0 RowID, 1 Timestamp, from 100 the user's.
	FieldID int64
	// SegmentID identifies a segment.
	SegmentID int64
	// IndexID identifies an index definition.
	IndexID int64
	// BuildID identifies the building of one index on one segment.
	BuildID int64
	// ReplicaID identifies a replica of a loaded collection.
	ReplicaID int64
	// NodeID is the ServerID of a session; it changes at each start of a process.
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

// Name returns the name of the session that a node has under a role, as it is shown everywhere: "querynode-19".
func (id NodeID) Name(role string) string { return role + "-" + id.String() }

// Seek finds an id in a sorted list at or after position from; where it is not there, at is where it would stand. Who asks for ids in
// rising order begins where the last one was: steps that double are shorter than halving the whole.
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
