package target

import (
	"context"
	"errors"
	"fmt"
	"io"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/hnsw"
	"kitescope/engine/index"
)

// BuildPlan says what index is built, and in whose format it is written.
type BuildPlan struct {
	Flat    bool // FLAT, not HNSW
	Library engine.Library
	Metric  engine.Metric

	M, EFConstruction int
	Seed              uint64
	Threads           int
	Progress          func(done int)
}

// BuildFormats are the names of the formats that can be written.
func BuildFormats() []string { return []string{engine.HNSWLib.String(), engine.Faiss.String()} }

// BuildFormatOf is the library whose format has that name.
func BuildFormatOf(name string) (engine.Library, bool) {
	l, ok := engine.ParseLibrary(name)
	return l, ok && (l == engine.HNSWLib || l == engine.Faiss)
}

// DefaultFormat is the format of an index where none is named: hnswlib has files of HNSW alone.
func (p *BuildPlan) DefaultFormat() string {
	if p.Flat {
		return engine.Faiss.String()
	}
	return engine.HNSWLib.String()
}

// Built is an index that can be written.
type Built struct {
	plan  BuildPlan
	index index.Searchable
	graph *hnsw.Index // of which hnswlib has a format; nil of rows
}

// Build makes an index of vectors. An error names what in the plan does not go together, or
// the row that cannot be in an index.
func Build(ctx context.Context, v *engine.Vectors, p BuildPlan) (*Built, error) {
	switch {
	case p.Flat && p.Library == engine.HNSWLib:
		return nil, errors.New("hnswlib has no format for FLAT: write it for faiss")
	case p.Library == engine.Faiss && p.Metric == dist.Cosine:
		return nil, errors.New("faiss has no cosine: normalise the vectors and use ip")
	}
	b := &Built{plan: p}
	if p.Flat {
		if v.Element != dist.Float32 {
			return nil, fmt.Errorf("faiss's FLAT has float32 rows, these are %s", v.Element)
		}
		if p.Metric != dist.L2 && p.Metric != dist.InnerProduct {
			return nil, fmt.Errorf("faiss's FLAT has l2 and ip, not %s", p.Metric)
		}
		b.index = index.FromRows(&flat.Index{Vectors: v, Metric: p.Metric})
		return b, nil
	}
	o := hnsw.BuildOptions{
		M: p.M, EFConstruction: p.EFConstruction, Metric: p.Metric, Seed: p.Seed, Threads: p.Threads,
		Library: engine.HNSWLib, Progress: p.Progress,
	}
	if p.Library == engine.Faiss {
		o.Library = engine.Faiss
	}
	var err error
	if b.graph, err = hnsw.Build(ctx, v, o); err != nil {
		return nil, err
	}
	b.index = index.FromGraph(b.graph)
	return b, nil
}

// Name is what was built.
func (b *Built) Name() string {
	return fmt.Sprintf("%s (%s)", b.index.Kind(), b.plan.Library)
}

// Write writes the index in its library's format.
func (b *Built) Write(w io.Writer) error {
	if b.graph != nil && b.plan.Library != engine.Faiss {
		return index.WriteHNSWLib(w, b.graph)
	}
	return index.WriteFaiss(w, b.index)
}
