package main

import (
	"bytes"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// stream returns the CPU time of reading all rows the given number of times. No exhaustive search can take
// less.
func stream(v *engine.Vectors, times int) timing {
	data := unsafe.Slice((*byte)(v.Base()), v.Bytes())
	took, _ := timeThread(func() error { // the function returns no error
		for range times {
			if !readAll(data) {
				bytes.Count(data, []byte{1}) // the fastest reader of the standard library
			}
		}
		return nil
	})
	return took
}

// streamBytes is the size of the memory on which bandwidth is measured. It is larger than any cache.
const streamBytes = 512 << 20

// newStreamBuffer returns streamBytes of memory whose pages were all written once. Pages that were never written all
// map to the same zero page.
func newStreamBuffer() (*engine.Vectors, error) {
	v, err := engine.NewVectors(dist.Int8, 4096, streamBytes/4096)
	if err != nil {
		return nil, err
	}
	for i := range v.Rows {
		v.Row(i)[0] = 1
	}
	return v, nil
}

// bandwidth returns how many bytes per second one core reads from memory: the best of five runs.
func bandwidth() (float64, error) {
	v, err := newStreamBuffer()
	if err != nil {
		return 0, err
	}
	defer v.Release()
	best := 0.0
	for range 5 {
		best = max(best, float64(streamBytes)/stream(v, 1).Seconds())
	}
	return best, nil
}
