package goldentest

import (
	"slices"
	"testing"

	"kitescope/engine/dist"
)

// NeedPeersBuild skips a test that compares bits with hnswlib and faiss as they are compiled or chosen for this CPU. They add up as the
// engine does on one with AVX-512; elsewhere distances differ by a few units in the last place, which the tests of engine/dist allow.
func NeedPeersBuild(t *testing.T) {
	t.Helper()
	if !slices.Contains(dist.Backends(), dist.AVX512) {
		t.Skip("without AVX-512 hnswlib and faiss add up in other orders")
	}
}
