//go:build peers

package target

import (
	"encoding/json"
	"flag"
	"math"
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

// peerCase is what a library answered from a file that it wrote (testdata/peers.py).
type peerCase struct {
	File, Queries, Metric string
	EF, NProbe            int
	IDs                   [][]int64
	Bits                  [][]uint32 // of distances
}

// What is opened by its path, with no word on whose file it is, answers as its library did: the
// same ids in the same order, the same distance bits.
func TestPeersAnswers(t *testing.T) {
	goldentest.NeedPeersBuild(t)
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
	a, err := x.Search(t.Context(), queries.Vectors, index.Params{K: 10, SearchParams: engine.SearchParams{EF: c.EF, NProbe: c.NProbe}}, Options{}, 2)
	if err != nil {
		t.Fatalf("%s: %v", c.File, err)
	}
	for i, want := range c.IDs {
		got := a.Hits[i]
		if len(got) != len(want) {
			t.Errorf("%s, ef %d, nprobe %d, query %d: %d hits, want %d", c.File, c.EF, c.NProbe, i, len(got), len(want))
			continue
		}
		for j, h := range got {
			if h.ID != want[j] || math.Float32bits(h.Distance) != c.Bits[i][j] {
				t.Errorf("%s, ef %d, nprobe %d, query %d, hit %d: %d at %v, want %d at %v",
					c.File, c.EF, c.NProbe, i, j, h.ID, h.Distance, want[j], math.Float32frombits(c.Bits[i][j]))
				break
			}
			hits++
		}
	}
	return hits
}
