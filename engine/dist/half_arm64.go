//go:build !purego

package dist

// halfNative are the kernels of an order of addition. The SSE order of float16, one sum in
// turn, has none, nor have those of scalar quantisers; a block is four scans.
func halfNative(b Backend, m Metric, e Element, o halfOrder) (forms, bool) {
	if b != NEON || o.lanes == 1 {
		return forms{}, false
	}
	rows := map[halfOrder][2]gatherFunc{ // L2, inner product
		{lanes: 16, accs: 2, fused: true}: {float16L2Rows16x2NEON, nil},
		{lanes: 16, accs: 1, fused: true}: {nil, float16IPRows16x1NEON},
		{lanes: 8, accs: 1, fused: true}:  {float16L2Rows8x1NEON, float16IPRows8x1NEON},
	}
	if e == BFloat16 {
		rows = map[halfOrder][2]gatherFunc{
			{lanes: 16, accs: 2, fused: true}: {bfloat16L2Rows16x2NEON, bfloat16IPRows16x2NEON},
			{lanes: 8, accs: 1, fused: true}:  {bfloat16L2Rows8x1NEON, bfloat16IPRows8x1NEON},
			{lanes: 4, accs: 1}:               {bfloat16L2Rows4x1NEON, bfloat16IPRows4x1NEON},
		}
	}
	f := rows[o][1]
	if m == L2 {
		f = rows[o][0]
	}
	return rowsForms(f), f != nil // else the specification serves
}

// rowsForms are the forms of a gatherFunc that takes no ids.
func rowsForms(rows gatherFunc) forms { return forms{gather: rows, block: gatherBlock(rows)} }

// int8Native are the int8 kernels.
func int8Native(b Backend, m Metric) (forms, bool) {
	switch {
	case b != NEON:
		return forms{}, false
	case m == L2:
		return rowsForms(int8L2RowsNEON), true
	}
	return rowsForms(int8IPRowsNEON), true
}

// bitNative are the kernels of bits.
func bitNative(b Backend, m Metric) (forms, bool) {
	switch {
	case b != NEON:
		return forms{}, false
	case m == Jaccard:
		return rowsForms(jaccardRowsNEON), true
	}
	return rowsForms(hammingRowsNEON), true
}
