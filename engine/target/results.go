package target

import (
	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/hnsw"
	"kitescope/engine/index"
)

// Found is a search with what was asked for.
type Found struct {
	Target  *Target
	Options Options
	Params  index.Params
	Answers *Answers
	Recall  *Recall // nil if there was nothing to compare with
}

// Library is whose answers these are.
func (f *Found) Library() engine.Library { return f.Target.library(f.Options.Library) }

// Accumulation is whose order of adding floats was taken.
func (f *Found) Accumulation() string { return f.Library().Profile().String() }

// Unused names a parameter that means nothing to the index, and the kind of index it is of; it is
// empty if all do.
func (t *Target) Unused(p *index.Params) (name, of string) {
	for f := range p.Given() {
		if !t.has(f.Of) {
			return f.Flag, f.Of.String()
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

// EF is how many candidates an HNSW search kept: what was asked for, or the library's default. 0
// of other indexes.
func (f *Found) EF() int { return f.Target.ef(&f.Params, f.Options) }

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

// EF is how many candidates the searches of a point kept; 0 where there is no graph.
func (b *Bench) EF(p *Point) int { return b.Target.ef(&p.Load.Params, p.Load.Options) }

// Point is one load and what it measured.
type Point struct {
	*Speed
	Recall *Recall // nil if there was nothing to compare with
}
