package dist

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"testing"
	"unsafe"
)

// TestSQ8MatchesKnowhere compares distances with the results of knowhere's codec for AVX-512 and AVX2
// (testdata/sq8_knowhere.cc), which adds in different lanes.
func TestSQ8MatchesKnowhere(t *testing.T) {
	f, err := os.Open("testdata/sq8_knowhere.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	state, compared := uint64(1), 0
	draw := func() uint64 {
		state += 0x9E3779B97F4A7C15
		x := state
		x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
		x = (x ^ x>>27) * 0x94D049BB133111EB
		return x ^ x>>31
	}
	floats := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(draw()>>40)/(1<<24) - 0.5
		}
		return x
	}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var dim int
		var want [4]uint32
		if _, err := fmt.Sscanf(lines.Text(), "%d %x %x %x %x", &dim, &want[0], &want[1], &want[2], &want[3]); err !=
			nil {
			t.Fatal(err)
		}
		low, span, q, code := floats(dim), floats(dim), floats(dim), make([]byte, dim)
		for i := range code {
			code[i] = byte(draw())
		}
		for i, bits := range want {
			if bits == 0 {
				continue
			}
			k, err := NewSQ8(Metric(i%2), low, span)
			if err != nil {
				t.Fatal(err)
			}
			query, got := k.NewQuery(), make([]float32, 1)
			copy(query.Floats(), q)
			query.Scan(unsafe.Pointer(&code[0]), 0, got)
			decoded, size := make([]float32, dim), 0.0
			k.decode(code, decoded)
			for j, x := range decoded {
				size += max(math.Abs(float64(q[j]*x)), float64((q[j]-x)*(q[j]-x)))
			}
			if knowhere := math.Float32frombits(bits); !almostEqual(got[0], knowhere, size) {
				t.Errorf("%s, %d dimensions: %x, knowhere has %x", Metric(i%2), dim, got[0], knowhere)
			}
			compared++
		}
	}
	if compared != 360 {
		t.Errorf("%d distances", compared)
	}
}
