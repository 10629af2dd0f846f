//go:build peers

package index

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/engine/dist"
	"kitescope/engine/hnsw"
)

var peers = flag.String("peers", "", "a Python with hnswlib, to compare with")

// TestPeersReadWrittenFiles checks that hnswlib answers from the written files as from its own.
func TestPeersReadWrittenFiles(t *testing.T) {
	folder := t.TempDir()
	python := func(step string) {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), *peers, "testdata/peers.py", step, folder).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", step, err, out)
		}
		t.Logf("%s: %s", step, out)
	}
	python("make")
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) != 4 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		hint := Hint{}
		if strings.HasPrefix(filepath.Base(path), "ip") {
			hint.Metric = dist.InnerProduct
		}
		f, err := OpenFile(t.Context(), path, hint)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var b bytes.Buffer
		if err := WriteHNSWLib(&b, As[hnsw.Index](f)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+".ours", b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	python("check")
}
