package flat

import (
	"math"
	"unsafe"
)

// group is how many distances of a tile are compared at once with the worst hit. Nearly all
// groups hold none that is better, so a tile costs little more than its loads.
const group = 16

// Distances are compared as integers, two in a word: those of one sign are ordered as their
// bits are. (|d| with the top bit set) - bound keeps the top bit if and only if |d| >= bound,
// and never borrows from the neighbour.
const (
	tops = 0x8000000080000000
	twin = 0x0000000100000001
)

// limit is the worst hit as whole groups are compared with it. It may let through a group
// without a better distance, and never holds one back that has any.
type limit struct {
	bound   uint64 // the bits of the bound, twice
	greater bool   // better is |d| >= bound, else |d| < bound
	all     bool   // every group may hold a better one
}

// set makes the limit for keys smaller than worst.
func (l *limit) set(worst float32, similarity bool) {
	const size = math.MaxInt32 // all bits but the sign
	if !similarity {           // distances of at least 0: better is |d| < worst
		*l = limit{bound: uint64(math.Float32bits(worst)&size) * twin}
		return
	}
	// Similarities greater than -worst: |d| at least the next float. Below 0 the sign would
	// have to be looked at.
	*l = limit{bound: uint64(math.Float32bits(-worst)&size+1) * twin, greater: true, all: worst > 0}
}

// next is where the next whole group from i on begins that may hold a better distance, or
// where no whole group is left.
func (l *limit) next(d []float32, i int) int {
	b := l.bound
	switch {
	case l.all:
	case l.greater:
		for ; i+group <= len(d); i += group {
			g := (*[group / 2]uint64)(unsafe.Pointer(&d[i]))
			some := (g[0] | tops) - b
			some |= (g[1] | tops) - b
			some |= (g[2] | tops) - b
			some |= (g[3] | tops) - b
			some |= (g[4] | tops) - b
			some |= (g[5] | tops) - b
			some |= (g[6] | tops) - b
			some |= (g[7] | tops) - b
			if some&tops != 0 {
				return i
			}
		}
	default:
		for ; i+group <= len(d); i += group {
			g := (*[group / 2]uint64)(unsafe.Pointer(&d[i]))
			every := (g[0] | tops) - b
			every &= (g[1] | tops) - b
			every &= (g[2] | tops) - b
			every &= (g[3] | tops) - b
			every &= (g[4] | tops) - b
			every &= (g[5] | tops) - b
			every &= (g[6] | tops) - b
			every &= (g[7] | tops) - b
			if every&tops != tops {
				return i
			}
		}
	}
	return i
}

// addRun offers the distances of the consecutive rows from first on, but for those that left
// marks by their numbers.
func (t *TopK) addRun(d []float32, first int, left []uint64) {
	for i := t.limit.next(d, 0); i < len(d); i = t.limit.next(d, i+group) {
		t.addSome(d[i:min(i+group, len(d))], first+i, left)
	}
}

// addSome offers distances one by one.
func (t *TopK) addSome(d []float32, first int, left []uint64) {
	for i, key := range d {
		row := int64(first + i)
		id := row
		if t.similarity {
			key, id = -key, ^row
		}
		if key < t.worst && (left == nil || left[row>>6]>>(row&63)&1 == 0) {
			t.enter(key, id)
		}
	}
}

// addChosen offers the distances of the rows first+chosen[i].
func (t *TopK) addChosen(d []float32, first int, chosen []uint32) {
	for i, v := range d {
		t.Add(v, int64(first)+int64(chosen[i]))
	}
}

// AddList offers the distances of entries of an inverted list with their ids, but for those
// that left marks by their ids.
func (t *TopK) AddList(d []float32, ids []int64, left []uint64) {
	for i := t.limit.next(d, 0); i < len(d); i = t.limit.next(d, i+group) {
		for j := i; j < min(i+group, len(d)); j++ {
			if !Marked(left, ids[j]) {
				t.Add(d[j], ids[j])
			}
		}
	}
}
