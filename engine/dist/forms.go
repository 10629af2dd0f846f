package dist

import "unsafe"

// forms are the three forms of one kernel.
type forms struct {
	gather gatherFunc
	ahead  gatherFunc // see Kernel.GatherAhead; may be nil
	scan   scanFunc
	block  blockFunc
}

// pairFunc is the distance of the query at q to the row at x, of n elements (bytes of bits).
type pairFunc func(q, x unsafe.Pointer, n int) float32

// pairForms makes the three forms of the distance of a pair.
func pairForms(pair pairFunc) forms {
	scan := func(q, x unsafe.Pointer, stride uintptr, out *float32, rows, n int) {
		o := unsafe.Slice(out, rows)
		for i := range o {
			o[i] = pair(q, unsafe.Add(x, uintptr(i)*stride), n)
		}
	}
	gather := func(q, base unsafe.Pointer, stride uintptr, ids *uint32, out *float32, count, n int) {
		o := unsafe.Slice(out, count)
		for i, id := range unsafe.Slice(ids, count) {
			o[i] = pair(q, unsafe.Add(base, uintptr(id)*stride), n)
		}
	}
	return forms{gather: gather, scan: scan, block: scanBlock(scan)}
}

// scanBlock makes a block of four scans. Rows are taken a few at a time, so that they come
// from memory once.
func scanBlock(scan scanFunc) blockFunc {
	const few = 16
	return func(q unsafe.Pointer, qStride uintptr, x unsafe.Pointer, stride uintptr, out *float32, outStride, rows, n int) {
		for done := 0; done < rows; done += few {
			for j := range 4 {
				o := (*float32)(unsafe.Add(unsafe.Pointer(out), 4*(j*outStride+done)))
				scan(unsafe.Add(q, uintptr(j)*qStride), unsafe.Add(x, uintptr(done)*stride), stride, o, min(few, rows-done), n)
			}
		}
	}
}

// gatherBlock makes a block of scans by a gatherFunc that takes no ids. Rows are taken a few
// at a time, so that they come from memory once.
func gatherBlock(gather gatherFunc) blockFunc {
	return scanBlock(func(q, x unsafe.Pointer, stride uintptr, out *float32, rows, n int) {
		gather(q, x, stride, nil, out, rows, n)
	})
}

// Aligned makes n zero bytes of the heap that start at a multiple of 64.
func Aligned(n int) []byte {
	b := make([]byte, n+63)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & 63)
	return b[skip : skip+n : skip+n]
}
