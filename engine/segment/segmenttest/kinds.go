package segmenttest

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"kitescope/engine/goldentest"
	"kitescope/engine/object"
)

// Kind is a collection with an index, and the answers of a real Milvus over it
// (engine/segment/testdata/kinds/kinds.py). The primary keys of the first inserted rows are their row numbers.
type Kind struct {
	Name, Index, Metric string
	Dim, Rows           int
	Collection          int64
	Queries             []string // each vector in hex
	Searches            []KindSearch
}

// KindSearch is one request with all queries and the same parameters.
type KindSearch struct {
	K      int
	Expr   string
	Params map[string]float64 // as Milvus received them
	IDs    [][]int64
	Bits   [][]uint32 // of the distances
}

// Param returns a parameter, or 0 if it is not set.
func (s *KindSearch) Param(name string) int { return int(s.Params[name]) }

// ReadKinds reads the truth.json.gz of a folder.
func ReadKinds(t testing.TB, folder string) []Kind {
	t.Helper()
	var kinds []Kind
	goldentest.ReadJSON(t, filepath.Join(folder, "truth.json.gz"), &kinds)
	return kinds
}

// OtherKinds reports whether OpenKinds opens the folder in KITESCOPE_KINDS instead of its caller's.
func OtherKinds() bool { return os.Getenv("KITESCOPE_KINDS") != "" }

// OpenKinds opens the storage in a folder, or in the folder in KITESCOPE_KINDS if that is set. In the latter, which
// kinds.py filled, the storage is in data, next to truth.json.gz.
func OpenKinds(t testing.TB, folder string) (name string, store object.Store) {
	t.Helper()
	var err error
	if OtherKinds() {
		folder = os.Getenv("KITESCOPE_KINDS")
		store, err = object.OpenFolder(filepath.Join(folder, "data"))
	} else {
		store, err = object.OpenTar(t.Context(), filepath.Join(folder, "storage.tar.zst"))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return folder, store
}

// Vectors returns the concatenated queries.
func (k *Kind) Vectors(t testing.TB) (all []byte) {
	t.Helper()
	for _, q := range k.Queries {
		b, err := hex.DecodeString(q)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	return all
}
