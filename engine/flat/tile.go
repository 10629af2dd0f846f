package flat

import (
	"math"
	"unsafe"
)

// group is the number of distances that are compared with the worst hit at once. Nearly all groups contain no
// better distance, so a tile costs little more than its loads.
const group = 16

// Distances are compared as integers, two per word, because floats with the same sign are ordered like their bits.
// (|d| with the top bit set) - bound keeps the top bit if and only if |d| >= bound. It never borrows from the
// other half of the word.
const (
	tops = 0x8000000080000000
	twin = 0x0000000100000001
)

// limit is the threshold for whole groups, derived from the worst hit. It may pass a group without a better
// distance, but never rejects a group that has one.
type limit struct {
	bound   uint64 // the bits of the bound, in both halves
	greater bool   // better means |d| >= bound; otherwise |d| < bound
	all     bool   // all groups pass
}

// set sets the limit to pass keys smaller than worst.
func (l *limit) set(worst float32, similarity bool) {
	const size = math.MaxInt32 // all bits except the sign
	if !similarity {           // distances are at least 0: better means |d| < worst
		*l = limit{bound: uint64(math.Float32bits(worst)&size) * twin}
		return
	}
	// A similarity must be greater than -worst, so |d| must be at least the next float. If -worst is negative, the
	// sign would matter as well, so all groups pass.
	*l = limit{bound: uint64(math.Float32bits(-worst)&size+1) * twin, greater: true, all: worst > 0}
}

// next returns the start of the next whole group, from i on, that may contain a better distance. If there is none,
// it returns the index after the last whole group.
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

// addRun adds the distances of consecutive rows from first on, except for rows marked in excluded.
func (t *TopK) addRun(d []float32, first int, excluded []uint64) {
	for i := t.limit.next(d, 0); i < len(d); i = t.limit.next(d, i+group) {
		t.addSome(d[i:min(i+group, len(d))], first+i, excluded)
	}
}

// addSome adds distances one by one.
func (t *TopK) addSome(d []float32, first int, excluded []uint64) {
	for i, key := range d {
		row := int64(first + i)
		id := row
		if t.similarity {
			key, id = -key, ^row
		}
		if key < t.worst && (excluded == nil || excluded[row>>6]>>(row&63)&1 == 0) {
			t.enter(key, id)
		}
	}
}

// addChosen adds the distances of the rows first+chosen[i].
func (t *TopK) addChosen(d []float32, first int, chosen []uint32) {
	for i, v := range d {
		t.Add(v, int64(first)+int64(chosen[i]))
	}
}

// AddList adds the distances of entries of an inverted list with their ids, except for ids marked in excluded.
func (t *TopK) AddList(d []float32, ids []int64, excluded []uint64) {
	for i := t.limit.next(d, 0); i < len(d); i = t.limit.next(d, i+group) {
		for j := i; j < min(i+group, len(d)); j++ {
			if !Marked(excluded, ids[j]) {
				t.Add(d[j], ids[j])
			}
		}
	}
}
