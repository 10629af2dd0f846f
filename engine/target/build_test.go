package target

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// tenths are the rows of the graphs in testdata/hnswlib_graphs.txt (tenths of engine/dist/testdata/hnswlib_builds.cc): many distances between them
// differ in the last bits alone, so that builds of hnswlib whose bits differ make other graphs of them.
func tenths(t *testing.T, dim int) *engine.Vectors {
	t.Helper()
	var values []float32
	for row := range uint64(500) {
		for i := range dim {
			n := (uint64(i) + (uint64(dim)<<32 | row<<10) + 1) * 0x9E3779B97F4A7C15
			n = (n ^ n>>30) * 0xBF58476D1CE4E5B9
			values = append(values, float32((n>>40)%5+1)*float32(0.1))
		}
	}
	v, err := engine.FromFloat32s(dim, values)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// graphsOfBuilds are the bytes of graphs, hashed, as lines of testdata/hnswlib_graphs.txt: profile, metric, dimension, SHA-256.
func graphsOfBuilds(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, p := range []dist.Profile{dist.HNSWLibIntelAVX512, dist.HNSWLibIntelAVX2, dist.HNSWLibAMDAVX2, dist.HNSWLibSSE} {
		for _, dim := range []int{7, 20, 33, 100} {
			for _, m := range []engine.Metric{dist.L2, dist.InnerProduct, dist.Cosine} {
				built, err := Build(t.Context(), tenths(t, dim), BuildPlan{Library: engine.HNSWLib, Metric: m, M: 8, EFConstruction: 40, Profile: &p})
				if err != nil {
					t.Fatal(err)
				}
				hash := sha256.New()
				if err := built.Write(hash); err != nil {
					t.Fatal(err)
				}
				fmt.Fprintln(&b, p, strings.ToLower(m.String()), dim, hex.EncodeToString(hash.Sum(nil)))
			}
		}
	}
	return b.String()
}

// TestGraphsOfBuilds: a graph has the bytes that the build of hnswlib saves whose order of adding was asked for. The file is what TestPeerGraphs makes.
func TestGraphsOfBuilds(t *testing.T) {
	golden, err := os.ReadFile("testdata/hnswlib_graphs.txt")
	if err != nil {
		t.Fatal(err)
	}
	got, read := bufio.NewScanner(strings.NewReader(graphsOfBuilds(t))), 0
	for want := bufio.NewScanner(bytes.NewReader(golden)); want.Scan(); read++ {
		if !got.Scan() || got.Text() != want.Text() {
			t.Errorf("%s, hnswlib saves %s", got.Text(), want.Text())
		}
	}
	if read != 4*4*3 {
		t.Errorf("%d graphs compared", read)
	}
}

// TestBuildPlans: what does not go together is refused with a reason.
func TestBuildPlans(t *testing.T) {
	v := tenths(t, 7)
	sse, knowhere := dist.HNSWLibSSE, dist.KnowhereAVX512
	for _, c := range []struct {
		plan BuildPlan
		want string
	}{
		{BuildPlan{Library: engine.HNSWLib, M: 8, EFConstruction: 40, Profile: &knowhere}, "knowhere-avx512 is not a summation order of hnswlib: hnswlib, hnswlib-intel-avx512"},
		{BuildPlan{Library: engine.Faiss, M: 8, EFConstruction: 40, Profile: &sse}, "hnswlib-sse is not a summation order of faiss: faiss"},
		{BuildPlan{Library: engine.Faiss, Flat: true, Profile: &sse}, "FLAT is built without computing distances"},
	} {
		c.plan.Metric = dist.L2
		if _, err := Build(t.Context(), v, c.plan); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.plan, err, c.want)
		}
	}
}
