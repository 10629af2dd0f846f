package dist

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"
	"unsafe"
)

// kernelCase selects one kernel.
type kernelCase struct {
	metric  Metric
	element Element
	profile Profile
}

// kernelCases returns the kernels of all elements except float32. For these, cosine is the inner product and
// profiles do not differ.
func kernelCases() []kernelCase {
	var all []kernelCase
	for _, m := range []Metric{L2, InnerProduct} {
		for _, e := range []Element{Float16, BFloat16, Int8} {
			all = append(all, kernelCase{m, e, Faiss})
		}
	}
	return append(all, kernelCase{Hamming, Bit, Faiss}, kernelCase{Jaccard, Bit, Faiss})
}

// specialHalves holds bit patterns of both float16 and bfloat16: zeros, denormals, the largest and smallest
// numbers, infinities, quiet and signalling NaNs.
var specialHalves = []uint16{
	0, 0x8000, 1, 0x8001, 0x03ff, 0x0400, 0x007f, 0x0080, 0x807f, 0x7bff, 0xfbff, 0x7f7f, 0xff7f,
	0x7c00, 0xfc00, 0x7f80, 0xff80, 0x7e00, 0x7c01, 0x7fc0, 0x7f81, 0xfe00,
}

// fill fills b with elements, including extreme values if special is set.
func (g *lcg) fill(b []byte, e Element, special bool) {
	if e == Int8 || e == Bit {
		for i := range b {
			b[i] = byte(g.next())
			if special {
				b[i] = []byte{0, 0x80, 0x7f, 0xff}[g.next()%4]
			}
		}
		return
	}
	for i := 0; i+1 < len(b); i += 2 {
		h := g.half(e, special)
		if special && g.next()%64 == 0 {
			h = specialHalves[g.next()%uint32(len(specialHalves))]
		}
		binary.LittleEndian.PutUint16(b[i:], h)
	}
}

const testRows = 7

// kernelInput holds four queries and some rows, all at odd addresses.
type kernelInput struct {
	queries, rows   []byte
	qStride, stride int
}

func (g *lcg) input(e Element, size int, special bool) kernelInput {
	in := kernelInput{stride: size + 3}
	in.rows = make([]byte, testRows*in.stride+1)[1:]
	for r := range testRows {
		g.fill(in.rows[r*in.stride:][:size], e, special && r%3 != 0)
	}
	clear(in.rows[4*in.stride:][:size])
	query := make([]byte, size)
	for j := range 4 {
		g.fill(query, e, special && j == 2)
		if j == 3 {
			clear(query)
		}
		wide := newKernel(Generic, L2, e, Faiss, len(query)).widen(query)
		in.qStride = len(wide) + 5
		in.queries = append(in.queries, wide...)
		in.queries = append(in.queries, make([]byte, 5)...)
	}
	in.queries = append([]byte{0}, in.queries...)[1:]
	return in
}

// scans returns the distances from each query to each row.
func (in kernelInput) scans(k *Kernel) []float32 {
	out := make([]float32, 4*testRows)
	for j := range 4 {
		k.Scan(unsafe.Pointer(&in.queries[j*in.qStride]), unsafe.Pointer(&in.rows[0]), uintptr(in.stride),
			out[j*testRows:][:testRows])
	}
	return out
}

// gathers returns the same distances as scans, computed by id in reverse order.
func (in kernelInput) gathers(k *Kernel) []float32 {
	var ids []uint32
	for i := range testRows {
		ids = append(ids, uint32(testRows-1-i))
	}
	out := make([]float32, 4*testRows)
	for j := range 4 {
		part := out[j*testRows:][:testRows]
		k.Gather(unsafe.Pointer(&in.queries[j*in.qStride]), unsafe.Pointer(&in.rows[0]), uintptr(in.stride), ids, part)
		slices.Reverse(part)
	}
	return out
}

// block returns the same distances as scans, computed for four queries at once.
func (in kernelInput) block(k *Kernel) []float32 {
	out := make([]float32, 4*testRows)
	k.Block(unsafe.Pointer(&in.queries[0]), uintptr(in.qStride), unsafe.Pointer(&in.rows[0]), uintptr(in.stride), out,
		testRows)
	return out
}

