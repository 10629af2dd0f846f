package check_test

import (
	"slices"
	"testing"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// BenchmarkRun judges 200,000 segments on 200 query nodes by all checks; the bar is half a
// second of processor time. "again" judges anew after one segment has changed: 50 ms.
func BenchmarkRun(b *testing.B) {
	c := modeltest.ServedLarge(200_000, 200)
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			check.Run(c, modeltest.Now, check.All)
		}
	})
	next := c.Update(changed(c)).WithRuntime(c.Runtime)
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			check.Run(next, modeltest.Now, check.All)
		}
	})
	for _, x := range check.All {
		b.Run(x.ID, func(b *testing.B) {
			for b.Loop() {
				check.Run(c, modeltest.Now, []*check.Check{x})
			}
		})
	}
}

// changed are the parts of a cluster in which one segment has one row more.
func changed(c *model.Cluster) model.Parts {
	p := c.Parts
	p.Loaded &^= model.PartRuntime
	p.Runtime = nil
	p.Segments = slices.Clone(p.Segments)
	s := *p.Segments[len(p.Segments)/2]
	s.Rows++
	p.Segments[len(p.Segments)/2] = &s
	return p
}
