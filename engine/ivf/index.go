// Package ivf answers nearest-neighbour queries over an inverted file of whole vectors,
// Milvus's IVF_FLAT, or of codes that stand for vectors (IVF_SQ8): rows in lists, one for each
// centroid, of which a query reads the nearest few.
//
// In: centroids and lists as a file has them (engine/index), a library whose answers
// are wanted, queries. Out: hits, best first, with the ids, the distance bits and the order
// among equal distances of that library. Steps: the centroids, a flat index, give the lists to
// read in the order of their nearness; the rows of each are compared with the query, in their
// order, and offered to one flat.TopK. That order decides which of several equal hits enter.
package ivf

import (
	"errors"
	"fmt"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/prefilter"
)

// Index is vectors in lists, one for each centroid. It is immutable and may be shared.
type Index struct {
	Metric    engine.Metric
	Centroids *engine.Vectors // row i is the centroid of Lists[i]
	Lists     []List
	NProbe    int  // of the file; a search names its own
	Codec     *SQ8 // of the codes that the lists have in place of vectors; nil for vectors
	// Shadow are codes of the rows, list by list, and Near of the centroids, that spare searches most of the floats (Shade); nil for none.
	Shadow, Near *prefilter.Codes
}

// List is the vectors that are nearest to one centroid, in the order in which they were added.
type List struct {
	// Vectors are the rows; where the index has a Codec, their codes, as rows of int8.
	Vectors *engine.Vectors
	IDs     []int64 // of the rows
	// Norms are the L2 norms of the rows where the file has them, under cosine (knowhere); nil
	// else.
	Norms []float32
}

// coarse is the metric by which centroids are compared, and codes: the inner product under cosine, where the query is normalised and the
// centroids are about so, and rows were normalised before they were coded (IvfIndexNode::Train, src/index/ivf/ivf.cc, knowhere v2.2.3).
func (x *Index) coarse() engine.Metric {
	if x.Metric == dist.Cosine {
		return dist.InnerProduct
	}
	return x.Metric
}

// Rows is how many vectors there are in all lists.
func (x *Index) Rows() int {
	n := 0
	for i := range x.Lists {
		n += len(x.Lists[i].IDs)
	}
	return n
}

// Restore fills lists that have ids alone with the vectors that these name among raw, the rows
// of the segment: knowhere 1 and Milvus 2.3 at index version 0 leave them out of the file
// (ArrayInvertedLists::restore_codes, faiss/invlists/InvertedLists.cpp of knowhere v2.2.3).
// Every row of raw must be in the lists once, so that they need no more memory than raw does.
// It is part of reading an index, before anything searches it; after an error it is of no use.
func (x *Index) Restore(raw *engine.Vectors) error {
	if n := x.Rows(); n != raw.Rows {
		return fmt.Errorf("lists of %d ids together for %d vectors", n, raw.Rows)
	}
	if x.Codec != nil || x.Centroids == nil || x.Centroids.Dim != raw.Dim || x.Centroids.Element != raw.Element {
		return fmt.Errorf("vectors of %d dimensions that the centroids do not have", raw.Dim)
	}
	all, err := engine.NewVectors(raw.Element, raw.Dim, raw.Rows)
	if err != nil {
		return err
	}
	seen := engine.NewBitset(raw.Rows)
	memory := unsafe.Slice((*byte)(all.Base()), all.Bytes())
	row := 0
	for i := range x.Lists {
		l := &x.Lists[i]
		from := row
		for _, id := range l.IDs {
			if id < 0 || id >= int64(raw.Rows) || seen.Has(int(id)) {
				return fmt.Errorf("list %d: id %d is not one of %d rows, or listed twice", i, id, raw.Rows)
			}
			seen.Set(int(id))
			copy(all.Row(row), raw.Row(int(id)))
			row++
		}
		if l.Vectors, err = engine.View(raw.Element, raw.Dim, row-from, all.Stride, memory[from*all.Stride:]); err != nil {
			return err
		}
		l.Norms = nil
	}
	return nil
}

// check tells what does not fit together.
func (x *Index) check() error {
	if x.Centroids == nil || x.Centroids.Rows == 0 {
		return errors.New("an inverted file without centroids")
	}
	if c := x.Codec; c != nil && (c.Dim() != x.Centroids.Dim || x.Centroids.Element != dist.Float32) {
		return fmt.Errorf("codes of %d dimensions for centroids of %d, or of another type", c.Dim(), x.Centroids.Dim)
	}
	element, dim := x.row()
	if x.Centroids.Rows != len(x.Lists) {
		return fmt.Errorf("%d lists for %d centroids", len(x.Lists), x.Centroids.Rows)
	}
	for i := range x.Lists {
		l := &x.Lists[i]
		switch {
		case len(l.IDs) == 0:
		case l.Vectors == nil || l.Vectors.Rows != len(l.IDs):
			return fmt.Errorf("list %d has %d ids and not as many vectors: restore them first", i, len(l.IDs))
		case l.Vectors.Dim != dim || l.Vectors.Element != element:
			return fmt.Errorf("list %d has vectors of %d dimensions, its centroid of %d", i, l.Vectors.Dim, x.Centroids.Dim)
		case l.Norms != nil && len(l.Norms) != len(l.IDs):
			return fmt.Errorf("list %d has %d norms for %d rows", i, len(l.Norms), len(l.IDs))
		}
	}
	return nil
}

// row returns the element and the dimension of the rows in the lists.
func (x *Index) row() (e dist.Element, dim int) {
	if x.Codec != nil {
		return dist.Int8, x.Codec.Dim()
	}
	return x.Centroids.Element, x.Centroids.Dim
}
