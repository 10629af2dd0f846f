package facts

import (
	"slices"
	"testing"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// TestCacheDropsDeleted checks that Cache drops the results for collections, segments and responses that are gone.
func TestCacheDropsDeleted(t *testing.T) {
	var kept Cache
	c := modeltest.ServedLarge(3000, 20)
	again := func(c *model.Cluster, ask bool) {
		var next Cache
		if f := kept.Facts(c, modeltest.Now, &next); ask {
			f.digests()
			f.anomalies()
		}
		kept = next
	}
	again(c, true)
	if n := len(kept.digests); n != 50 || len(kept.anomalies) != 50 || kept.views == nil {
		t.Fatalf("%d digests, %d odds of 50 collections", n, len(kept.anomalies))
	}
	c = c.WithRuntime(nil)
	p := c.Parts
	p.Collections = p.Collections[:20]
	p.Segments = slices.DeleteFunc(slices.Clone(p.Segments), func(x *model.Segment) bool {
		return x.Collection > p.Collections[19].ID
	})
	c = c.Update(p)
	again(c, true)
	if n := len(kept.digests); n != 20 || len(kept.anomalies) != 0 || kept.views != nil {
		t.Errorf("%d digests of 20 collections; %d odds and views %v though nobody was asked", n, len(kept.anomalies),
			kept.views)
	}
	again(c, false)
	if n := len(kept.digests); n != 0 {
		t.Errorf("%d digests though nobody asked for any", n)
	}
}
