//go:build peers

package index

import (
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/engine/dist"
	"kitescope/engine/hnsw"
)

var peers = flag.String("peers", "", "a python with hnswlib and faiss, to compare with")

// The libraries themselves read what was written and answer as from their own files.
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
	if err != nil || len(files) < 20 {
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
		hnswlib := func(w io.Writer) error { return WriteHNSWLib(w, As[hnsw.Index](f)) }
		faiss := func(w io.Writer) error { return WriteFaiss(w, f) }
		if f.Format == Faiss {
			write(t, path+".ours", faiss)
			if As[hnsw.Index](f) != nil {
				write(t, path+".other", hnswlib)
			}
			continue
		}
		write(t, path+".ours", hnswlib)
		if As[hnsw.Index](f).Deleted == nil {
			write(t, path+".other", faiss)
		}
	}
	python("check")
}

func write(t *testing.T, path string, index func(io.Writer) error) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := index(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
