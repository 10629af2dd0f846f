package balance

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// TestSurveyorKeepsUp: a surveyor sees each change of what its sums are made of, and forgets collections that are gone.
func TestSurveyorKeepsUp(t *testing.T) {
	c := modeltest.ServedLarge(3000, 20)
	segment := slices.IndexFunc(c.Segments, func(s *model.Segment) bool {
		on := c.Runtime.Served(s.ID)
		return len(on) > 0 && on[0].Sealed != nil && s.Rows > 0
	})
	served := c.Segments[segment]
	var x Surveyor
	x.Take(c)
	for _, step := range []struct {
		name   string
		change func(*model.Parts)
	}{
		{"a segment has more rows", func(p *model.Parts) {
			more := *served
			more.Rows += 1000
			p.Segments = slices.Clone(p.Segments)
			p.Segments[segment] = &more
		}},
		{"a segment is gone", func(p *model.Parts) { p.Segments = slices.Delete(slices.Clone(p.Segments), segment, segment+1) }},
		{"an index is another", func(p *model.Parts) {
			i := slices.IndexFunc(p.Indexes, func(i *model.Index) bool { return i.Collection == served.Collection })
			flat := *p.Indexes[i]
			flat.Type = "FLAT"
			p.Indexes = slices.Clone(p.Indexes)
			p.Indexes[i] = &flat
		}},
		{"a vector has fewer dimensions", func(p *model.Parts) {
			i := slices.IndexFunc(p.Collections, func(i *model.Collection) bool { return i.ID == served.Collection })
			other := *p.Collections[i]
			other.Fields = []*model.Field{{ID: 101, Name: "vec", Type: "FloatVector", Dim: 8}}
			p.Collections = slices.Clone(p.Collections)
			p.Collections[i] = &other
		}},
		{"nodes say something else", func(p *model.Parts) {
			r := c.Runtime.RuntimeParts
			r.Nodes = slices.Clone(r.Nodes)
			i := slices.Index(r.Nodes, c.Runtime.Served(served.ID)[0].Node)
			n := *r.Nodes[i]
			n.Distribution = &model.Distribution{Sealed: n.Distribution.Sealed[1:]}
			r.Nodes[i] = &n
			p.Runtime = model.BuildRuntime(r)
		}},
	} {
		p := c.Parts
		step.change(&p)
		next := model.Build(p)
		before, got, want := Take(c), x.Take(next), Take(next)
		options := cmp.Options{cmpopts.IgnoreUnexported(Share{}), cmp.Comparer(func(a, b *model.LiveNode) bool { return a == b }), cmp.Comparer(func(a, b *model.Session) bool { return a == b })}
		if diff := cmp.Diff(want.Nodes, got.Nodes, options); diff != "" {
			t.Errorf("%s: the sums are not those of a fresh survey:\n%s", step.name, diff)
		}
		if cmp.Equal(before.Nodes, want.Nodes, options) {
			t.Errorf("%s: that changed nothing", step.name)
		}
		c = next
	}
	if len(x.kept) != 50 {
		t.Errorf("%d sums of 50 collections", len(x.kept))
	}
	x.Take(c.WithRuntime(nil))
	if len(x.kept) != 0 {
		t.Errorf("%d sums though nobody was asked", len(x.kept))
	}
}
