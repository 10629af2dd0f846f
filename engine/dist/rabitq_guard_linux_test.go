package dist

import (
	"testing"
	"unsafe"
)

// TestRaBitQReadsNoByteBeyondACode scans codes and a centroid that end with their memory. A byte read beyond ends the test binary.
func TestRaBitQReadsNoByteBeyondACode(t *testing.T) {
	const rows, most = 19, 300
	codes, centroid := beforeGuard(t, rows*(most/8+13)), beforeGuard(t, 4*most)
	for _, b := range Backends() {
		for _, counted := range []bool{false, true} {
			for dim := 1; dim <= most; dim++ {
				k, err := newRaBitQ(b, L2, Faiss, dim, counted)
				if err != nil {
					t.Fatal(err)
				}
				q := k.NewQuery()
				for _, bits := range []int{0, 3, 8} {
					q.Centre(centroid[len(centroid)-4*dim:], bits)
					own := codes[len(codes)-rows*k.Bytes():]
					q.Scan(unsafe.Pointer(&own[0]), uintptr(k.Bytes()), make([]float32, rows))
				}
			}
		}
	}
}
