package target

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/engine"
	"kitescope/engine/dataset"
	"kitescope/engine/dist"
	"kitescope/engine/hnsw"
	"kitescope/engine/index"
)

const (
	indexFiles = "../index/testdata/"
	milvus     = "../../testdata/storage/2.3.5/index_files/"
	milvusIVF  = milvus + "470590760626297896/1/470590760626297871/470590760626297878"
	milvusHNSW = milvus + "470590760626297819/1/470590760626297791/470590760626297798"
)

// random returns normally distributed rows.
func random(t *testing.T, rows, dim int) *engine.Vectors {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, uint64(dim)))
	values := make([]float32, rows*dim)
	for i := range values {
		values[i] = float32(rng.NormFloat64())
	}
	v, err := engine.FromFloat32s(dim, values)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// written returns the path of an .npy file with the vectors.
func written(t *testing.T, v *engine.Vectors) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "vectors.npy")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(dataset.WriteNPY(f, v), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// built returns an HNSW index of the vectors, opened from its written file.
func built(t *testing.T, v *engine.Vectors, m engine.Metric) *Target {
	t.Helper()
	graph, err := hnsw.Build(t.Context(), v, hnsw.BuildOptions{M: 8, EFConstruction: 40, Metric: m})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "index")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(index.WriteHNSWLib(f, graph), f.Close()); err != nil {
		t.Fatal(err)
	}
	return openedAs(t, path, m)
}

// openedAs opens a target with the given metric.
func openedAs(t *testing.T, path string, m engine.Metric) *Target {
	t.Helper()
	x, err := Open(t.Context(), path, Hint{Metric: &m})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.Close)
	return x
}