func TestKernelsAgreeWithTheSpecification(t *testing.T) {
	for _, c := range kernelCases() {
		t.Run(fmt.Sprintf("%s/%s/%s", c.metric, c.element, c.profile), func(t *testing.T) {
			g := lcg(7)
			for _, n := range lengths() {
				dim := n
				if c.element == Bit {
					dim = 8 * n
				}
				for _, special := range []bool{false, true} {
					in := g.input(c.element, c.element.Bytes(dim), special)
					want := in.scans(newKernel(Generic, c.metric, c.element, c.profile, dim))
					for _, b := range native() {
						k := newKernel(b, c.metric, c.element, c.profile, dim)
						what := fmt.Sprintf("%s, %d elements, special %v", b, dim, special)
						compareForms(t, what+", scan", in.scans(k), want)
						compareForms(t, what+", gather", in.gathers(k), want)
						compareForms(t, what+", block", in.block(k), want)
					}
					if n < 40 {
						k := newKernel(Generic, c.metric, c.element, c.profile, dim)
						compareForms(t, "generic gather", in.gathers(k), want)
						compareForms(t, "generic block", in.block(k), want)
					}
				}
			}
		})
	}
}

func compareForms(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if !same(got[i], want[i]) {
			t.Fatalf("%s: query %d, row %d: %x, the specification has %x", what, i/testRows, i%testRows, got[i],
				want[i])
		}
	}
}

func TestWidenFloat16(t *testing.T) {
	for h := range 1 << 16 {
		sign, exp, frac := float64(1), h>>10&31, float64(h&0x3ff)
		if h>>15 != 0 {
			sign = -1
		}
		want := sign * math.Ldexp(1024+frac, exp-25)
		switch {
		case exp == 0:
			want = sign * math.Ldexp(frac, -24)
		case exp == 31 && frac == 0:
			want = sign * math.Inf(1)
		case exp == 31:
			want = math.NaN()
		}
		if got := WidenFloat16(uint16(h)); !same(got, float32(want)) || math.Signbit(float64(got)) != (h>>15 != 0) {
			t.Errorf("%#04x is %g, not %g", h, got, want)
		}
	}
}

func TestJaccardOfZeros(t *testing.T) {
	zero, one := make([]byte, 64), append(make([]byte, 63), 1)
	for _, b := range Backends() {
		k := newKernel(b, Jaccard, Bit, Faiss, 512)
		z, o := unsafe.Pointer(&zero[0]), unsafe.Pointer(&one[0])
		got := []float32{k.One(z, z), k.One(z, o), k.One(o, o)}
		if !slices.Equal(got, []float32{1, 1, 0}) {
			t.Errorf("back end %d: distances %v of two empty, an empty and a single, two equal sets; want 1, 1, 0", b,
				got)
		}
	}
}

func TestFusedAddRoundsOnce(t *testing.T) {
	g := lcg(3)
	at := func() float32 {
		return math.Float32frombits(g.next()<<8&0x80000000 | (100+g.next()%56)<<23 | g.next()>>1)
	}
	for range 20000 {
		a, b := at(), at()
		// The sum is much smaller than its terms.
		c := float32(-a*b) * (1 + 0x1p-20*float32(g.next()%8))
		if got, want := fusedAdd(a, b, c), fusedByBig(a, b, c); !same(got, want) {
			t.Fatalf("%x * %x + %x = %x, exactly rounded %x", a, b, c, got, want)
		}
	}
	// Here float64 has a false tie, so the second rounding goes wrong.
	a := float32(1 + 0x1p-12)
	for _, c := range []float32{0x1p-70, -0x1p-70} {
		got, want := fusedAdd(a, a, c), fusedByBig(a, a, c)
		if got != want || c > 0 && float32(float64(a)*float64(a)+float64(c)) == want {
			t.Errorf("%x * %x + %x = %x, want %x, unlike by float64", a, a, c, got, want)
		}
	}
}

// fusedByBig returns a*b+c computed with arbitrary precision.
func fusedByBig(a, b, c float32) float32 {
	p := new(big.Float).SetPrec(2000).Mul(big.NewFloat(float64(a)), big.NewFloat(float64(b)))
	p.SetPrec(2000).Add(p, big.NewFloat(float64(c)))
	f, _ := p.Float32()
	return f
}
