package main

import (
	"bytes"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// stream returns the CPU time of reading all rows so many times: the least that any search
// through them must take.
func stream(v *engine.Vectors, times int) timing {
	data := unsafe.Slice((*byte)(v.Base()), v.Bytes())
	took, _ := onThread(func() error { // which cannot go wrong
		for range times {
			if !readAll(data) {
				bytes.Count(data, []byte{1}) // the fastest reader of the standard library
			}
		}
		return nil
	})
	return took
}

// streamBytes is the size of what the bandwidth of the machine is measured on, larger than
// any cache.
const streamBytes = 512 << 20

// streamed is so much memory, written once: pages that never were are all the same one.
func streamed() (*engine.Vectors, error) {
	v, err := engine.NewVectors(dist.Int8, 4096, streamBytes/4096)
	if err != nil {
		return nil, err
	}
	for i := range v.Rows {
		v.Row(i)[0] = 1
	}
	return v, nil
}

// bandwidth is how many bytes a second one core reads from memory: the best of some runs.
func bandwidth() (float64, error) {
	v, err := streamed()
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
