package dist

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"testing"
	"unsafe"
)

// lcg is the random generator of testdata/half_knowhere.cc.
type lcg uint32

func (g *lcg) next() uint32 {
	*g = *g*1664525 + 1013904223
	return uint32(*g >> 8)
}

func (g *lcg) half(e Element, wide bool) uint16 {
	r := g.next()
	switch {
	case e == Float16 && wide:
		return uint16(r&0x83ff | (r>>16)%31<<10)
	case e == Float16:
		return uint16(r&0x83ff | (11+(r>>16)%4)<<10)
	case wide:
		return uint16(r&0x807f | (97+(r>>16)%64)<<7)
	}
	return uint16(r&0x807f | (123+(r>>16)%4)<<7)
}

// vector generates a vector of elements as the generator of the golden file does.
func (g *lcg) vector(e Element, wide bool, dim int) []byte {
	b := make([]byte, e.Bytes(dim))
	for i := range dim {
		if e == Int8 {
			b[i] = byte(g.next())
		} else {
			binary.LittleEndian.PutUint16(b[2*i:], g.half(e, wide))
		}
	}
	return b
}

// TestHalfAndInt8MatchKnowhere compares distances with the results of knowhere's functions
// (testdata/half_knowhere.cc) for AVX-512, AVX2 and SSE. Each function adds floats in its own order, so distances
// differ by a few units in the last place of the sum of the magnitudes of their terms.
func TestHalfAndInt8MatchKnowhere(t *testing.T) {
	golden, err := os.ReadFile("testdata/half_knowhere.bin")
	if err != nil {
		t.Fatal(err)
	}
	in := bytes.NewReader(golden)
	g := lcg(1)
	for dim := 1; dim <= 257; dim++ {
		for _, e := range []Element{Float16, BFloat16} {
			for _, wide := range []bool{false, true} {
				checkKnowhere(t, in, e, g.vector(e, wide, dim), g.vector(e, wide, dim), dim)
			}
		}
		checkKnowhere(t, in, Int8, g.vector(Int8, false, dim), g.vector(Int8, false, dim), dim)
	}
	if in.Len() != 0 {
		t.Errorf("%d bytes of the golden file were not used", in.Len())
	}
}

func checkKnowhere(t *testing.T, in *bytes.Reader, e Element, q, x []byte, dim int) {
	t.Helper()
	for level := range 3 {
		var want [3]float32
		if err := binary.Read(in, binary.LittleEndian, &want); err != nil {
			t.Fatal(err)
		}
		row := unsafe.Pointer(&x[0])
		for _, b := range Backends() {
			for i, m := range []Metric{L2, InnerProduct} {
				k := newKernel(b, m, e, Knowhere, dim)
				query, err := k.Query(q)
				if err != nil {
					t.Fatal(err)
				}
				got, norm := k.One(unsafe.Pointer(&query[0]), row), k.SquaredNorm(row)
				size := float64(want[0])
				if m == InnerProduct {
					size = sizeOf(e, q, x)
				}
				if !almostEqual(got, want[i], size) || !almostEqual(norm, want[2], float64(want[2])) {
					t.Errorf("metric %d, element %d, level %d, back end %d, dim %d: %x and norm %x, knowhere has %x "+
						"and %x",
						m, e, level, b, dim, got, norm, want[i], want[2])
				}
			}
		}
	}
}

// almostEqual reports whether two distances are equal except for rounding, where size is the sum of the magnitudes
// of their terms.
func almostEqual(a, b float32, size float64) bool {
	return same(a, b) || math.Abs(float64(a)-float64(b)) <= 16*0x1p-24*size
}

// sizeOf returns the sum of the absolute products of two vectors.
func sizeOf(e Element, q, x []byte) (size float64) {
	if e == Int8 {
		return 0 // integers are exact
	}
	a, b := Floats(widenHalf(e, q)), Floats(widenHalf(e, x))
	for i := range a {
		size += math.Abs(float64(a[i]) * float64(b[i]))
	}
	return size
}
