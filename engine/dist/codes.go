package dist

import "unsafe"

// Codes computes sums of products of an integer query with rows of 8-bit codes, by id. It computes the same
// sums as a Sieve, but each row is stored separately, because walks over graphs read single rows. A row has
// Width bytes; the byte 128 represents 0.
type Codes struct {
	width int
	form  codesForm
}

// codesForm is the kernel of a back end: a rowsFunc that takes ids and writes int32. If wide is set, a query
// has 16 bits per element instead of planes of 8 bits.
type codesForm struct {
	rows rowsFunc
	wide bool
}

// NewCodes returns the kernel for dim dimensions on the best back end of this CPU.
func NewCodes(dim int) *Codes {
	all := codesForms()
	return &Codes{width: (dim + 63) &^ 63, form: all[len(all)-1]}
}

// codesForms returns the kernels that this CPU supports: the specification first, the fastest last.
func codesForms() []codesForm {
	return append([]codesForm{{codesGeneric, true}}, codesNative()...)
}

// Width returns the size of a row in bytes: the dimension rounded up to a multiple of 64.
func (c *Codes) Width() int { return c.width }

// QueryBytes returns the size of a packed query in bytes.
func (c *Codes) QueryBytes() int { return 2 * c.width }

// Pack writes a query to dst and returns the offset to subtract from each sum, modulo 2^32. No number of v may
// exceed FineLimit in magnitude. dst has QueryBytes bytes; 64-byte aligned is fastest.
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

// Gather writes to out[i] the sum for the row ids[i], without subtracting the offset of Pack. Rows start at
// base, stride bytes apart. While it computes four rows, it prefetches the next four.
func (c *Codes) Gather(q []byte, base unsafe.Pointer, stride uintptr, ids []uint32, out []int32) {
	if len(ids) == 0 {
		return
	}
	_ = out[len(ids)-1]
	c.form.rows.gather(unsafe.Pointer(&q[0]), base, stride, ids, (*float32)(pointerTo(&out[0])), c.width)
}

// codesGeneric is the specification of the kernels.
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
