package dist

import (
	"fmt"
	"unsafe"
)

// New returns the kernel for vectors of dim dimensions on the best back end of this CPU.
func New(m Metric, e Element, p Profile, dim int) (*Kernel, error) { return NewOn(Generic, m, e, p, dim) }

// NewOn is New on a named back end; an error if this CPU or this build has it not.
func NewOn(b Backend, m Metric, e Element, p Profile, dim int) (*Kernel, error) {
	if dim <= 0 {
		return nil, fmt.Errorf("vectors of %d dimensions", dim)
	}
	k := &Kernel{Metric: m, Element: e, Profile: p, Dim: dim, Backend: b, n: dim}
	k.scan = func(q, x unsafe.Pointer, stride uintptr, out *float32, rows, n int) {
		for i := range rows {
			a, b := unsafe.Slice((*float32)(q), n), unsafe.Slice((*float32)(unsafe.Add(x, uintptr(i)*stride)), n)
			var s float32
			for j := range a {
				if m == L2 {
					s += float32((a[j] - b[j]) * (a[j] - b[j]))
				} else {
					s += float32(a[j] * b[j])
				}
			}
			unsafe.Slice(out, rows)[i] = s
		}
	}
	k.gather = func(q, base unsafe.Pointer, stride uintptr, ids *uint32, out *float32, count, n int) {
		for i, id := range unsafe.Slice(ids, count) {
			k.scan(q, unsafe.Add(base, uintptr(id)*stride), 0, &unsafe.Slice(out, count)[i], 1, n)
		}
	}
	k.block = func(q unsafe.Pointer, qStride uintptr, x unsafe.Pointer, stride uintptr, out *float32, outStride, rows, n int) {
		for j := range 4 {
			k.scan(unsafe.Add(q, uintptr(j)*qStride), x, stride, (*float32)(unsafe.Add(unsafe.Pointer(out), 4*j*outStride)), rows, n)
		}
	}
	return k, nil
}

func (k *Kernel) widen(row []byte) []byte { return row }

// Norm returns the L2 norm of the row at x as the profile's library computes it of a query
// under cosine.
func (k *Kernel) Norm(x unsafe.Pointer) float32 { return 0 }

// Visit writes to fresh those of the neighbours in slots, up to the first with the top bit
// set, whose tag is not epoch, gives them this tag, prefetches the first lines cache lines of
// each one's row (base+id*stride), and returns how many there are. fresh has room for all
// slots.
func Visit(slots []uint32, tags []uint16, epoch uint16, base unsafe.Pointer, stride uintptr, lines int, fresh []uint32) int {
	n := 0
	for _, s := range slots {
		if s>>31 != 0 {
			break
		}
		if tags[s] != epoch {
			tags[s] = epoch
			fresh[n] = s
			n++
		}
	}
	return n
}
