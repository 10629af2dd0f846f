//go:build !purego

package dist

// float32Native are the generated kernels of a float32 metric. A block is four scans.
func float32Native(b Backend, m Metric, o order) (forms, bool) {
	if b != NEON {
		return forms{}, false
	}
	l2 := [orders]gatherFunc{
		orderPyramid16: l2Pyramid16RowsNEON, orderPyramid8: l2Pyramid8RowsNEON, orderPyramid4: l2Pyramid4RowsNEON,
		orderHNSW16: l2HNSW16RowsNEON, orderHNSW4: l2HNSW4RowsNEON, orderFaiss: l2FaissRowsNEON,
	}
	ip := [orders]gatherFunc{
		orderPyramid16: ipPyramid16RowsNEON, orderPyramid8: ipPyramid8RowsNEON, orderPyramid4: ipPyramid4RowsNEON,
		orderHNSW16: ipHNSW16RowsNEON, orderHNSW4: ipHNSW4RowsNEON, orderFaiss: ipFaissRowsNEON,
	}
	f := forms{gather: ip[o]}
	if m == L2 {
		f.gather = l2[o]
	}
	return f, f.gather != nil
}
