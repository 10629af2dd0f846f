// The race detector keeps books of its own beside all that is held, and what is loaded side by side is so in other tests, too.

//go:build !race

package meta

import (
	"runtime"
	"testing"

	"kitescope/inspect/model"
)

// TestClusterIsCompact bounds memory: 90 MB for a cluster of 200,000 segments with all
// logs and indexes, 40 MB for the 487,000 keys behind it; here a quarter of that.
func TestClusterIsCompact(t *testing.T) {
	m := manySegments(t, 50_000)
	load := func(records bool) func() any {
		return func() any {
			c, err := Load(t.Context(), m, Want{Parts: model.PartAll, Records: records})
			if err != nil || len(c.Segments) != 50_000 {
				t.Fatal(err)
			}
			return c
		}
	}
	heapOf(load(true)) // what packages allocate once
	plain := heapOf(load(false))
	kept := heapOf(load(true))
	t.Logf("cluster %.1f MB, keyspace %.1f MB", plain, kept-plain)
	if plain > 22.5 {
		t.Errorf("the cluster takes %.1f MB", plain)
	}
	if kept-plain > 10 {
		t.Errorf("the keyspace takes %.1f MB more", kept-plain)
	}
	runtime.KeepAlive(m) // or its own bytes would count as freed
}
