//go:build peers

package dist

import (
	"bytes"
	"flag"
	"math"
	"os/exec"
	"testing"
	"unsafe"
)

var (
	peers    = flag.String("peers", "", "Python with hnswlib and faiss, to run testdata/float32_peers.py anew")
	knowhere = flag.String("knowhere", "", "libknowhere.so for -peers, to compare with that as well")
)

// TestFloat32MatchesLocalPeers recomputes the golden file, without the lines of knowhere unless -knowhere is
// set. The libraries add in an order that depends on how they were compiled and on the CPU, so the distances
// may differ by a few units in the last place.
func TestFloat32MatchesLocalPeers(t *testing.T) {
	args := []string{"testdata/float32_peers.py"}
	if *knowhere != "" {
		args = append(args, *knowhere)
	}
	var problem bytes.Buffer
	cmd := exec.Command(*peers, args...)
	cmd.Stderr = &problem
	golden, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &problem)
	}
	lines, exact := 0, 0
	eachPeer(t, golden, func(profile, metric string, dim int, want []float32) {
		lines++
		got := peerValues(t, Generic, profile, metric, dim)
		equal := true
		for i := range want {
			equal = equal && same(got[i], want[i])
			size := math.Abs(float64(want[i]))
			if metric == "ip" {
				size = 1 + math.Sqrt(peerSquare(dim, 0)*peerSquare(dim, 1+i))
			}
			if !almostEqual(got[i], want[i], size) {
				t.Errorf("%s %s of %d dimensions: %x, the peer has %x", profile, metric, dim, got[i], want[i])
			}
		}
		if equal {
			exact++
		}
	})
	t.Logf("%d of %d lines are equal to the bit", exact, lines)
	if lines < 1566+32 {
		t.Errorf("%d lines compared", lines)
	}
}

// peerSquare returns the sum of squares of a vector.
func peerSquare(dim, row int) float64 {
	x := peerVector(dim, row)
	return float64(newKernel(Generic, L2, Float32, Faiss, dim).SquaredNorm(unsafe.Pointer(&x[0])))
}
