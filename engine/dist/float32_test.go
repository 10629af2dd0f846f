package dist

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// profiles returns all profiles.
func profiles() []Profile {
	var all []Profile
	for i := range profileNames() {
		all = append(all, Profile(i))
	}
	return all
}

// kind is a distribution of the values of test vectors.
type kind struct {
	name  string
	value func(r *rand.Rand) float32
}

func kinds() []kind {
	special := []float32{
		0, float32(math.Copysign(0, -1)), 1, -1, math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, 1e-40,
		-3e-39, 1e-30, -1e-25,
		1 + 1e-7, 16777216, 1e19, math.MaxFloat32, -math.MaxFloat32, float32(math.Inf(1)), float32(math.Inf(-1)),
		float32(math.NaN()),
	}
	return []kind{
		{"normal", func(r *rand.Rand) float32 { return float32(r.NormFloat64()) }},
		{"wide", func(r *rand.Rand) float32 { return float32(math.Ldexp(r.NormFloat64(), r.IntN(60)-30)) }},
		{"denormal", func(r *rand.Rand) float32 { return math.Float32frombits(r.Uint32() & 0x80ffffff) }},
		{"tiny", func(r *rand.Rand) float32 { return float32(math.Ldexp(r.NormFloat64(), -65-r.IntN(20))) }},
		{"special", func(r *rand.Rand) float32 { return special[r.IntN(len(special))] }},
		{"finite", func(r *rand.Rand) float32 { return special[r.IntN(13)] }},
	}
}

// lengths returns 0 to 257 and a few larger lengths. Under the race detector, which finds nothing more with
// longer vectors, it returns 0 to 40 and a few lengths that end in each part of a loop.
func lengths() []int {
	most, more := 257, []int{300, 511, 769, 1537}
	if underRace {
		most, more = 40, []int{63, 64, 71, 97, 128, 151, 255, 256, 257, 300}
	}
	var ns []int
	for n := range most + 1 {
		ns = append(ns, n)
	}
	return append(ns, more...)
}

// same reports whether two results have the same bits, or are both NaN.
func same(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

// variants calls f for every float32 kernel of every back end except the specification.
func variants(t *testing.T, f func(t *testing.T, got, want forms)) {
	t.Helper()
	if len(native()) == 0 {
		t.Log("the specification is all there is here")
	}
	for _, b := range native() {
		for _, m := range []Metric{L2, InnerProduct} {
			for o := range orders {
				got, ok := nativeForms(b, m, Float32, o)
				if !ok {
					t.Fatalf("%s has no kernel for %s in order %d", b, m, o)
				}
				t.Run(fmt.Sprintf("%s/%s/%d", b, m, o), func(t *testing.T) { f(t, got, genericForms(m, Float32, o)) })
			}
		}
	}
}

func TestFloat32KernelsAgreeWithTheSpecification(t *testing.T) {
	variants(t, func(t *testing.T, got, want forms) {
		t.Helper()
		t.Parallel()
		r := rand.New(rand.NewPCG(1, 2))
		for i, kind := range kinds() {
			for _, n := range lengths() {
				// The specification is slow, and very slow under the race detector: test long vectors with one
				// kind each.
				if n <= 48 || n%len(kinds()) == i {
					checkRows(t, kind.name, n, r, kind.value, got, want)
				}
			}
		}
	})
}

// checkRows compares all forms over a few rows at an odd stride and alignment.
func checkRows(t *testing.T, name string, n int, r *rand.Rand, value func(*rand.Rand) float32, got, want forms) {
	t.Helper()
	const rows = 9
	stride := n + 1 + n%3
	data := make([]float32, rows*stride+5)
	for i := range data {
		data[i] = value(r)
	}
	raw := unsafe.Slice((*byte)(unsafe.Pointer(&data[0])), 4*len(data))
	q, x := unsafe.Pointer(&data[1]), unsafe.Pointer(&raw[4+4*(n%4)])
	var a, b [4 * rows]float32
	equal := func(form string, count int) {
		t.Helper()
		for i := range count {
			if !same(a[i], b[i]) {
				t.Fatalf("%s of %d %s elements, %d at once, result %d: %x (%g), specified %x (%g)",
					form, n, name, count, i, math.Float32bits(a[i]), a[i], math.Float32bits(b[i]), b[i])
			}
		}
	}
	ids := []uint32{3, 1, 1, 8, 0, 7, 2, 4, 5}
	bytes := uintptr(4 * stride)
	native, specified := Kernel{n: n, forms: got}, Kernel{n: n, forms: want}
	for _, count := range []int{1 + n%3, 4 + n%5} {
		native.Scan(q, x, bytes, a[:count])
		specified.Scan(q, x, bytes, b[:count])
		equal("scan", count)
		native.Gather(q, x, bytes, ids[:count], a[:])
		specified.Gather(q, x, bytes, ids[:count], b[:])
		equal("gather", count)
	}
	count := 1 + n%rows
	a, b = [4 * rows]float32{}, [4 * rows]float32{}
	native.Block(x, bytes, q, bytes, a[:], count)
	specified.Block(x, bytes, q, bytes, b[:], count)
	equal("block", 4*rows)
}
