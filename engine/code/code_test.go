package code

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"kitescope/engine/dist"
)

// TestScalarCodesAreOfWhatTheyStandFor: what a code decodes to is coded the same once more, and no value is farther from what stands for it than a
// step of its range.
func TestScalarCodesAreOfWhatTheyStandFor(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for s := range scalars {
		for _, dim := range []int{1, 5, 8, 16, 33} {
			trained := make([]float32, s.ranges(dim))
			for i := range trained {
				if trained[i] = -3; i >= len(trained)/2 {
					trained[i] = 7
				}
			}
			c, err := NewSQ(s, dim, trained)
			if err != nil {
				t.Fatal(err)
			}
			step := 7.0 / float64(int(1)<<min(s.bits(), 8)-1)
			for range 50 {
				x := make([]float32, dim)
				for i := range x {
					x[i] = r.Float32()*7 - 3
					if s == Bytes8 {
						x[i] = float32(r.IntN(256))
					}
				}
				code, again := make([]byte, c.Bytes()), make([]byte, c.Bytes())
				c.Encode(x, code)
				y := decodeBySquares(t, c, code)
				for i, v := range y {
					limit := step
					if s == Signed8 {
						limit = 1
					}
					if math.Abs(float64(v-x[i])) > limit {
						t.Fatalf("%s, dimension %d of %d: %g is coded as %g", s, i, dim, x[i], v)
					}
				}
				if c.Encode(y, again); !slices.Equal(code, again) {
					t.Fatalf("%s: %v stands for %v, which is coded as %v", s, code, y, again)
				}
			}
		}
	}
}

// decodeBySquares finds what a code stands for by inner products with unit vectors.
func decodeBySquares(t *testing.T, c *SQ, code []byte) []float32 {
	t.Helper()
	d, err := c.NewDecoder(dist.InnerProduct, dist.Knowhere25)
	if err != nil {
		t.Fatal(err)
	}
	y, q, out := make([]float32, c.dim), make([]float32, c.dim), make([]float32, 1)
	for i := range y {
		clear(q)
		q[i] = 1
		d.Load(q)
		d.Gather(unsafe.Pointer(unsafe.SliceData(code)), uintptr(len(code)), []uint32{0}, out, 0)
		y[i] = out[0]
	}
	return y
}

// TestStepsAddUp: distances by a table are those to the sum of the centroids that a code names.
func TestStepsAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for _, p := range [][4]int{{6, 2, 3, 4}, {8, 1, 2, 8}, {9, 3, 2, 5}, {4, 4, 1, 1}} {
		dim, parts, steps, bits := p[0], p[1], p[2], p[3]
		centroids := make([]float32, dim*steps<<bits)
		for i := range centroids {
			centroids[i] = float32(r.NormFloat64())
		}
		c, err := NewPRQ(dim, parts, steps, bits, centroids, true)
		if err != nil {
			t.Fatal(err)
		}
		code := make([]byte, c.Bytes())
		x := make([]float32, dim)
		at := 0
		for s := range parts * steps {
			v := r.IntN(1 << bits)
			for b := range bits {
				code[at>>3] |= byte(v>>b&1) << (at & 7)
				at++
			}
			for i, y := range c.centroid(s, uint32(v)) {
				x[s/steps*(dim/parts)+i] += y
			}
		}
		for b := range 32 {
			code[at>>3] |= byte(math.Float32bits(float32(square(x)))>>b&1) << (at & 7)
			at++
		}
		q := make([]float32, dim)
		for i := range q {
			q[i] = float32(r.NormFloat64())
		}
		d, err := c.NewDecoder(dist.L2, dist.Knowhere25)
		if err != nil {
			t.Fatal(err)
		}
		d.Load(q)
		out := make([]float32, 1)
		d.Gather(unsafe.Pointer(unsafe.SliceData(code)), 0, []uint32{0}, out, 0)
		less(q, x)
		if want := square(q); math.Abs(float64(out[0])-want) > 1e-4*(want+1) {
			t.Errorf("%v: distance %g, want %g", p, out[0], want)
		}
		if !c.Gives()(code, x) {
			t.Errorf("%v: what a code stands for has another", p)
		}
	}
}

func TestQuantisersThatDoNotFitAreRefused(t *testing.T) {
	for name, err := range map[string]error{
		"ranges":         errorOf(NewSQ(SQ8, 4, make([]float32, 7))),
		"no ranges":      errorOf(NewSQ(FP16, 4, make([]float32, 1))),
		"no type":        errorOf(NewSQ(scalars, 4, nil)),
		"parts":          errorOf(NewPQ(5, 2, 8, make([]float32, 5*256))),
		"bits":           errorOf(NewPQ(4, 2, 9, make([]float32, 4*512))),
		"steps":          errorOf(NewPRQ(4, 2, 0, 8, nil, true)),
		"centroids":      errorOf(NewPRQ(4, 2, 2, 4, make([]float32, 127), true)),
		"lengths for L2": errorOf(must(NewPRQ(4, 2, 2, 4, make([]float32, 128), false)).NewDecoder(dist.L2, dist.Faiss)),
		"hamming":        errorOf(must(NewPQ(4, 2, 4, make([]float32, 64))).NewDecoder(dist.Hamming, dist.Faiss)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func errorOf[T any](_ T, err error) error { return err }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
