package dist

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

func TestSumsOfCodesAgreeWithTheSpecification(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	forms := codesForms()
	for _, dim := range []int{1, 3, 63, 64, 65, 100, 128, 300, 768, 1537} {
		spec := &Codes{width: (dim + 63) &^ 63, form: forms[0]}
		const rows = 11
		stride := spec.Width() + 64*(dim%2) + dim%3
		codes := make([]byte, rows*stride)
		for i := range codes {
			codes[i] = byte(r.Uint32())
		}
		v := make([]int16, dim)
		for i := range v {
			v[i] = int16(r.IntN(2*FineLimit+1) - FineLimit)
			if r.IntN(8) == 0 {
				v[i] = []int16{FineLimit, -FineLimit, 128, -128, 127, -129}[r.IntN(6)]
			}
		}
		for count := 1; count <= rows; count++ {
			ids := make([]uint32, count)
			for i := range ids {
				ids[i] = uint32(r.IntN(rows))
			}
			var want []int32
			for f := range forms {
				c := &Codes{width: spec.width, form: forms[f]}
				q := Aligned(c.QueryBytes())
				offset := c.Pack(v, q)
				sums := make([]int32, count)
				c.Gather(q, unsafe.Pointer(&codes[0]), uintptr(stride), ids, sums)
				for i := range sums {
					sums[i] -= offset
				}
				if f == 0 {
					want = sums
				} else if !slices.Equal(sums, want) {
					t.Fatalf("form %d, %d elements: sums %v, the specification has %v", f, dim, sums, want)
				}
			}
			exact := int32(0)
			for j, x := range v {
				exact += int32(x) * (int32(codes[int(ids[0])*stride+j]) - 128)
			}
			if want[0] != exact {
				t.Fatalf("%d elements: the specification has %d, the sum of products is %d", dim, want[0], exact)
			}
		}
	}
}
