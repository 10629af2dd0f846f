package dist

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"unsafe"
)

// TestNearestAddsUpAsKnowhere compares with what knowhere's own function makes (testdata/nearest.py).
func TestNearestAddsUpAsKnowhere(t *testing.T) {
	f, err := os.Open("testdata/nearest.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := 0
	for in := bufio.NewScanner(f); in.Scan(); lines++ {
		fields := strings.Fields(in.Text())
		var dim int
		if _, err := fmt.Sscan(fields[0], &dim); err != nil {
			t.Fatal(err)
		}
		q, n := peerVector(dim, 0), NewNearest(dim)
		for row, want := range fields[1:] {
			x := peerVector(dim, row+1)
			got := n.Distance(unsafe.Pointer(&q[0]), unsafe.Pointer(&x[0]), row, len(fields)-1)
			if bits := fmt.Sprintf("%08x", math.Float32bits(got)); bits != want {
				t.Errorf("%d dimensions, row %d: %s, knowhere has %s", dim, row, bits, want)
			}
		}
	}
	if lines != 56 {
		t.Errorf("%d lines", lines)
	}
}
