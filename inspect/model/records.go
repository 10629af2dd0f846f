package model

import (
	"math/bits"
	"slices"
	"sync"
)

// Records are what is asked of all segments of a collection, each in an array by itself and in the order of Cluster.SegmentsOf: with 200,000
// of them, reading each through its pointer is what takes the time. Nothing changes them.
type Records struct {
	IDs         []SegmentID
	States      []SegmentState
	Rows, Bytes []int64

	// places are where segments stand, by a hash of their ids: a number more, 0 for none. Nodes ask for segments that are spread over the
	// whole list, for each of which a search by halves would guess wrongly at every other step.
	places []uint32
	shift  int
}

// recordsKept are the Records of a Cluster's collections that somebody asked for.
type recordsKept struct {
	lock sync.Mutex
	of   map[CollectionID]*Records
}

// RecordsOf are those of a collection, worked out once for a Cluster.
func RecordsOf(c *Cluster, id CollectionID) *Records {
	if c.onces == nil {
		return NewRecords(c.SegmentsOf(id))
	}
	k := &c.onces.records
	k.lock.Lock()
	defer k.lock.Unlock()
	r := k.of[id]
	if r == nil {
		r = NewRecords(c.SegmentsOf(id))
		if k.of == nil {
			k.of = make(map[CollectionID]*Records)
		}
		k.of[id] = r
	}
	return r
}

// NewRecords are those of some segments, by id.
func NewRecords(list []*Segment) *Records {
	n := len(list)
	r := &Records{IDs: make([]SegmentID, n), States: make([]SegmentState, n), Rows: make([]int64, n), Bytes: make([]int64, n)}
	for i, s := range list {
		r.IDs[i], r.States[i], r.Rows[i], r.Bytes[i] = s.ID, s.State, s.Rows, s.Bytes
	}
	size := bits.Len(uint(2*n + 1)) // at least half of it is free
	r.places, r.shift = make([]uint32, 1<<size), 64-size
	for i, id := range r.IDs {
		r.put(uint32(i)+1, id) //nolint:gosec // no collection has four billion segments
	}
	return r
}

// Place is where a segment stands; ok is false where there is none.
func (r *Records) Place(id SegmentID) (at int, ok bool) {
	mask := len(r.places) - 1
	slot := r.hash(id)
	for range tries {
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

// tries is how many places a segment may have. Hardly one has none that is free, unless somebody chose the ids for it: that is found by
// halves.
const tries = 16

func (r *Records) put(place uint32, id SegmentID) {
	mask := len(r.places) - 1
	slot := r.hash(id)
	for range tries {
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

// hash is the first place of an id.
func (r *Records) hash(id SegmentID) int {
	const golden = 0x9e3779b97f4a7c15          // 2^64 over the golden ratio: ids that are evenly apart fall far from each other
	return int(uint64(id) * golden >> r.shift) //nolint:gosec // it is smaller than the table
}
