package dist

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// rabitqCodes are codes of rows against a centroid, one directly after the other, and what they stand for.
func rabitqCodes(r *rand.Rand, k *RaBitQ, rows int) (codes []byte, centroid []float32) {
	draw := func() []float32 {
		x := make([]float32, k.dim)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		return x
	}
	centroid = draw()
	for range rows {
		code, set := make([]byte, k.Bytes()), 0
		var square, sum float64
		for i, v := range draw() {
			d := float64(v) - float64(centroid[i])
			if d > 0 {
				code[i>>3] |= 1 << (i & 7)
				set++
			}
			square += d * d
			sum += math.Abs(d)
		}
		for i, v := range []float64{square, square / sum * math.Sqrt(float64(k.dim)), float64(set)}[:(k.Bytes()-k.Signs())/4] {
			binary.LittleEndian.PutUint32(code[k.Signs()+4*i:], math.Float32bits(float32(v)))
		}
		codes = append(codes, code...)
	}
	return codes, centroid
}

// TestRaBitQIsTheEstimateOfTheDistance compares with the formula of the paper (Gao and Long, "RaBitQ", 2024, section 3.2) in float64: a query that
// is not quantised closely, one of 8 bits nearly.
func TestRaBitQIsTheEstimateOfTheDistance(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	for _, dim := range []int{1, 7, 16, 40, 128, 200} {
		for _, counted := range []bool{false, true} {
			k, err := NewRaBitQ(L2, Faiss, dim, counted)
			if err != nil {
				t.Fatal(err)
			}
			const rows = 37
			codes, centroid := rabitqCodes(r, k, rows)
			x := make([]float32, dim)
			for i := range x {
				x[i] = 10 + float32(r.NormFloat64()) // far away, so that no estimate is below 0
			}
			q, out := k.NewQuery(), make([]float32, rows)
			q.Load(x)
			for _, bits := range []int{0, 8} {
				q.Centre(unsafe.Slice((*byte)(unsafe.Pointer(&centroid[0])), 4*dim), bits)
				q.Scan(unsafe.Pointer(&codes[0]), uintptr(k.Bytes()), out)
				for i, got := range out {
					code := codes[i*k.Bytes():]
					number := func(j int) float64 {
						return float64(math.Float32frombits(binary.LittleEndian.Uint32(code[k.Signs()+4*j:])))
					}
					var square, dot float64
					for j, v := range x {
						d := float64(v) - float64(centroid[j])
						square += d * d
						if code[j>>3]>>(j&7)&1 == 0 {
							d = -d
						}
						dot += d / math.Sqrt(float64(dim))
					}
					want := number(0) + square - 2*number(1)*dot
					if slack := 1e-5 + float64(bits)/8*0.01; math.Abs(float64(got)-want) > slack*(number(0)+square) {
						t.Errorf("%d dimensions, %d bits, row %d: %g, not %g", dim, bits, i, got, want)
					}
				}
			}
		}
	}
	for _, m := range []Metric{Cosine, Hamming} {
		if _, err := NewRaBitQ(m, Faiss, 8, false); err == nil {
			t.Errorf("%s: no error", m)
		}
	}
}

// TestRaBitQOfAllBackEndsHasTheSameBits compares with the specification: all numbers of bits, dimensions that fill no register, signs behind the
// last dimension, queries that are constant or as their centroid, and numbers of all sizes.
func TestRaBitQOfAllBackEndsHasTheSameBits(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	for _, b := range Backends() {
		for _, dim := range []int{1, 5, 8, 15, 16, 17, 31, 33, 64, 100, 127, 128, 129, 200, 256, 300, 768} {
			for kind := range 4 {
				m := []Metric{L2, InnerProduct}[kind&1]
				k, err := newRaBitQ(b, m, Faiss, dim, kind&2 != 0)
				if err != nil {
					t.Fatal(err)
				}
				specified, err := newRaBitQ(Generic, m, Faiss, dim, kind&2 != 0)
				if err != nil {
					t.Fatal(err)
				}
				rows := 1 + r.IntN(40)
				codes, centroid := rabitqCodes(r, k, rows)
				x := make([]float32, dim)
				for i := range x {
					x[i] = float32(r.NormFloat64() * math.Pow(10, float64(kind*3)))
				}
				switch r.IntN(6) {
				case 0:
					copy(x, centroid)
				case 1:
					for i := range x {
						x[i] = centroid[i] + 0.5
					}
				case 2:
					for i := range codes[:k.Signs()] {
						codes[i] = 0xff // beyond the last dimension too
					}
				}
				at := unsafe.Slice((*byte)(unsafe.Pointer(&centroid[0])), 4*dim)
				q, want := k.NewQuery(), specified.NewQuery()
				q.Load(x)
				want.Load(x)
				for bits := range MaxQueryBits + 1 {
					q.Centre(at, bits)
					want.Centre(at, bits)
					if q.factors != want.factors || bits > 0 && !slices.Equal(q.planes[:k.planeBytes(q)], want.planes[:k.planeBytes(q)]) {
						t.Fatalf("%s, %d dimensions, %d bits: factors %v and planes %x, specified are %v and %x", b, dim, bits, q.factors, q.planes, want.factors, want.planes)
					}
					got, spec := make([]float32, rows), make([]float32, rows)
					q.Scan(unsafe.Pointer(&codes[0]), uintptr(k.Bytes()), got)
					want.Scan(unsafe.Pointer(&codes[0]), uintptr(k.Bytes()), spec)
					for i := range got {
						if math.Float32bits(got[i]) != math.Float32bits(spec[i]) {
							t.Fatalf("%s, %d dimensions, %d bits, %s, row %d: %g, specified is %g", b, dim, bits, m, i, got[i], spec[i])
						}
					}
				}
			}
		}
	}
}

func (k *RaBitQ) planeBytes(q *RaBitQQuery) int {
	return (k.Signs() + rabitqChunk - 1) / rabitqChunk * rabitqChunk * q.slots
}
