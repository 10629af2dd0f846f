package target

import (
	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/hnsw"
	"kitescope/engine/index"
)

// SearchResult is a search with its parameters and results.
type SearchResult struct {
	Target  *Target
	Options Options
	Params  index.Params
	Answers *Answers
	Recall  *Recall // nil without true neighbors
}

// Library returns the library whose answers were reproduced.
func (f *SearchResult) Library() engine.Library { return f.Target.library(f.Options.Library) }

// Accumulation returns the name of the order in which floats were added.
func (f *SearchResult) Accumulation() string { return f.Library().Profile().String() }

// Unused returns the flag of a parameter that the index does not use, and the kind of index that does. It returns
// empty strings if the index uses all parameters.
func (t *Target) Unused(p *index.Params) (name, of string) {
	for f := range p.Given() {
		if !t.has(f.Trait) {
			return f.Flag, f.Trait.String()
		}
	}
	return "", ""
}

// has reports whether the index has a trait.
func (t *Target) has(trait engine.Trait) bool {
	f := t.File
	switch trait {
	case engine.HasGraph:
		return f.Effort() == index.ByEF
	case engine.HasLists:
		return f.Effort() == index.ByNProbe
	case engine.HasSparse:
		return f.Effort() == index.ByDropRatio || f.Element() == dist.Sparse
	default:
		return f.Metric == dist.BM25
	}
}

// EF returns the number of candidates of an HNSW search: the given parameter, or the library's default. It returns
// 0 for other indexes.
func (f *SearchResult) EF() int { return f.Target.ef(&f.Params, f.Options) }

func (t *Target) ef(p *index.Params, o Options) int {
	g := index.As[hnsw.Index](t.File)
	switch {
	case g == nil:
		return 0
	case p.EF > 0:
		return p.EF
	default:
		return g.DefaultEF(t.library(o.Library), p.K)
	}
}

// Bench is a target measured at several points.
type Bench struct {
	Target  *Target
	Queries int
	Points  []Point
}

// EF returns the number of candidates in the searches of a point, or 0 without a graph.
func (b *Bench) EF(p *Point) int { return b.Target.ef(&p.Load.Params, p.Load.Options) }

// Point is one load and its measurements.
type Point struct {
	*Speed
	Recall *Recall // nil without true neighbors
}
