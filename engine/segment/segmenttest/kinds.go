package segmenttest

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"kitescope/engine/goldentest"
	"kitescope/engine/object"
)

// Kind is a collection with an index of one kind and what a real Milvus answered over it (engine/segment/testdata/kinds/kinds.py). Primary
// keys of the rows that were inserted first are their numbers.
type Kind struct {
	Name, Index, Metric string
	Dim, Rows           int
	Collection          int64
	Queries             []string // each vector in hex
	Searches            []KindSearch
}

// KindSearch is all queries asked with the same parameters, in one request.
type KindSearch struct {
	K      int
	Expr   string
	Params map[string]float64 // as Milvus got them
	IDs    [][]int64
	Bits   [][]uint32 // of the distances
}

// Param is a parameter, 0 if it was not given.
func (s *KindSearch) Param(name string) int { return int(s.Params[name]) }

// ReadKinds reads the truth.json.gz of a folder.
func ReadKinds(t testing.TB, folder string) []Kind {
	t.Helper()
	var kinds []Kind
	goldentest.ReadJSON(t, filepath.Join(folder, "truth.json.gz"), &kinds)
	return kinds
}

// OtherKinds reports whether OpenKinds opens another folder than that of its caller.
func OtherKinds() bool { return os.Getenv("KITESCOPE_KINDS") != "" }

// OpenKinds opens the storage in a folder, or in that which KITESCOPE_KINDS names: kinds.py filled it, and beside truth.json.gz the storage is in data.
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

// Vectors are the queries, one after the other.
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
