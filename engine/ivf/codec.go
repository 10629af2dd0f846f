package ivf

import (
	"fmt"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/shadow"
)

// Codec is how the rows in the lists are coded, where they are not whole vectors. It is immutable.
type Codec interface {
	// Kind is the type of such an index in Milvus's words.
	Kind() string
	// String says how rows are coded, for people.
	String() string
	// Dim is the dimension of the vectors, Bytes the size of a code.
	Dim() int
	Bytes() int
	// Gives returns what reports whether x, in the list of a centroid, has this code, for one goroutine.
	Gives() func(code []byte, centroid, x []float32) bool

	// decoder returns what computes distances, for one goroutine. An error says what does not fit.
	decoder(x *Index) (decoder, error)
}

// ranged is a codec of a byte a dimension, whose codes can be held against queries as they are.
type ranged interface {
	ranges(x *Index) shadow.Ranges
}

// slips reports whether scans with a filter take wrong codes, as those of IVF_PQ do up to knowhere 2.2 (Milvus 2.3): the place in the codes
// moves on by one for each row that is not left out, so that a row is compared by the code of one before it once rows are left out
// (scan_list_with_table, thirdparty/faiss/faiss/IndexIVFPQ.cpp, v2.2.3).
func (x *Index) slips(l engine.Library) bool {
	_, ok := x.Codec.(*PQ)
	return ok && l == engine.Knowhere22
}

// decoder computes distances of a query to codes.
type decoder interface {
	clone() decoder
	// query readies a query, list the list of number i whose centroid is at the distance coarse.
	query(q []float32)
	list(i int, coarse float32)
	// scan writes to out the distances of as many codes from first on.
	scan(codes *engine.Vectors, first int, out []float32)
}

// row is the size of what the lists have for each row.
func (x *Index) row() (e dist.Element, dim int) {
	if x.Codec != nil {
		return dist.Int8, x.Codec.Bytes()
	}
	return x.Centroids.Element, x.Centroids.Dim
}

// checkCodec tells what of codes does not fit the rest.
func (x *Index) checkCodec() error {
	switch {
	case x.Codec == nil:
		return nil
	case x.Codec.Dim() != x.Centroids.Dim || x.Centroids.Element != dist.Float32:
		return fmt.Errorf("codes of %d dimensions for centroids of %d, or of another type", x.Codec.Dim(), x.Centroids.Dim)
	case x.Metric != dist.L2 && x.Metric != dist.InnerProduct && x.Metric != dist.Cosine:
		return fmt.Errorf("%s has no metric %s", x.Codec.Kind(), x.Metric)
	}
	return nil
}

// Holds returns what reports whether row j of list i is what becomes of v there, for one goroutine.
func (x *Index) Holds() func(i, j int, v []float32) bool {
	gives, centroid := x.Codec.Gives(), make([]float32, x.Centroids.Dim)
	return func(i, j int, v []float32) bool {
		copy(bytesOf(centroid), x.Centroids.Row(i)) // which may lie anywhere
		return gives(x.Lists[i].Vectors.Row(j), centroid, v)
	}
}
