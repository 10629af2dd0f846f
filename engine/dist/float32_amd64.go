//go:build !purego

package dist

import "unsafe"

// float32Native are the generated kernels of a float32 metric. An order with lanes of less
// than 512 bits has the same kernel on both back ends.
func float32Native(b Backend, m Metric, o order) (forms, bool) {
	if b != AVX2 && b != AVX512 {
		return forms{}, false
	}
	if b == AVX512 {
		if f, ok := float32AVX512(m, o); ok {
			return f, true
		}
	}
	l2 := [orders]forms{
		orderPyramid16: {gather: l2Pyramid16RowsAVX2, ahead: l2Pyramid16AheadAVX2},
		orderPyramid8:  {gather: l2Pyramid8RowsAVX2, ahead: l2Pyramid8AheadAVX2},
		orderPyramid4:  {gather: l2Pyramid4RowsAVX2, ahead: l2Pyramid4AheadAVX2},
		orderHNSW16:    {gather: l2HNSW16RowsAVX2, ahead: l2HNSW16AheadAVX2},
		orderHNSW4:     {gather: l2HNSW4RowsAVX2, ahead: l2HNSW4AheadAVX2},
		orderFaiss:     {gather: l2FaissRowsAVX2, ahead: l2FaissAheadAVX2},
	}
	ip := [orders]forms{
		orderPyramid16: {gather: ipPyramid16RowsAVX2, ahead: ipPyramid16AheadAVX2},
		orderPyramid8:  {gather: ipPyramid8RowsAVX2, ahead: ipPyramid8AheadAVX2},
		orderPyramid4:  {gather: ipPyramid4RowsAVX2, ahead: ipPyramid4AheadAVX2},
		orderHNSW16:    {gather: ipHNSW16RowsAVX2, ahead: ipHNSW16AheadAVX2},
		orderHNSW4:     {gather: ipHNSW4RowsAVX2, ahead: ipHNSW4AheadAVX2},
		orderFaiss:     {gather: ipFaissRowsAVX2, ahead: ipFaissAheadAVX2},
	}
	f := ip[o]
	if m == L2 {
		f = l2[o]
	}
	return f, f.gather != nil
}

// float32AVX512 are the kernels of the orders with 16 lanes.
func float32AVX512(m Metric, o order) (forms, bool) {
	l2 := map[order]forms{
		orderPyramid16: {gather: l2Pyramid16RowsAVX512, ahead: l2Pyramid16AheadAVX512, block: l2Pyramid16BlockAVX512},
		orderHNSW16:    {gather: l2HNSW16RowsAVX512, ahead: l2HNSW16AheadAVX512, block: l2HNSW16BlockAVX512},
		orderFaiss:     {gather: l2FaissRowsAVX512, ahead: l2FaissAheadAVX512, block: l2FaissBlockAVX512},
	}
	ip := map[order]forms{
		orderPyramid16: {gather: ipPyramid16RowsAVX512, ahead: ipPyramid16AheadAVX512, block: ipPyramid16BlockAVX512},
		orderHNSW16:    {gather: ipHNSW16RowsAVX512, ahead: ipHNSW16AheadAVX512, block: ipHNSW16BlockAVX512},
		orderFaiss:     {gather: ipFaissRowsAVX512, ahead: ipFaissAheadAVX512, block: ipFaissBlockAVX512},
	}
	if m == L2 {
		f, ok := l2[o]
		return f, ok
	}
	f, ok := ip[o]
	return f, ok
}

// visit is Visit of slots and rows that are not none.
func visit(slots []uint32, seen *Seen, base unsafe.Pointer, stride uintptr, lines int, fresh []uint32) int {
	return visitAMD64(&slots[0], len(slots), &seen.words[0], int(seen.rows), base, stride, lines, &fresh[0])
}
