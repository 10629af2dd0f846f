package replay

import (
	"testing"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// TestFromVectors checks that a file of vectors is a collection with one completely loaded segment.
func TestFromVectors(t *testing.T) {
	v, err := engine.NewVectors(dist.Float32, 4, 3)
	if err != nil {
		t.Fatal(err)
	}
	l := FromVectors("base.npy", "docs", v, []int64{7, 8, 9}, dist.L2)
	if c := l.Coverage; c.Segments != 1 || c.Loaded != 1 || c.Rows != 3 || c.Covered != 3 || c.Memory == 0 ||
		len(c.Missing) != 0 {
		t.Errorf("coverage %+v", c)
	}
	if s := l.Layout.Segments[0]; s.State != Unindexed || s.Rows != 3 || l.Layout.Collection.Dim != 4 ||
		l.Parts[0].Info != &l.Layout.Segments[0] {
		t.Errorf("segment %+v", s)
	}
	if from := l.Sources(); len(from) != 1 || from[0].Vectors != v {
		t.Errorf("sources %+v", from)
	}
}
