package model

import (
	"math/bits"
	"slices"
	"sync"
)

// Records holds the fields of a collection's segments that full scans read, each in its own array, in the order
// of Cluster.SegmentsOf. Memory access dominates scans of 200,000 segments through pointers. Records are
// immutable.
type Records struct {
	IDs         []SegmentID
	States      []SegmentState
	Rows, Bytes []int64

	// places is a hash table of segment positions plus one, 0 for empty. Nodes look up segments in random
	// order, for which a binary search mispredicts half of its branches.
	places []uint32
	shift  int
}

// recordsCache caches the Records of a Cluster's collections.
type recordsCache struct {
	lock         sync.Mutex
	byCollection map[CollectionID]*Records
}

// RecordsOf returns the Records of a collection. They are computed once per Cluster.
func RecordsOf(c *Cluster, id CollectionID) *Records {
	if c.cache == nil {
		return NewRecords(c.SegmentsOf(id))
	}
	k := &c.cache.records
	k.lock.Lock()
	defer k.lock.Unlock()
	r := k.byCollection[id]
	if r == nil {
		r = NewRecords(c.SegmentsOf(id))
		if k.byCollection == nil {
			k.byCollection = make(map[CollectionID]*Records)
		}
		k.byCollection[id] = r
	}
	return r
}

// NewRecords returns the Records of a list of segments sorted by id.
func NewRecords(list []*Segment) *Records {
	n := len(list)
	r := &Records{
		IDs: make([]SegmentID, n), States: make([]SegmentState, n), Rows: make([]int64, n), Bytes: make([]int64, n),
	}
	for i, s := range list {
		r.IDs[i], r.States[i], r.Rows[i], r.Bytes[i] = s.ID, s.State, s.Rows, s.Bytes
	}
	size := bits.Len(uint(2*n + 1)) // at least half of the slots stay empty
	r.places, r.shift = make([]uint32, 1<<size), 64-size
	for i, id := range r.IDs {
		r.put(uint32(i)+1, id) //nolint:gosec // no collection has four billion segments
	}
	return r
}

// Place returns the position of a segment. ok is false if there is none.
func (r *Records) Place(id SegmentID) (at int, ok bool) {
	mask := len(r.places) - 1
	slot := r.hash(id)
	for range maxProbes {
		place := r.places[slot&mask]
		if place == 0 {
			return 0, false
		}
		if r.IDs[place-1] == id {
			return int(place) - 1, true
		}
		slot++
	}
	return slices.BinarySearch(r.IDs, id)
}

// maxProbes limits the slots probed for a segment. If all are taken, which is rare unless ids were chosen for it,
// Place uses a binary search.
const maxProbes = 16

func (r *Records) put(place uint32, id SegmentID) {
	mask := len(r.places) - 1
	slot := r.hash(id)
	for range maxProbes {
		switch at := &r.places[slot&mask]; {
		case *at == 0:
			*at = place
			return
		case r.IDs[*at-1] == id:
			return
		}
		slot++
	}
}

// hash returns the first slot of an id.
func (r *Records) hash(id SegmentID) int {
	const golden = 0x9e3779b97f4a7c15          // 2^64 / golden ratio, to spread evenly spaced ids
	return int(uint64(id) * golden >> r.shift) //nolint:gosec // it is smaller than the table
}
