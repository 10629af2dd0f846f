package main

import (
	"path/filepath"
	"slices"
	"testing"

	"kitescope/inspect/balance"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// TestHandoverCountsOnce flushes and compacts the growing segments of a real cluster under load, as seconds after a flush: their results
// are loaded, and leaders still have the sources growing. The rows are those of before.
func TestHandoverCountsOnce(t *testing.T) {
	c, r := captured(t, "healthy-load-1")
	before := balance.Take(c.WithRuntime(r))
	for _, compacted := range []bool{false, true} {
		p, answers := c.Parts, r.RuntimeParts
		p.Segments, answers.Nodes = slices.Clone(p.Segments), slices.Clone(answers.Nodes)
		flushed := 0
		for i, n := range answers.Nodes {
			if n.Distribution == nil {
				continue
			}
			node, d := *n, *n.Distribution
			d.Sealed = slices.Clone(d.Sealed)
			for _, v := range d.Leaders {
				if slices.ContainsFunc(v.Growing, func(g model.GrowingView) bool {
					s := c.Segment(g.ID)
					return s == nil || s.State != model.SegmentGrowing
				}) {
					continue // its hand-over was under way in the capture
				}
				for k, g := range v.Growing {
					at := slices.IndexFunc(p.Segments, func(s *model.Segment) bool { return s.ID == g.ID })
					if at < 0 {
						continue
					}
					s := *p.Segments[at]
					s.State, s.Rows = model.SegmentFlushed, v.GrowingRows/int64(len(v.Growing))
					if k == 0 {
						s.Rows += v.GrowingRows % int64(len(v.Growing))
					}
					served := s.ID
					if compacted {
						result := s
						result.ID, result.CompactedFrom = s.ID+1_000_000_000, []model.SegmentID{s.ID}
						s.State, served = model.SegmentDropped, result.ID
						p.Segments = append(p.Segments, &result)
					}
					p.Segments[at] = &s
					d.Sealed = append(d.Sealed, model.ServedSegment{ID: served, Collection: s.Collection, Partition: s.Partition, Channel: s.VChannel})
					flushed++
				}
			}
			node.Distribution = &d
			answers.Nodes[i] = &node
		}
		if flushed == 0 {
			t.Fatal("nothing grows in the capture")
		}
		after := balance.Take(model.Build(p).WithRuntime(model.BuildRuntime(answers)))
		for i, g := range after.Groups {
			if g.Rows() != before.Groups[i].Rows() {
				t.Errorf("compacted %v: %s has %d rows, %d before the flush", compacted, g.Name(), g.Rows(), before.Groups[i].Rows())
			}
		}
	}
}

// captured reads one of the bundles of a real cluster: its metadata, and what its processes said.
func captured(t *testing.T, name string) (c *model.Cluster, r *model.Runtime) {
	t.Helper()
	c, with := clusterWith(t, filepath.Join("..", "..", "testdata", "broken", name+".kite"), source.Options{})
	return c, with.Runtime
}
