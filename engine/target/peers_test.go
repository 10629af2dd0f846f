//go:build peers

package target

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"kitescope/engine"
	"kitescope/engine/dataset"
	"kitescope/engine/dist"
	"kitescope/engine/goldentest"
	"kitescope/engine/index"
)

var peers = flag.String("peers", "", "a python with hnswlib and faiss, to compare with")

// peerCase holds a library's answers from a file that it wrote (testdata/peers.py).
type peerCase struct {
	File, Queries, Metric string
	EF, NProbe            int
	IDs                   [][]int64
	Bits                  [][]uint32 // of distances
}

// TestPeersAnswers checks that files opened by path only give the answers of the library that wrote them: the same
// ids, and the same distances up to rounding.
func TestPeersAnswers(t *testing.T) {
	folder := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), *peers, "testdata/peers.py", folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(filepath.Join(folder, "answers.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []peerCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 100 {
		t.Fatalf("%d cases", len(cases))
	}
	hits := 0
	for _, c := range cases {
		hits += samePeer(t, folder, &c)
	}
	t.Logf("%d searches, %d hits", len(cases), hits)
}

func samePeer(t *testing.T, folder string, c *peerCase) (hits int) {
	t.Helper()
	hint := Hint{}
	if c.Metric != "" {
		metric, err := dist.ParseMetric(c.Metric)
		if err != nil {
			t.Fatal(err)
		}
		hint.Metric = &metric
	}
	x, err := Open(t.Context(), filepath.Join(folder, c.File), hint)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	queries, err := dataset.Open(t.Context(), filepath.Join(folder, c.Queries))
	if err != nil {
		t.Fatal(err)
	}
	defer queries.Close()
	a, err := x.Search(t.Context(), queries.Vectors,
		index.Params{K: 10, SearchParams: engine.SearchParams{EF: c.EF, NProbe: c.NProbe}}, Options{}, 2)
	if err != nil {
		t.Fatalf("%s: %v", c.File, err)
	}
	for i, want := range c.IDs {
		hits += len(want)
		if want := goldentest.Hits(want, c.Bits[i]); !goldentest.AlmostEqual(a.Hits[i], want, goldentest.PeerSlack) {
			t.Errorf("%s, ef %d, nprobe %d, query %d: %v, want %v", c.File, c.EF, c.NProbe, i, a.Hits[i], want)
		}
	}
	return hits
}
