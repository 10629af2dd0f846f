package index

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/hnsw"
)

// faissEFSearch is faiss's own efSearch (faiss/impl/HNSW.h).
const faissEFSearch = 16

// WriteFaiss writes an index as faiss's write_index does. Labels become an IndexIDMap around it. faiss has no deleted rows and no norms: cosine is the inner
// product of normalised vectors there.
func WriteFaiss(w io.Writer, s Searchable) error {
	o := &faissOutput{output: newOutput(w)}
	var err error
	switch x := s.concrete().(type) {
	case *hnsw.Index:
		err = o.hnsw(x)
	case *flat.Index:
		err = o.idMap(x.Vectors, x.Metric, x.Labels, x.Deleted, x.Norms, func() error { return o.flat(x) })
	default:
		err = fmt.Errorf("%s is not written", s.Kind())
	}
	if err != nil {
		return fmt.Errorf("write faiss index: %w", err)
	}
	return o.Flush()
}

// faissOutput writes faiss's structures.
type faissOutput struct{ *output }

// header writes a code and the header that follows it.
func (o *faissOutput) header(code string, dim, rows int, metric engine.Metric) error {
	if metric != dist.L2 && metric != dist.InnerProduct {
		return errors.New("faiss has L2 and inner product only")
	}
	_, _ = o.WriteString(code)
	o.u32(uint32(dim))
	o.u64(uint64(rows), faissUnused, faissUnused)
	_ = o.WriteByte(1) // is_trained
	if metric == dist.L2 {
		o.u32(1)
	} else {
		o.u32(0)
	}
	return nil
}

// idMap writes an index, inside an id map if it has labels.
func (o *faissOutput) idMap(v *engine.Vectors, m engine.Metric, labels []int64, deleted *engine.Bitset, norms []float32, index func() error) error {
	switch {
	case v == nil:
		return errors.New("an index without vectors")
	case deleted.Count() > 0:
		return fmt.Errorf("%d deleted rows: faiss cannot mark them", deleted.Count())
	case norms != nil:
		return errors.New("norms: faiss does not store them")
	case v.Element != dist.Float32:
		return errors.New("vectors that are not float32")
	case labels == nil:
		return index()
	case len(labels) != v.Rows:
		return fmt.Errorf("%d labels of %d rows", len(labels), v.Rows)
	}
	if err := o.header("IxMp", v.Dim, v.Rows, m); err != nil {
		return err
	}
	if err := index(); err != nil {
		return err
	}
	o.u64(uint64(len(labels)))
	for _, l := range labels {
		o.u64(uint64(l))
	}
	return nil
}

// flat writes vectors as an index of their own.
func (o *faissOutput) flat(x *flat.Index) error {
	code := "IxF2"
	if x.Metric == dist.InnerProduct {
		code = "IxFI"
	}
	if err := o.header(code, x.Vectors.Dim, x.Vectors.Rows, x.Metric); err != nil {
		return err
	}
	o.u64(uint64(x.Vectors.Rows) * uint64(x.Vectors.Dim))
	o.rows(x.Vectors)
	return nil
}

// rows writes rows, one directly after the other.
func (o *faissOutput) rows(v *engine.Vectors) {
	for i := range v.Rows {
		_, _ = o.Write(v.Row(i))
	}
}

// hnsw writes a graph and its vectors.
func (o *faissOutput) hnsw(ix *hnsw.Index) error {
	if err := checkShape(ix); err != nil {
		return err
	}
	return o.idMap(ix.Vectors, ix.Metric, ix.Labels, ix.Deleted, ix.Norms, func() error {
		if err := o.header("IHNf", ix.Vectors.Dim, ix.Vectors.Rows, ix.Metric); err != nil {
			return err
		}
		o.graph(&ix.Graph)
		efSearch := cmp.Or(ix.EFSearch, faissEFSearch)
		entry, level := ix.Entry, int32(ix.MaxLevel)
		if ix.Vectors.Rows == 0 {
			entry, level = math.MaxUint32, -1
		}
		o.u32(entry, uint32(level), uint32(ix.EFConstruction), uint32(efSearch), 1)
		return o.flat(&flat.Index{Metric: ix.Metric, Vectors: ix.Vectors})
	})
}

// graph writes the links: the sums of links per level for at least as many levels as faiss
// makes for this M, and as the graph has.
func (o *faissOutput) graph(g *hnsw.Graph) {
	probabilities := levelProbabilities(g.M)
	o.u64(uint64(len(probabilities)))
	for _, p := range probabilities {
		o.u64(math.Float64bits(p))
	}
	levels := max(len(probabilities), g.MaxLevel+1)
	o.u64(uint64(levels + 1))
	o.u32(0)
	for l := range levels {
		o.u32(uint32(g.M0 + l*g.M))
	}
	o.u64(uint64(len(g.Levels)))
	for _, l := range g.Levels {
		o.u32(uint32(l) + 1)
	}
	sum := uint64(0)
	o.u64(uint64(len(g.Levels)+1), 0)
	for _, l := range g.Levels {
		sum += uint64(g.M0 + int(l)*g.M)
		o.u64(sum)
	}
	o.u64(sum)
	for i, l := range g.Levels {
		o.links(g.Base[i*g.M0 : (i+1)*g.M0])
		for j := range int(l) {
			at := (int(g.UpperAt[i]) + j) * g.M
			o.links(g.Upper[at : at+g.M])
		}
	}
}

// links writes the links in use and fills the other slots with -1.
func (o *faissOutput) links(slots []uint32) {
	n := used(slots)
	o.u32(slots[:n]...)
	for range len(slots) - n {
		o.u32(math.MaxUint32)
	}
}

// levelProbabilities is how likely a node gets each level, for the M of a graph: what faiss
// draws by when it adds to an index that was read.
// Source: faiss 1.15, faiss/impl/HNSW.cpp, HNSW::set_default_probas.
func levelProbabilities(m int) []float64 {
	var probabilities []float64
	factor := float32(hnsw.LevelMult(max(m, 2)))
	for level := 0; ; level++ {
		p := float32(math.Exp(float64(-float32(level)/factor)) * (1 - math.Exp(float64(-1/factor))))
		if p < 1e-9 {
			return probabilities
		}
		probabilities = append(probabilities, float64(p))
	}
}
