//go:build peers

package hnsw_test

import (
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kitescope/engine/hnsw"
)

// TestBuildPeers compares graphs with hnswlib's. All levels must be equal, vectors must be equal except for
// rounding, and nearly all lists of links must be equal. A few lists may differ because rounding can reverse near
// ties.
func TestBuildPeers(t *testing.T) {
	t.Parallel()
	var cases []string
	for _, metric := range []string{"l2", "ip", "cosine"} {
		for _, kind := range []string{"random", "ties", "twins"} {
			if kind == "ties" && metric == "cosine" { // rounding decides these
				continue
			}
			for _, dim := range []int{1, 3, 4, 8, 16, 17, 33, 128, 768} {
				rows := min(600, 60000/dim)
				cases = append(cases, buildCase{kind, metric, dim, rows, 16, 100, 100}.String())
			}
			cases = append(cases, buildCase{kind, metric, 16, 600, 2, 10, 7}.String(),
				buildCase{kind, metric, 12, 600, 48, 20, 1}.String(),
				buildCase{kind, metric, 32, 1, 16, 200, 100}.String(),
				buildCase{kind, metric, 32, 5, 5, 1, 100}.String(),
				buildCase{kind, metric, 6, 600, 300, 500, 1 << 31}.String())
		}
	}
	dir := t.TempDir()
	run := exec.CommandContext(t.Context(), *peers, filepath.Join("testdata", "build.py"), dir)
	run.Stdin = strings.NewReader(strings.Join(cases, "\n"))
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := parseBuildCase(t, name)
			got, want := c.build(t), readHNSWLib(t, filepath.Join(dir, name+".hnsw"), metrics[c.metric])
			if got.MaxLevel != want.MaxLevel || got.Entry != want.Entry || !slices.Equal(got.Levels, want.Levels) {
				t.Fatalf("levels differ: entry %d at %d, want %d at %d", got.Entry, got.MaxLevel, want.Entry,
					want.MaxLevel)
			}
			differ := 0
			for i := range c.rows {
				for j, x := range got.Vectors.Float32(i) {
					if math.Abs(float64(x-want.Vectors.Float32(i)[j])) > 1e-6 {
						t.Fatalf("row %d has %v, want %v", i, got.Vectors.Float32(i), want.Vectors.Float32(i))
					}
				}
				if !slices.Equal(links(got, i), links(want, i)) {
					differ++
				}
			}
			if differ*100 > c.rows {
				t.Errorf("links of %d of %d rows differ", differ, c.rows)
			}
		})
	}
}

// links returns the links of a row on level 0.
func links(x *hnsw.Index, row int) []uint32 {
	slots := x.Base[row*x.M0 : (row+1)*x.M0]
	return slots[:count(slots)]
}
