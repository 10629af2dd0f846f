package dist

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// sieveInput holds codes with their numbers, four queries and their cuts. About half of the rows pass.
type sieveInput struct {
	codes []byte
	a, b  []float32
	v     [4][]int16
	cuts  [4]Cut
}

func newSieveInput(r *rand.Rand, s *Sieve, dim, words, limit int) *sieveInput {
	rows := words * SieveWord
	in := &sieveInput{codes: make([]byte, s.CodesBytes(rows)), a: make([]float32, rows), b: make([]float32, rows)}
	for i := range in.codes {
		in.codes[i] = byte(r.Uint32())
		if r.IntN(20) == 0 {
			in.codes[i] = []byte{1, 255, 0, 128}[r.IntN(4)]
		}
	}
	for i := range rows {
		in.a[i], in.b[i] = float32(r.NormFloat64()), float32(r.ExpFloat64())
		if r.IntN(30) == 0 {
			in.a[i], in.b[i] = 0, float32(math.Inf(1))
		}
		if r.IntN(60) == 0 {
			in.a[i] = float32(math.NaN())
		}
	}
	for j := range in.v {
		in.v[j] = make([]int16, dim)
		for i := range dim {
			in.v[j][i] = int16(r.IntN(2*limit+1) - limit)
			if r.IntN(10) == 0 {
				in.v[j][i] = int16([]int{limit, -limit, 128 % (limit + 1), -128 % (limit + 1)}[r.IntN(4)])
			}
		}
		size := float32(limit) * 74 * float32(math.Sqrt(float64(dim)))
		in.cuts[j] = Cut{
			F: 2 / size, K: float32(r.NormFloat64()) / 4, A: float32(r.NormFloat64()), B: -float32(r.ExpFloat64()) / 4,
		}
	}
	return in
}

func TestSievesAgreeWithTheSpecification(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	forms := sieves()
	passed, all := 0, 0
	for n := 1; n < 80; n++ {
		dim := n
		if n > 40 {
			dim = []int{64, 100, 127, 128, 129, 300, 512, 768, 1537}[n%9]
		}
		words := 1 + n%4
		for _, limit := range []int{CoarseLimit, FineLimit} {
			spec := &Sieve{quads: (dim + 3) / 4, forms: forms[0]}
			in := newSieveInput(r, spec, dim, words, limit)
			var want [4][]uint64
			for j := range want {
				q := make([]byte, spec.QueryBytes())
				in.cuts[j].Offset = spec.Pack(in.v[j], false, q)
				want[j] = make([]uint64, words)
				spec.One(q, unsafe.Pointer(&in.codes[0]), in.a, in.b, &in.cuts[j], want[j])
				for _, w := range want[j] {
					for ; w != 0; w &= w - 1 {
						passed++
					}
				}
				all += words * SieveWord
			}
			for f := range forms {
				checkSieve(t, f, &Sieve{quads: spec.quads, forms: forms[f]}, in, want, limit == CoarseLimit)
			}
		}
	}
	if share := float64(passed) / float64(all); share < 0.2 || share > 0.8 {
		t.Errorf("%.2f of the rows pass: the test sees little", share)
	}
}

// checkSieve checks a form with one query at a time and with four at once against the wanted bits. The input
// has no bytes after the codes.
func checkSieve(t *testing.T, form int, s *Sieve, in *sieveInput, want [4][]uint64, coarse bool) {
	t.Helper()
	x := unsafe.Pointer(&in.codes[0])
	words := len(want[0])
	qs := make([]byte, 4*s.QueryBytes())
	for j := range want {
		q := qs[j*s.QueryBytes():][:s.QueryBytes()]
		if got := s.Pack(in.v[j], false, q); got != in.cuts[j].Offset {
			t.Fatalf("form %d: offset %d, want %d", form, got, in.cuts[j].Offset)
		}
		got := make([]uint64, words)
		s.One(q, x, in.a, in.b, &in.cuts[j], got)
		if !slices.Equal(got, want[j]) {
			t.Fatalf("form %d, %d elements, query %d: rows %x pass, the specification has %x", form, len(in.v[j]), j,
				got, want[j])
		}
	}
	for _, c := range []bool{false, coarse} {
		for j := range want {
			s.Pack(in.v[j], c, qs[j*s.QueryBytes():][:s.QueryBytes()])
		}
		got := make([]uint64, 4*words)
		s.Block(qs, c, x, in.a, in.b, &in.cuts, got)
		for j := range want {
			if !slices.Equal(got[j*words:(j+1)*words], want[j]) {
				t.Fatalf("form %d, %d elements, coarse %v, four at once, query %d: rows %x pass, the specification "+
					"has %x",
					form, len(in.v[j]), c, j, got[j*words:(j+1)*words], want[j])
			}
		}
	}
}
