package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/engine/binlog"
	"kitescope/engine/dist"
	"kitescope/engine/hnsw"
	"kitescope/engine/ivf"
	"kitescope/engine/object"
)

// TestMilvusIndexFiles compares the index files of the captured servers with Milvus's
// metadata of the same collections: hnsw_l2_parts (6 segments, 9000 rows in total, M 8, efConstruction 100),
// hnsw_sim (3000 rows, M 16, efConstruction 200), ivf_cold (3000 rows, nlist 32), binvec.
func TestMilvusIndexFiles(t *testing.T) {
	const storage = "../../testdata/storage"
	for version, want := range map[string][]string{
		"2.1.0": {
			"FLAT JACCARD 64 x 1500, knowhere (faiss)",
			"HNSW IP 16 x 3000, knowhere (hnswlib), M 16, efConstruction 200",
			"HNSW L2 16, knowhere (hnswlib), M 8, efConstruction 100: 9000 in 6",
			"IVF_FLAT L2 16 x 3000, knowhere (faiss), 32 lists",
		},
		"2.2.16": {
			"HNSW IP 16 x 3000, knowhere (hnswlib), M 16, efConstruction 200",
			"HNSW L2 16, knowhere (hnswlib), M 8, efConstruction 100: 9000 in 6",
			"IVF_FLAT L2 16 x 3000, knowhere (faiss), 32 lists",
		},
		"2.3.5": {
			"HNSW COSINE 16 x 3000, knowhere (hnswlib), M 16, efConstruction 200, norms",
			"HNSW L2 16, knowhere (hnswlib), M 8, efConstruction 100: 9000 in 6",
			"IVF_FLAT L2 16 x 3000, knowhere (faiss), 32 lists",
		},
	} {
		var found []string
		parts, rows := 0, 0
		err := filepath.WalkDir(filepath.Join(storage, version), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.Contains(path, "index_files") || d.Name() == "RAW_DATA" ||
				d.Name() == "indexParams" {
				return err
			}
			f, err := OpenFile(t.Context(), path, Hint{})
			if err != nil {
				return err
			}
			defer f.Close()
			if n := nanRows(f); n > 0 {
				t.Errorf("%s: %d rows with NaN", path, n)
			}
			if f.Kind() == HNSW && f.Metric == dist.L2 {
				parts, rows = parts+1, rows+f.Rows
				if parts == 6 {
					found = append(found,
						fmt.Sprintf("HNSW L2 %d, %v, M %d, efConstruction %d: %d in 6", f.Dim, f.Format,
							As[hnsw.Index](f).M, As[hnsw.Index](f).EFConstruction, rows))
				}
				return nil
			}
			found = append(found, describe(f))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(found)
		if d := cmp.Diff(want, found); d != "" {
			t.Errorf("%s: %s", version, d)
		}
	}
}

func describe(f *File) string {
	s := fmt.Sprintf("%v %s %d x %d, %v", f.Kind(), metricName(f.Metric), f.Dim, f.Rows, f.Format)
	switch {
	case As[hnsw.Index](f) != nil:
		s += fmt.Sprintf(", M %d, efConstruction %d", As[hnsw.Index](f).M, As[hnsw.Index](f).EFConstruction)
		if len(As[hnsw.Index](f).Norms) == f.Rows {
			s += ", norms"
		}
	case As[ivf.Index](f) != nil:
		s += fmt.Sprintf(", %d lists", len(As[ivf.Index](f).Lists))
	}
	return s
}

// blobs returns the blobs of an index, with the contents of files of testdata.
func blobs(t *testing.T, files map[string]string) *binlog.Index {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "index")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), event([]byte(content)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	store, err := object.OpenFolder(filepath.Dir(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	x, err := binlog.ReadIndex(t.Context(), store, "index")
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// event returns an index file of Milvus 2.4 and later. Its payload is the unencoded content (descriptor type None).
func event(content []byte) []byte {
	le := binary.LittleEndian
	extras := fmt.Appendf(nil, `{"indexBuildID":"1","original_size":"%d"}`, len(content))
	head := func(kind byte, n int) []byte {
		b := make([]byte, 8, 17)
		b = append(b, kind)
		b = le.AppendUint32(b, uint32(17+n))
		return le.AppendUint32(b, 0)
	}
	body := make([]byte, 52) // ids, timestamps, data type 0
	body = append(body, 34, 10, 10, 10, 10, 10, 10, 10)
	body = append(le.AppendUint32(body, uint32(len(extras))), extras...)
	b := le.AppendUint32(nil, milvusMagic)
	b = append(append(b, head(0, len(body))...), body...)
	b = append(append(b, head(7, 16+len(content))...), make([]byte, 16)...)
	return append(b, content...)
}

func content(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestBlobsOfMilvusAreNamedOrRead(t *testing.T) {
	graph := content(t, "knowhere_l2.bin")
	for _, c := range []struct {
		files map[string]string
		want  string // the index, or the end of an error
	}{
		{map[string]string{"HNSW": graph}, "HNSW L2 4 x 90, knowhere (hnswlib), M 4, efConstruction 40"},
		{
			map[string]string{"HNSW": content(t, "knowhere_faiss_hnsw.bin")},
			"HNSW L2 7 x 100, knowhere (faiss), M 4, efConstruction 40",
		},
		{
			map[string]string{
				"IVF": content(t, "knowhere_ivf_ids.bin"), "RAW_DATA": content(t, "knowhere_ivf_ids.bin.raw"),
			},
			"IVF_FLAT L2 6 x 100, knowhere (faiss), 8 lists",
		},
		{map[string]string{"IVF": content(t, "knowhere_ivf_ids.bin")}, "in the blob RAW_DATA next to this one"},
		{
			map[string]string{"HNSW_SQ": "IHNa" + graph},
			"HNSW_SQ is not supported; kitescope replay compares the vectors of its insert logs row by row",
		},
		{
			map[string]string{"HNSW_PQ": "IHNp" + graph},
			"HNSW_PQ is not supported; kitescope replay compares the vectors of its insert logs row by row",
		},
		{
			map[string]string{"HNSW_PRQ": "IHN5" + graph},
			"HNSW_PRQ is not supported; kitescope replay compares the vectors of its insert logs row by row",
		},
		{
			map[string]string{"IVF_RABITQ": "IxPT" + graph},
			"IVF_RABITQ, or another index of mapped vectors, is not supported; kitescope replay compares the vectors " +
				"of its insert logs row by row",
		},
		{
			map[string]string{"HNSW_SQ": "IxRF" + graph},
			"with refinement is not supported; kitescope replay compares the vectors of its insert logs row by row",
		},
		{
			map[string]string{"SCANN": "IxSC" + graph},
			"SCANN is not supported; kitescope replay compares the vectors of its insert logs row by row",
		},
		{
			map[string]string{"SCANN": content(t, "refused_scann.bin")},
			"index type IVFPQFastScan is not supported; kitescope replay compares the vectors of its insert logs row " +
				"by row",
		},
		{
			map[string]string{"HNSW": "IHMV" + graph},
			"HNSW by partition key (several graphs) is not supported; kitescope replay compares the vectors of its " +
				"insert logs row by row",
		},
		{
			map[string]string{"SPARSE_INVERTED_INDEX": "\x01\x02\x03\x04"},
			"expected 8 bytes of a count of rows, found 4 bytes to the end of the file",
		},
		{
			map[string]string{"GPU_CAGRA": "\x01\x02\x03\x04"},
			"index type GPU_CAGRA is not supported; kitescope replay compares the vectors of its insert logs row " +
				"by row",
		},
		{
			map[string]string{"_disk.index": "x", "_mem.index.bin": "y"},
			"index type DISKANN is not supported; kitescope replay compares the vectors of its insert logs row by row",
		},
		{
			map[string]string{"HNSW": "damaged"},
			"an index of hnswlib, faiss or Milvus, found 7 bytes of another format (or a damaged header)",
		},
		{map[string]string{"HNSW": graph[:1000]}, "by max_elements and 52 bytes each to the end of the file, found 90"},
	} {
		x := blobs(t, c.files)
		f, err := FromBlobs(x, Hint{})
		switch {
		case err != nil && !strings.HasSuffix(err.Error(), c.want):
			t.Errorf("error %v, want ... %q", err, c.want)
		case err == nil && describe(f) != c.want:
			t.Errorf("got %q, want %q", describe(f), c.want)
		}
		if err == nil {
			f.Close()
		}
	}
}

// TestOpenFileFindsTheOtherFilesOfAnIndex checks that OpenFile finds all files of an index, given any of its
// files, whatever other files are in the folder.
func TestOpenFileFindsTheOtherFilesOfAnIndex(t *testing.T) {
	dir := t.TempDir()
	graph := content(t, "knowhere_l2.bin")
	for name, data := range map[string][]byte{
		"HNSW_0": event([]byte(graph[:2000])), "HNSW_1": event([]byte(graph[2000:])),
		"SLICE_META": event(
			fmt.Appendf(nil, `{"meta":[{"name":"HNSW","slice_num":2,"total_len":%d}]}%c`, len(graph), 0),
		),
		"notes.txt": []byte("nothing of Milvus's"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"HNSW_0", "HNSW_1", "SLICE_META"} {
		f, err := OpenFile(t.Context(), filepath.Join(dir, name), Hint{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if f.Rows != 90 || As[hnsw.Index](f) == nil {
			t.Errorf("%s: %s", name, describe(f))
		}
	}
	if _, err := Parse("x", event([]byte(graph)), Hint{}); !errors.Is(err, ErrEnvelope) {
		t.Errorf("error %v, want that it is an envelope", err)
	}
}

// TestKnowhereVectorsOfTwoBytesNeedAHint checks that a float16 graph needs a hint, because the file records only
// that its vectors have two bytes per dimension.
func TestKnowhereVectorsOfTwoBytesNeedAHint(t *testing.T) {
	b := []byte(content(t, "knowhere_l2.bin"))
	binary.LittleEndian.PutUint64(b[16:], 8) // 8 dimensions in the 16 bytes of 4
	if _, err := Parse("x", b, Hint{}); err == nil || !strings.Contains(err.Error(), "float16 or bfloat16") {
		t.Errorf("error %v", err)
	}
	f, err := Parse("x", b, Hint{Element: dist.Float16})
	if err != nil {
		t.Fatal(err)
	}
	if v := As[hnsw.Index](f).Vectors; v.Element != dist.Float16 || v.Dim != 8 || v.Rows != 90 ||
		!bytes.Equal(v.Row(0), b[120+36:120+52]) {
		t.Errorf("%d x %d of element %d, the first %x", v.Rows, v.Dim, v.Element, v.Row(0))
	}
}
