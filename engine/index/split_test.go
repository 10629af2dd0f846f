package index

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/engine/binlog"
	"kitescope/engine/binlog/binlogtest"
	"kitescope/engine/hnsw"
	"kitescope/engine/object"
)

// sliced returns a store with an index whose blob is cut into slices.
func sliced(t *testing.T, blob []byte, slice int, write func(part []byte) []byte) object.Store {
	t.Helper()
	dir := t.TempDir()
	put := func(name string, content []byte) {
		if err := os.MkdirAll(filepath.Join(dir, "index"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "index", name), write(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for at := 0; at < len(blob); at += slice {
		put(fmt.Sprintf("HNSW_%d", n), blob[at:min(at+slice, len(blob))])
		n++
	}
	put("SLICE_META", fmt.Appendf(nil, `{"meta":[{"name":"HNSW","slice_num":%d,"total_len":%d}]}%c`, n, len(blob), 0))
	store, err := object.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// TestSplitGraphsMatchWholeBlobs reads blobs whose records are split while they are decoded, cut at any size,
// and compares them with the same blobs in one piece.
func TestSplitGraphsMatchWholeBlobs(t *testing.T) {
	names, err := filepath.Glob("testdata/knowhere_*.bin")
	if err != nil || len(names) == 0 {
		t.Fatal("no fixtures", err)
	}
	placed := 0
	for _, name := range names {
		blob, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Parse(name, blob, Hint{})
		if err != nil || As[hnsw.Index](want) == nil {
			continue
		}
		for _, slice := range []int{len(blob), 4000, 1021, 300} {
			for kind, write := range map[string]func([]byte) []byte{"as it is": event, "parquet": parquetEvent(t)} {
				x, hint, err := ReadBlobs(t.Context(), sliced(t, blob, slice, write), "index", Hint{})
				if err != nil {
					t.Fatalf("%s, %s, slices of %d: %v", name, kind, slice, err)
				}
				got, err := FromBlobs(x, hint)
				if err != nil {
					t.Fatalf("%s, %s, slices of %d: %v", name, kind, slice, err)
				}
				if hint.split != nil {
					placed++
				}
				a, b := As[hnsw.Index](want), As[hnsw.Index](got)
				if d := cmp.Diff(a.Graph, b.Graph) + cmp.Diff(a.Norms, b.Norms); d != "" {
					t.Errorf("%s, %s, slices of %d: %s", name, kind, slice, d)
				}
				for i := range a.Vectors.Rows {
					if d := cmp.Diff(a.Vectors.Row(i), b.Vectors.Row(i)); d != "" {
						t.Errorf("%s, %s, slices of %d: row %d: %s", name, kind, slice, i, d)
						break
					}
				}
				got.Close()
			}
		}
	}
	if placed == 0 {
		t.Error("no graph was placed")
	}
}

// parquetEvent returns a function that writes an index file in the format of Milvus up to 2.3.
func parquetEvent(t *testing.T) func([]byte) []byte {
	t.Helper()
	return func(content []byte) []byte {
		var b strings.Builder
		if err := binlogtest.WriteIndexFile(&b, binlog.Descriptor{Collection: 1, Partition: 2, Segment: 3, Field: 101},
			4, content); err != nil {
			t.Fatal(err)
		}
		return []byte(b.String())
	}
}

// TestDamagedLinksOfSplitGraphs changes counts and links of a blob, and checks that the error is the same
// as for the whole blob.
func TestDamagedLinksOfSplitGraphs(t *testing.T) {
	whole := []byte(content(t, "knowhere_l2.bin"))
	for at := 0; at < len(whole); at += 31 {
		blob := append([]byte(nil), whole...)
		blob[at] ^= 0xa5
		_, want := Parse("index/HNSW", blob, Hint{segment: true})
		x, hint, err := ReadBlobs(t.Context(), sliced(t, blob, 1500, event), "index", Hint{})
		if err != nil {
			t.Fatal(err)
		}
		f, got := FromBlobs(x, hint)
		if (got == nil) != (want == nil) ||
			want != nil && !strings.Contains(got.Error(), want.Error()) &&
				!strings.Contains(got.Error(), "not supported") {
			t.Errorf("byte %d: %v, whole blobs say: %v", at, got, want)
		}
		if got == nil {
			f.Close()
		} else {
			x.Release()
		}
	}
}
