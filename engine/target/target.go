// Package target opens an index or a file of vectors by its path, and analyzes it: it runs searches, computes
// recall, verifies the index against vectors, and measures speed.
//
// Open accepts an index file of hnswlib, faiss or Milvus, the folder of a Milvus index (engine/index), and a file of
// vectors (engine/dataset), which becomes a FLAT index. Search returns Answers: engine.Hits and costs, in the order of
// the queries. It runs on several goroutines, each with its own searcher.
//
// RecallOf compares Answers with true neighbours, from a file or from Target.Exact. A row that is as near as the last
// true neighbour counts only if it is in the truth (package replay counts it). Other results are a Verification and a
// Speed.
package target

import (
	"kitescope/engine"
	"kitescope/engine/dataset"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/index"
	"kitescope/engine/sparse"
)

// Target is an index or a file of vectors that can be searched.
type Target struct {
	// File is the index. For a file of vectors, it is a FLAT index over them.
	File *index.File
	// Set is the opened file of vectors; nil for an index.
	Set *dataset.Set
	// Notes lists assumptions and omissions.
	Notes []string

	metricGiven bool // by the hint, if the file has none
	close       []func()
}

// Close unmaps files. The target must not be used afterwards.
func (t *Target) Close() {
	for _, c := range t.close {
		c()
	}
	t.close = nil
}

// library returns l, or the library whose answers are reproduced if l is Native.
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
		return engine.Knowhere25 // since 2.5; before, graphs were hnswlib's
	case t.File.Format == index.KnowhereFaiss:
		return engine.Knowhere22
	default:
		return engine.Faiss
	}
}

// Options selects how a target is searched.
type Options struct {
	Library engine.Library
	// BM25 holds the parameters for sparse vectors (see index.Options).
	BM25 *sparse.BM25
}

// MaxK is the maximum K, which is Milvus's own limit.
const MaxK = flat.MaxK
