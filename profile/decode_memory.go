package profile

import (
	"math"
	"unsafe"

	"kitescope/internal/words"
)

// memorySize returns the size of the decoder's data in bytes: the full capacity of its tables, and an approximation
// for maps.
func (d *decoder) memorySize() int64 {
	n := d.memory + int64(cap(d.window.buf)+cap(d.scratch)+cap(d.lastRaw)) + int64(cap(d.texts.all))
	n += bytesOf(d.stacks) + bytesOf(d.starts) + bytesOf(d.values) + bytesOf(d.labelOf) + bytesOf(d.raw)
	n += bytesOf(d.texts.ends) + bytesOf(d.functions) + bytesOf(d.mappings) + bytesOf(d.locations) + bytesOf(d.lines) +
		bytesOf(d.comments)
	for _, s := range []*ids{&d.functionIDs, &d.mappingIDs, &d.locationIDs} {
		n += bytesOf(s.entryIDs) + bytesOf(s.overflow) + int64(len(s.overflowAt))*mapEntry
	}
	return n
}

// mapEntry is the approximate size in bytes of an entry in a map with numeric keys. It includes unused slots,
// and the half that exists twice while the map grows (Go's swiss maps: groups of 8 slots, at most 7/8 full,
// doubled).
const mapEntry = 48

func bytesOf[T any](s []T) int64 {
	var one T
	return int64(cap(s)) * int64(unsafe.Sizeof(one))
}

// roomIn returns s with capacity for n more values, or an error if that exceeds the memory limit. A growing
// table is in memory twice.
func roomIn[T any](d *decoder, s []T, n int) ([]T, error) {
	if cap(s)-len(s) >= n {
		return s, nil
	}
	return roomFor(d, s, n, 0)
}

// roomFor is like roomIn, but estimates the final size of the table from done, the fraction of the input that
// was read. See grown.
func roomFor[T any](d *decoder, s []T, n int, done float64) ([]T, error) {
	var one T
	free := (d.limits.MaxMemory - d.memorySize()) / int64(unsafe.Sizeof(one))
	want := int64(max(targetCap(s, done), len(s)+n))
	if want > free { // want is an estimate, so less may suffice
		want = int64(len(s)+n) + int64(len(s)+n)/4
	}
	if want > free {
		return s, d.overMemory()
	}
	return reallocate(s, int(want)), nil
}

func (d *decoder) overMemory() error {
	return tooLarge("it would take more than %s of memory", words.Bytes(d.limits.MaxMemory))
}

// checkMemory returns an error if maps have exceeded the memory limit since the last call. Tables are checked
// before they grow.
func (d *decoder) checkMemory() error {
	if d.memorySize() > d.limits.MaxMemory {
		return d.overMemory()
	}
	return nil
}

// checkFinish returns an error if the result of finish would exceed the memory limit. That includes functions
// and mappings with their names, indexes by id, and label sets.
func (d *decoder) checkFinish() error {
	n := int64(len(d.functions))*int64(unsafe.Sizeof(Function{})) +
		int64(len(d.mappings))*int64(unsafe.Sizeof(Mapping{}))
	n += int64(len(d.comments)) * int64(unsafe.Sizeof(""))
	for _, s := range []*ids{&d.functionIDs, &d.mappingIDs, &d.locationIDs} {
		if s.entryIDs != nil || len(s.overflow) > 0 {
			n += int64(s.count)*2*mapEntry + 4*int64(len(s.overflow)) // an upper bound: a dense index takes a third
		}
	}
	if d.memorySize()+n > d.limits.MaxMemory {
		return d.overMemory()
	}
	return nil
}

// targetCap returns the capacity that s should have. See grown.
func targetCap[T any](s []T, done float64) int {
	if done > 0 {
		// The growth is limited because the estimate from the first bytes of a hostile file may exceed any
		// machine's memory.
		return int(min(float64(len(s))/done*1.2+4096, 16*float64(len(s))+4096, math.MaxUint32))
	}
	return 2*cap(s) + 16
}
