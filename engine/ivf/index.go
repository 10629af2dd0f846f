// Package ivf searches inverted files for nearest neighbours. An inverted file holds rows in lists, one list per
// centroid, and a query reads only the nearest few lists. The rows are whole vectors (Milvus's IVF_FLAT) or codes
// of vectors (IVF_SQ8).
//
// The input is centroids and lists from a file (engine/index), a library whose results are reproduced, and queries.
// The output is hits, best first. Their ids, distance bits and order among equal distances are those of the
// library.
//
// A search first searches the centroids, which are a flat index, for the nearest lists. It reads the lists nearest
// first, compares their rows with the query in order, and adds them to one flat.TopK. This order determines which
// of several equal hits enter.
package ivf

import (
	"errors"
	"fmt"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/prefilter"
)

// Index holds vectors in lists, one list per centroid. It is immutable and may be shared.
type Index struct {
	Metric    engine.Metric
	Centroids *engine.Vectors // row i is the centroid of Lists[i]
	Lists     []List
	NProbe    int  // default from the file; a search may set its own
	Codec     *SQ8 // codec if the lists hold codes; nil if they hold vectors
	// Codes holds quantized codes of the rows, list by list. CentroidCodes holds quantized codes of the centroids. They
	// save most of the float computation (see Quantize). Both may be nil.
	Codes, CentroidCodes *prefilter.Codes
}

// List holds the vectors that are nearest to one centroid, in the order in which they were added.
type List struct {
	// Vectors holds the rows. If the index has a Codec, they are codes, stored as rows of int8.
	Vectors *engine.Vectors
	IDs     []int64 // ids of the rows
	// Norms holds the L2 norms of the rows if the file has them, under cosine (knowhere). Otherwise it is nil.
	Norms []float32
}

// coarse returns the metric for centroids and codes. Under cosine it is the inner product, because the query is
// normalised, the centroids are approximately normalised, and rows were normalised before they were encoded
// (IvfIndexNode::Train, src/index/ivf/ivf.cc, knowhere v2.2.3).
func (x *Index) coarse() engine.Metric {
	if x.Metric == dist.Cosine {
		return dist.InnerProduct
	}
	return x.Metric
}

// Rows returns the number of vectors in all lists.
func (x *Index) Rows() int {
	n := 0
	for i := range x.Lists {
		n += len(x.Lists[i].IDs)
	}
	return n
}

// Restore fills lists that have only ids with the vectors of raw, which holds the rows of the segment. knowhere 1,
// and Milvus 2.3 at index version 0, omit the vectors from the file (ArrayInvertedLists::restore_codes,
// faiss/invlists/InvertedLists.cpp of knowhere v2.2.3). Each row of raw must be in the lists exactly once, so that
// the lists need no more memory than raw. Restore must be called before the index is searched. If it returns an
// error, the index must not be used.
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
		if l.Vectors, err = engine.View(raw.Element, raw.Dim, row-from, all.Stride, memory[from*all.Stride:]); err !=
			nil {
			return err
		}
		l.Norms = nil
	}
	return nil
}

// check returns an error if the parts of the index do not fit together.
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
			return fmt.Errorf("list %d has vectors of %d dimensions, its centroid of %d", i, l.Vectors.Dim,
				x.Centroids.Dim)
		case l.Norms != nil && len(l.Norms) != len(l.IDs):
			return fmt.Errorf("list %d has %d norms for %d rows", i, len(l.Norms), len(l.IDs))
		}
	}
	return nil
}

// row returns the element type and the dimension of the rows in the lists.
func (x *Index) row() (e dist.Element, dim int) {
	if x.Codec != nil {
		return dist.Int8, x.Codec.Dim()
	}
	return x.Centroids.Element, x.Centroids.Dim
}
