package dist

import (
	"bytes"
	"encoding/binary"
	"os"
	"testing"
	"unsafe"
)

// lcg is the generator of testdata/half_knowhere.cc.
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

// vector makes a vector of elements as the generator of the golden file does.
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

func TestHalfAndInt8EqualKnowhere(t *testing.T) {
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
	for _, p := range []Profile{KnowhereAVX512, KnowhereAVX2, KnowhereSSE} {
		var want [3]float32
		if err := binary.Read(in, binary.LittleEndian, &want); err != nil {
			t.Fatal(err)
		}
		row := unsafe.Pointer(&x[0])
		norm := int8Norm2(row, dim)
		if e != Int8 {
			norm = halfNorm2(e, p, row, dim)
		}
		if !same(norm, want[2]) {
			t.Errorf("norm of element %d, profile %d, dim %d: %x, knowhere has %x", e, p, dim, norm, want[2])
		}
		for i, m := range []Metric{L2, InnerProduct} {
			for _, b := range Backends() {
				k := newKernel(b, m, e, p, dim)
				query, err := k.Query(q)
				if err != nil {
					t.Fatal(err)
				}
				if got := k.One(unsafe.Pointer(&query[0]), row); !same(got, want[i]) {
					t.Errorf("metric %d, element %d, profile %d, back end %d, dim %d: %x, knowhere has %x", m, e, p, b, dim, got, want[i])
				}
			}
		}
	}
}
