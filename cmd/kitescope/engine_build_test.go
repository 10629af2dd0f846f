package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/cmd/kitescope/cli"
)

// TestEngineBuildAccumulation: the flag leads to the graph that the build of hnswlib saves, of vectors that are all near ties (those of
// engine/target/build_test.go).
func TestEngineBuildAccumulation(t *testing.T) {
	const dim = 33
	var file bytes.Buffer
	for row := range uint64(500) {
		_ = binary.Write(&file, binary.LittleEndian, int32(dim))
		for i := range uint64(dim) {
			n := (i + (dim<<32 | row<<10) + 1) * 0x9E3779B97F4A7C15
			n = (n ^ n>>30) * 0xBF58476D1CE4E5B9
			_ = binary.Write(&file, binary.LittleEndian, float32((n>>40)%5+1)*float32(0.1))
		}
	}
	vectors := filepath.Join(t.TempDir(), "tenths.fvecs")
	if err := os.WriteFile(vectors, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	golden, err := os.ReadFile("../../engine/target/testdata/hnswlib_graphs.txt")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for line := range strings.Lines(string(golden)) {
		f := strings.Fields(line)
		if f[1] != "cosine" || f[2] != "33" {
			continue
		}
		out := filepath.Join(t.TempDir(), "graph")
		kitescope(t, cli.ExitOK, "engine", "build", vectors, "--m", "8", "--ef-construction", "40", "--metric", f[1], "--accumulation", f[0], "-o", out)
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != f[3] {
			t.Errorf("%s: %x, hnswlib saves %s", f[0], sum, f[3])
		}
		compared++
	}
	if compared != 4 {
		t.Errorf("%d graphs compared", compared)
	}
}
