package index

import (
	"fmt"
	"slices"

	"kitescope/engine/hnsw"
)

// storage reads the index after the graph, which must be flat, and copies its rows into aligned memory.
func (r *faissReader) storage(h *faissHeader, ix *hnsw.Index) {
	at := r.at
	code := r.code()
	switch code {
	case "null":
		r.fail(at, "the vectors of the graph", "null: omitted when the file was written")
	case "IxF2", "IxFI", "IxFl", "IxF9":
	default:
		if r.err == nil {
			r.err = &UnsupportedError{Type: fmt.Sprintf("%s over %s", h.code, typeName(code)), Hint: hintRebuild}
		}
	}
	if r.err != nil {
		return
	}
	own := r.header(at, code)
	r.expect(own.dim == h.dim && own.rows == h.rows && own.metric == h.metric, r.at-at-4,
		fmt.Sprintf("%d vectors of %d dimensions of the graph's metric", h.rows, h.dim), "%d of %d, metric %d",
		own.rows, own.dim, own.metric)
	rows := r.flat(&own, "vectors")
	if r.err != nil {
		return
	}
	if rows.Norms != nil {
		ix.Norms = slices.Clone(rows.Norms)
		for i, n := range ix.Norms {
			// knowhere 2.5 multiplies by inverse norms, which are 1 for zero vectors (L2NormsStorage,
			// faiss/IndexCosine.cpp, v2.5.6).
			if n == 0 {
				ix.Norms[i] = 1
			}
		}
	}
	ix.Vectors, r.err = r.realign(rows.Vectors, r.at-4*own.rows*own.dim-normBytes(rows.Norms))
}
