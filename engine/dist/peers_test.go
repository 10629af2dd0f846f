package dist

import (
	"bufio"
	"bytes"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"
)

// peerVector returns the vector that value() of testdata/float32_peers.py generates.
func peerVector(dim, row int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		n := uint64(i) + uint64(dim)<<32 + uint64(row)<<24 + 1
		n *= 0x9E3779B97F4A7C15
		n = (n ^ n>>30) * 0xBF58476D1CE4E5B9
		n = (n ^ n>>27) * 0x94D049BB133111EB
		n ^= n >> 31
		v[i] = float32(math.Ldexp(float64(n>>40)-0x1p23, int(n&7)-23))
	}
	return v
}

func TestFloat32AgreesWithPeers(t *testing.T) {
	golden, err := os.ReadFile("testdata/float32_peers.txt")
	if err != nil {
		t.Fatal(err)
	}
	checkPeers(t, golden, 2381)
}

// checkPeers compares the bits of the golden file with the results of all back ends. The file must have the
// given number of lines.
func checkPeers(t *testing.T, golden []byte, lines int) {
	t.Helper()
	wrong, read := map[string]int{}, 0
	eachPeer(t, golden, func(profile, metric string, dim int, want []float32) {
		read++
		for _, b := range Backends() {
			if got := peerValues(t, b, profile, metric, dim); !slices.EqualFunc(got, want, same) {
				name := profile + " " + metric + " " + b.String()
				if wrong[name]++; wrong[name] == 1 {
					t.Errorf("%s %s of %d dimensions on %s: %v, the peer has %v", profile, metric, dim, b, got, want)
				}
			}
		}
	})
	if read != lines {
		t.Errorf("%d lines compared, want %d", read, lines)
	}
	for name, n := range wrong {
		t.Errorf("%s: %d dimensions differ", name, n)
	}
}

// eachPeer calls f for each line of the golden file.
func eachPeer(t *testing.T, golden []byte, f func(profile, metric string, dim int, want []float32)) {
	t.Helper()
	for in := bufio.NewScanner(bytes.NewReader(golden)); in.Scan(); {
		fields := strings.Fields(in.Text())
		dim, err := strconv.Atoi(fields[2])
		if err != nil {
			t.Fatal(err)
		}
		var want []float32
		for _, hex := range fields[3:] {
			bits, err := strconv.ParseUint(hex, 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, math.Float32frombits(uint32(bits)))
		}
		f(fields[0], fields[1], dim, want)
	}
}

// hnswNormalised returns the first element of x after normalize_vector in python_bindings/bindings.cpp of
// hnswlib.
func hnswNormalised(k *Kernel, x []float32) float32 {
	root := float32(math.Sqrt(float64(k.SquaredNorm(unsafe.Pointer(&x[0])))))
	return x[0] * (1 / (root + 1e-30))
}

// peerValues computes the values of a line of the golden file.
func peerValues(t *testing.T, b Backend, profile, metric string, dim int) []float32 {
	t.Helper()
	p := Profile(slices.Index(profileNames(), profile))
	m := L2
	if metric != "l2" {
		m = InnerProduct
	}
	k, err := NewOn(b, m, Float32, p, dim)
	if err != nil {
		t.Fatal(err)
	}
	q := peerVector(dim, 0)
	switch {
	case metric == "norms":
		var firsts []float32
		for i := range 128 {
			firsts = append(firsts, hnswNormalised(k, peerVector(dim, i)))
		}
		return firsts
	case metric == "norm" && p == HNSWLib:
		return []float32{hnswNormalised(k, q)}
	case metric == "norm", metric == "square":
		return []float32{k.SquaredNorm(unsafe.Pointer(&q[0]))}
	}
	var rows []float32
	for i := range 4 {
		rows = append(rows, peerVector(dim, 1+i)...)
	}
	out := make([]float32, 4)
	k.Scan(unsafe.Pointer(&q[0]), unsafe.Pointer(&rows[0]), uintptr(4*dim), out)
	if p == HNSWLib && metric == "ip" {
		for i := range out {
			out[i] = 1 - out[i]
		}
	}
	return out
}
