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
func (f *Found) Accumulation() string { return f.Target.accumulation(f.Options) }

// Unused names a parameter that means nothing to the index, and the kind of index it is of; it is
// empty if all do.
func (t *Target) Unused(p *index.Params, o Options) (name, of string) {
	knowhere := t.library(o.Library).Knowhere()
	switch by := t.File.Effort(); {
	case p.EF > 0 && by != index.ByEF:
		return "ef", "an HNSW index"
	case p.Sparse != (engine.SparseParams{}) && by != index.ByDropRatio && t.File.Element() != dist.Sparse:
		return "drop-ratio", "an index of sparse vectors"
	case p.NProbe > 0 && by != index.ByNProbe:
		return "nprobe", "an IVF index"
	case p.ReorderK > 0 && t.File.Kind() != index.SCANN:
		return "reorder-k", "a SCANN index"
	case p.QueryBits != nil && t.File.Kind() != index.IVFRaBitQ:
		return "rbq-bits-query", "an IVF_RABITQ index"
	case p.RefineK > 0 && !index.Refined(t.File.Searchable):
		return "refine-k", "an index with a refinement"
	case o.Entries != nil && (by != index.ByEF || !knowhere):
		return "entry warm", "an HNSW index in Milvus (--library knowhere-2.2)"
	}
	return "", ""
}

// EF is how many candidates an HNSW search kept: what was asked for, or the library's default. 0
// of other indexes.
func (f *Found) EF() int { return f.Target.ef(&f.Params, f.Options) }

func (t *Target) ef(p *index.Params, o Options) int {
	g := index.As[hnsw.Index](t.File)
	switch {
	case g == nil:
		return 0
	case p.EF > 0 || p.Radius != nil:
		return p.EF
	default:
		return g.DefaultEF(t.library(o.Library), p.K)
	}
}

func (t *Target) accumulation(o Options) string {
	return t.profile(o).String()
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
