package facts

import (
	"slices"
	"testing"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// TestForgetsWhatIsGone checks that Kept drops the results for collections, segments and responses that are gone.
func TestForgetsWhatIsGone(t *testing.T) {
	var kept Kept
	c := modeltest.ServedLarge(3000, 20)
	again := func(c *model.Cluster, ask bool) {
		var next Kept
		if f := kept.Facts(c, modeltest.Now, &next); ask {
			f.digests()
			f.odds()
		}
		kept = next
	}
	again(c, true)
	if n := len(kept.digests); n != 50 || len(kept.odds) != 50 || kept.views == nil {
		t.Fatalf("%d digests, %d odds of 50 collections", n, len(kept.odds))
	}
	c = c.WithRuntime(nil)
	p := c.Parts
	p.Collections = p.Collections[:20]
	p.Segments = slices.DeleteFunc(slices.Clone(p.Segments), func(x *model.Segment) bool { return x.Collection > p.Collections[19].ID })
	c = c.Update(p)
	again(c, true)
	if n := len(kept.digests); n != 20 || len(kept.odds) != 0 || kept.views != nil {
		t.Errorf("%d digests of 20 collections; %d odds and views %v though nobody was asked", n, len(kept.odds), kept.views)
	}
	again(c, false)
	if n := len(kept.digests); n != 0 {
		t.Errorf("%d digests though nobody asked for any", n)
	}
}
