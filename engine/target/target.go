// Package target opens whatever a path names that can be searched, and answers what one asks
// of it at a desk: the neighbours of queries, how many of them are the true ones, whether the
// index is sound and holds the vectors that it should, and how fast it is.
//
// In: a path (an index file of hnswlib, faiss or Milvus, the folder of a Milvus index, a file
// of vectors) and queries. Out: Answers, a Recall, a Verification, a Speed. The steps: Open
// tells what the path is and has the package read it that knows it; searches go over
// goroutines, each with a searcher of its own; answers keep the order of the queries.
package target

import (
	"kitescope/engine"
	"kitescope/engine/dataset"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/index"
	"kitescope/engine/sparse"
)

// Target is something that can be searched.
type Target struct {
	// File is the index. Of bare vectors it is a FLAT one over them.
	File *index.File
	// Set is the file of vectors that was opened; nil of an index.
	Set *dataset.Set
	// Notes say what was assumed or left out.
	Notes []string

	metricGiven bool // by the hint, where the file does not say
	close       []func()
}

// Close gives back mapped files; nothing may use the target afterwards.
func (t *Target) Close() {
	for _, c := range t.close {
		c()
	}
	t.close = nil
}

// library is whose answers are reproduced where nothing is said.
func (t *Target) library(l engine.Library) engine.Library {
	if l != engine.Native {
		return l
	}
	switch {
	case t.File.Element() == dist.Sparse:
		return engine.Knowhere26
	case t.Set != nil && t.File.Metric == dist.Cosine:
		return engine.Knowhere22 // faiss has no cosine
	case t.Set != nil:
		return engine.Faiss
	case t.File.Format == index.HNSWLib:
		return engine.HNSWLib
	case t.File.Format == index.KnowhereHNSW:
		return engine.Knowhere22
	case t.File.Format == index.KnowhereFaiss && t.File.Effort() == index.ByEF:
		return engine.Knowhere25 // and later: before, graphs were hnswlib's
	case t.File.Format == index.KnowhereFaiss:
		return engine.Knowhere22
	default:
		return engine.Faiss
	}
}

// Options say how a target is searched.
type Options struct {
	Library engine.Library
	// BM25 is of sparse vectors (index.Options).
	BM25 *sparse.BM25
}

// MaxK is the greatest K: Milvus's own limit.
const MaxK = flat.MaxK
