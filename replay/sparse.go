package replay

import (
	"cmp"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/segment"
	"kitescope/engine/sparse"
)

// exactSearcher compares queries with all rows of a segment.
type exactSearcher interface {
	SearchBatch(queries *engine.Vectors, p flat.Params, threads int) ([][]engine.Hit, error)
}

// sparseExact compares queries with rows of sparse vectors.
type sparseExact struct {
	rows  *sparse.Rows
	avgdl float32
}

func exactSparse(l *Loaded, s *segment.Segment, o segment.Options) (exactSearcher, error) {
	rows, err := sparse.NewRows(s.Vectors, s.Metric, cmp.Or(o.BM25, l.Layout.Collection.BM25))
	return sparseExact{rows, l.meanLength()}, err
}

func (s sparseExact) SearchBatch(queries *engine.Vectors, p flat.Params, threads int) ([][]engine.Hit, error) {
	return s.rows.SearchBatch(queries,
		sparse.Params{K: p.K, Filter: p.Filter, SparseParams: engine.SparseParams{AvgDL: s.avgdl}}, threads)
}

// meanLength returns the mean length of the loaded documents, which Milvus's shard leaders track; 0 unless the
// metric is BM25.
func (l *Loaded) meanLength() float32 {
	if l.metric() != dist.BM25 {
		return 0
	}
	var rows []*engine.Vectors
	for _, p := range l.Parts {
		rows = append(rows, p.Data.Vectors)
	}
	return sparse.MeanLength(rows...)
}

// sparseOptions adds the BM25 parameters of the index in the metadata.
func (c *Collection) sparseOptions(o segment.Options) segment.Options {
	o.BM25 = cmp.Or(o.BM25, c.BM25)
	return o
}
