//go:build !purego

package dist

import "unsafe"

// pqNative are the kernels of product quantisers of a back end; nil where there are none.
func pqNative(b Backend) pqForms {
	if b != AVX512 {
		return pqForms{}
	}
	return pqForms{
		sum: func(add float32, table []float32, x unsafe.Pointer, stride uintptr, out []float32, parts int) {
			lanes := pqLanes()
			pqSumAVX512(keep(&table[0]), x, stride, keep(&lanes[0]), keep(&out[0]), keep(&add), len(out), parts)
		},
		less: func(own, query, out []float32) {
			pqLessAVX512(keep(&own[0]), keep(&query[0]), keep(&out[0]), len(out))
		},
		table: func(m Metric, q, x, table []float32, parts int) {
			f := pqTableIPAVX512
			if m == L2 {
				f = pqTableL2AVX512
			}
			f(keep(&q[0]), keep(&x[0]), keep(&table[0]), parts, len(q)/parts)
		},
	}
}

// pqLanes is where, in a table, the entries of 16 parts begin.
func pqLanes() (lanes [16]uint32) {
	for i := range lanes {
		lanes[i] = uint32(i * PQValues)
	}
	return lanes
}
