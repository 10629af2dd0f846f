package profile

import (
	"math"
	"unsafe"

	"kitescope/internal/words"
)

// held is what the decoder holds in bytes: its tables with the room that they have, whether it is used or not, and what
// maps take, roughly.
func (d *decoder) held() int64 {
	n := d.memory + int64(cap(d.window.buf)+cap(d.scratch)+cap(d.lastRaw)) + int64(cap(d.texts.all))
	n += bytesOf(d.stacks) + bytesOf(d.starts) + bytesOf(d.values) + bytesOf(d.labelOf) + bytesOf(d.raw)
	n += bytesOf(d.texts.ends) + bytesOf(d.functions) + bytesOf(d.mappings) + bytesOf(d.locations) + bytesOf(d.lines) + bytesOf(d.comments)
	for _, s := range []*ids{&d.functionIDs, &d.mappingIDs, &d.locationIDs} {
		n += bytesOf(s.own) + bytesOf(s.far) + int64(len(s.farAt))*mapEntry
	}
	return n
}

// mapEntry is what an entry of a map of numbers takes, with the room that a map keeps free and the half that is there twice
// while it grows (Go's swiss maps: groups of 8 slots, at most 7/8 full, doubled).
const mapEntry = 48

func bytesOf[T any](s []T) int64 {
	var one T
	return int64(cap(s)) * int64(unsafe.Sizeof(one))
}

// roomIn is s with room for n more values, where that is within the limit of memory: while a table grows it is there twice.
func roomIn[T any](d *decoder, s []T, n int) ([]T, error) {
	if cap(s)-len(s) >= n {
		return s, nil
	}
	return roomFor(d, s, n, 0)
}

// roomFor is roomIn for a table of which the part of the input that was read foretells the size; see grown.
func roomFor[T any](d *decoder, s []T, n int, done float64) ([]T, error) {
	var one T
	free := (d.limits.MaxMemory - d.held()) / int64(unsafe.Sizeof(one))
	want := int64(max(wanted(s, done), len(s)+n))
	if want > free { // what is foretold is a guess: it may do with less
		want = int64(len(s)+n) + int64(len(s)+n)/4
	}
	if want > free {
		return s, d.overMemory()
	}
	return moved(s, int(want)), nil
}

func (d *decoder) overMemory() error {
	return tooLarge("it would take more than %s of memory", words.Bytes(d.limits.MaxMemory))
}

// checkMemory holds what maps took since the last time to the limit; tables are held to it before they grow.
func (d *decoder) checkMemory() error {
	if d.held() > d.limits.MaxMemory {
		return d.overMemory()
	}
	return nil
}

// checkFinish holds what finish adds to the limit: functions and mappings with their names, indexes by id, label sets.
func (d *decoder) checkFinish() error {
	n := int64(len(d.functions))*int64(unsafe.Sizeof(Function{})) + int64(len(d.mappings))*int64(unsafe.Sizeof(Mapping{}))
	n += int64(len(d.comments)) * int64(unsafe.Sizeof(""))
	for _, s := range []*ids{&d.functionIDs, &d.mappingIDs, &d.locationIDs} {
		if s.own != nil || len(s.far) > 0 {
			n += int64(s.count)*2*mapEntry + 4*int64(len(s.far)) // at most: an index by number is a third of that
		}
	}
	if d.held()+n > d.limits.MaxMemory {
		return d.overMemory()
	}
	return nil
}

// wanted is how many values s should have room for; see grown.
func wanted[T any](s []T, done float64) int {
	if done > 0 {
		// Not all at once of the first bytes alone: what they foretell of a hostile file no machine has.
		return int(min(float64(len(s))/done*1.2+4096, 16*float64(len(s))+4096, math.MaxUint32))
	}
	return 2*cap(s) + 16
}