func TestOpen(t *testing.T) {
	vectors := written(t, random(t, 20, 4))
	strange := filepath.Join(t.TempDir(), "a#b")
	data, err := os.ReadFile(indexFiles + "hnswlib_l2.bin")
	if err == nil {
		err = os.WriteFile(strange, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]struct {
		kind    string
		format  index.Format
		library engine.Library
		notes   int
	}{
		indexFiles + "hnswlib_l2.bin":                 {index.HNSW, index.HNSWLib, engine.HNSWLib, 1},
		strange:                                       {index.HNSW, index.HNSWLib, engine.HNSWLib, 1},
		indexFiles + "faiss_hnsw_ip.bin":              {index.HNSW, index.Faiss, engine.Faiss, 0},
		indexFiles + "faiss_flat_l2.bin":              {index.FLAT, index.Faiss, engine.Faiss, 0},
		indexFiles + "faiss_idmap_ivf.bin":            {index.IVFFlat, index.Faiss, engine.Faiss, 0},
		indexFiles + "knowhere_l2.bin":                {index.HNSW, index.KnowhereHNSW, engine.Knowhere22, 0},
		indexFiles + "knowhere_faiss_hnsw.bin":        {index.HNSW, index.KnowhereFaiss, engine.Knowhere25, 0},
		indexFiles + "knowhere_faiss_ivf.bin":         {index.IVFFlat, index.KnowhereFaiss, engine.Knowhere22, 0},
		indexFiles + "knowhere_faiss_flat_cosine.bin": {index.FLAT, index.KnowhereFaiss, engine.Knowhere22, 0},
		milvusIVF:               {index.IVFFlat, index.KnowhereFaiss, engine.Knowhere22, 0},
		milvusIVF + "/IVF_FLAT": {index.IVFFlat, index.KnowhereFaiss, engine.Knowhere22, 0},
		milvusHNSW:              {index.HNSW, index.KnowhereHNSW, engine.Knowhere22, 0},
		milvusHNSW + "/HNSW":    {index.HNSW, index.KnowhereHNSW, engine.Knowhere22, 0},
		vectors:                 {index.FLAT, 0, engine.Faiss, 0},
		"../../cmd/kitescope/testdata/engine/base.npy": {index.FLAT, 0, engine.Faiss, 0},
	} {
		x, err := Open(t.Context(), path, Hint{})
		if err != nil {
			t.Error(err)
			continue
		}
		if x.File.Kind() != want.kind || x.File.Format != want.format || x.library(engine.Native) != want.library ||
			len(x.Notes) != want.notes {
			t.Errorf("%s: %s, %s, answers as %s, notes %q", path, x.File.Kind(), x.File.Format,
				x.library(engine.Native), x.Notes)
		}
		if x.File.Name != path || x.File.Rows == 0 {
			t.Errorf("%s: called %s, %d rows of %d", path, x.File.Name, x.File.Rows, x.File.Dim)
		}
		for v := range x.File.Vectors() {
			if v.Dim != x.File.Dim {
				t.Errorf("%s: vectors of %d dimensions in an index of %d", path, v.Dim, x.File.Dim)
			}
		}
		x.Close()
	}
}

func TestOpenRefuses(t *testing.T) {
	empty, mixed := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(mixed, "notes"), []byte("no index"), 0o600); err != nil {
		t.Fatal(err)
	}
	ip := dist.InnerProduct
	for path, want := range map[string]string{
		"nothing":                        "open nothing: no such file",
		"nothing.npy":                    "open nothing.npy: no such file",
		"nothing.parquet#v":              "open nothing.parquet#v: no such file",
		empty:                            "it is empty; expected the folder of one index",
		mixed:                            "open " + mixed + ": read ",
		"../../testdata/storage":         "it contains folders, such as 2.1.0; expected the folder of one index",
		indexFiles + "make.py":           "expected an index of hnswlib, faiss or Milvus",
		indexFiles + "refused_nsg.bin":   "index type faiss INSf is not supported; build an index",
		indexFiles + "faiss_flat_l2.bin": "its metric is L2, not IP",
		milvusIVF:                        "its metric is L2, not IP",
		"../../cmd/kitescope/testdata/engine/truth.ivecs": "it has ids, which are whole numbers: expected vectors",
	} {
		x, err := Open(t.Context(), path, Hint{Metric: &ip})
		if err == nil {
			x.Close()
			t.Errorf("%s was opened", path)
		} else if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(done, milvusHNSW, Hint{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context: %v", err)
	}
}

func TestDescribe(t *testing.T) {
	cosine := dist.Cosine
	for name, want := range map[string]struct {
		path  string
		hint  Hint
		facts map[string]string
	}{
		"assumed": {
			indexFiles + "hnswlib_l2.bin",
			Hint{},
			map[string]string{"metric": "L2 (assumed: not in the file)", "format": "hnswlib", "ids": "row numbers"},
		},
		"given": {
			indexFiles + "hnswlib_cosine.bin",
			Hint{Metric: &cosine},
			map[string]string{"metric": "COSINE (as given: not in the file)"},
		},
		"labels": {indexFiles + "hnswlib_ip_labels.bin", Hint{}, map[string]string{"ids": "stored labels"}},
		"codes": {
			indexFiles + "faiss_idmap2_hnsw.bin",
			Hint{},
			map[string]string{"format": "faiss, IxM2 > IHNf > IxF2", "ids": "stored labels", "efSearch": "16"},
		},
		"lists": {
			milvusIVF, Hint{}, map[string]string{"type": "IVF_FLAT", "nlist": "32", "empty lists": "0", "rows": "3000"},
		},
		"Milvus": {
			milvusHNSW,
			Hint{},
			map[string]string{"type": "HNSW", "M": "16", "efConstruction": "200", "dimension": "16"},
		},
		"vectors": {
			"../../cmd/kitescope/testdata/engine/base.npy",
			Hint{},
			map[string]string{"format": "npy", "rows": "400", "type": "FLAT"},
		},
		"empty": {indexFiles + "hnswlib_empty.bin", Hint{}, map[string]string{"rows": "0"}},
	} {
		t.Run(name, func(t *testing.T) {
			x, err := Open(t.Context(), want.path, want.hint)
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			d, err := Describe(t.Context(), x)
			if err != nil {
				t.Fatal(err)
			}
			facts := map[string]string{}
			for _, f := range d.Facts {
				facts[f.Name] = f.Text
			}
			for key, text := range want.facts {
				if facts[key] != text {
					t.Errorf("%s is %q, want %q", key, facts[key], text)
				}
			}
			nodes := 0
			for _, l := range d.Levels {
				nodes = max(nodes, l.Nodes)
			}
			if index.As[hnsw.Index](x.File) != nil && nodes != x.File.Rows {
				t.Errorf("%d nodes on the lowest level of %d", nodes, x.File.Rows)
			}
		})
	}
}
