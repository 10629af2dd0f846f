package dist

import "unsafe"

// Codes computes sums of products of a query of whole numbers with rows of 8-bit codes by id: what a Sieve computes of groups, of rows
// each by itself, as walks of graphs read them. A row has Width bytes, of which 128 stands for 0.
type Codes struct {
	width int
	form  codesForm
}

// codesForm is the kernel of a back end: a rowsFunc that takes ids and writes int32. If wide is set, a query has 16 bits an element
// instead of planes of 8 bits.
type codesForm struct {
	rows rowsFunc
	wide bool
}

// NewCodes returns the kernel for dim dimensions on the best back end of this CPU.
func NewCodes(dim int) *Codes {
	all := codesForms()
	return &Codes{width: (dim + 63) &^ 63, form: all[len(all)-1]}
}

// codesForms are those that this CPU has, the specification first, the best last.
func codesForms() []codesForm {
	return append([]codesForm{{codesGeneric, true}}, codesNative()...)
}

// Width is the bytes of a row: dimensions filled up to a multiple of 64.
func (c *Codes) Width() int { return c.width }

// QueryBytes is what a packed query takes.
func (c *Codes) QueryBytes() int { return 2 * c.width }

// Pack writes a query, of no number beyond FineLimit, to dst (QueryBytes long, 64-byte aligned for speed), and returns what has to be
// taken off each sum, modulo 2^32.
func (c *Codes) Pack(v []int16, dst []byte) (offset int32) {
	clear(dst)
	if c.form.wide {
		for i, x := range v {
			offset += int32(x)
			dst[2*i], dst[2*i+1] = byte(x), byte(x>>8)
		}
		return 128 * offset
	}
	for ; len(v) > 0; dst = dst[128:] {
		n := min(64, len(v))
		high, low := dst[:n], dst[64:64+n]
		for i, x := range v[:n] {
			offset += int32(x)
			high[i], low[i] = byte((x-int16(int8(x)))>>8), byte(x)
		}
		v = v[n:]
	}
	return 128 * offset
}

// Gather writes to out[i] the sum of the row ids[i] of those that start at base, stride bytes apart, plus the offset. While it computes
// four rows it prefetches the next four.
func (c *Codes) Gather(q []byte, base unsafe.Pointer, stride uintptr, ids []uint32, out []int32) {
	if len(ids) == 0 {
		return
	}
	_ = out[len(ids)-1]
	c.form.rows.gather(unsafe.Pointer(&q[0]), base, stride, ids, (*float32)(pointerTo(&out[0])), c.width)
}

// codesGeneric is the specification.
func codesGeneric(q, base unsafe.Pointer, stride uintptr, ids *uint32, out *float32, count, n int) {
	v, sums := unsafe.Slice((*int16)(q), n), unsafe.Slice((*int32)(unsafe.Pointer(out)), count)
	for i, id := range unsafe.Slice(ids, count) {
		row := unsafe.Slice((*byte)(unsafe.Add(base, uintptr(id)*stride)), n)
		sum := int32(0)
		for j, x := range v {
			sum += int32(x) * int32(row[j])
		}
		sums[i] = sum
	}
}
