//go:build peers

package hnsw_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/engine/goldentest"
)

// TestBuildPeers compares with hnswlib itself, byte for byte.
func TestBuildPeers(t *testing.T) {
	goldentest.NeedPeersBuild(t)
	var cases []string
	for _, metric := range []string{"l2", "ip", "cosine"} {
		for _, kind := range []string{"random", "ties", "twins"} {
			for _, dim := range []int{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 20, 24, 31, 33, 100, 128, 300, 768} {
				rows := min(2000, 200000/dim)
				cases = append(cases, buildCase{kind, metric, dim, rows, 16, 100, 100}.String())
			}
			cases = append(cases, buildCase{kind, metric, 16, 3000, 2, 10, 7}.String(),
				buildCase{kind, metric, 12, 1500, 48, 20, 1}.String(), buildCase{kind, metric, 32, 1, 16, 200, 100}.String(),
				buildCase{kind, metric, 32, 5, 5, 1, 100}.String(), buildCase{kind, metric, 6, 600, 300, 500, 1 << 31}.String())
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
			want, err := os.ReadFile(filepath.Join(dir, name+".hnsw"))
			if err != nil {
				t.Fatal(err)
			}
			sameBytes(t, fileBytes(parseBuildCase(t, name).build(t)), want)
		})
	}
}
