// Package sparse searches sparse vectors as knowhere does: with inverted lists (SPARSE_INVERTED_INDEX,
// SPARSE_WAND) under the inner product and BM25, and row by row, as segments without an index are searched.
//
// Its input is rows of (index, value) pairs, or the lists of an index file (engine/index), together with a release
// of knowhere and queries. It returns hits, best first, with the release's ids, bits and order among equal scores.
// Build turns rows into one list per dimension. A search drops small values of the query (drop ratio) and adds up
// the lists of the remaining values (walk.go), as TAAT_NAIVE does. It offers rows to a single queue (queue.go). If
// values were dropped, the best rows are compared again with the whole query (refine.go).
//
// DAAT_WAND and DAAT_MAXSCORE find the same rows by bounds. Their sums have another order, so their last bits
// differ.
//
// Sources: knowhere v2.3.12, v2.5.6 and v2.6.9, src/index/sparse/sparse_inverted_index.h,
// include/knowhere/sparse_utils.h, src/common/comp/brute_force.cc.
package sparse

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// PairBytes is the size of a value of a row: its index as uint32 and the value as float32, little-endian.
const PairBytes = 8

// maxRows is the greatest number of rows. Ids have 32 bits, and one id marks the end.
const maxRows = math.MaxUint32 - 1

// BM25 holds the parameters of scores under the BM25 metric.
type BM25 struct {
	K1, B float32
	// AvgDL is the mean length of all documents, at least 1. It comes from the segment's collection, not from the
	// index.
	AvgDL float32
}

// DefaultBM25 returns the parameters with which Milvus builds an index if none are set (function.bm25_k1,
// bm25_b, bm25_avgdl).
func DefaultBM25() BM25 { return BM25{K1: 1.2, B: 0.75, AvgDL: 100} }

// weight returns the weight of a term that occurs tf times in a document of the given length.
func (p *BM25) weight(tf, length float32) float32 {
	return float32(tf*(p.K1+1)) / (tf + float32(p.K1*float32(float32(1-p.B)+float32(p.B*float32(length/p.AvgDL)))))
}

// Index holds a list of rows for each dimension that any row has. It is immutable and safe for concurrent use.
type Index struct {
	Metric engine.Metric // dist.InnerProduct or dist.BM25
	// Wand is set for SPARSE_WAND, and not set for SPARSE_INVERTED_INDEX.
	Wand bool
	// Rows is the number of rows. Dim is the greatest index of a dimension plus one, including dimensions
	// without a list.
	Rows, Dim int
	// Starts holds the start of each list in IDs and Values, and the end of the last list.
	Starts []uint64
	IDs    []uint32
	Values []float32
	// Names holds the dimension of each list.
	Names []uint32
	// Lengths holds the sum of the values of each row under BM25; it is nil otherwise.
	Lengths []float32

	listOf map[uint32]uint32 // list of each dimension
}

// Finish checks that the parts are consistent and prepares the index for searches. Readers of an index must
// call it. All parts may come from a hostile file.
func (x *Index) Finish() error {
	switch {
	case x.Metric != dist.InnerProduct && x.Metric != dist.BM25:
		return fmt.Errorf("an inverted index of sparse vectors under %s: expected IP or BM25", x.Metric)
	case x.Rows < 0 || uint64(x.Rows) > maxRows:
		return fmt.Errorf("%d rows: more than %d", x.Rows, uint64(maxRows))
	case len(x.Starts) != len(x.Names)+1 || x.Starts[0] != 0 || x.Starts[len(x.Names)] != uint64(len(x.IDs)) ||
		len(x.IDs) != len(x.Values):
		return fmt.Errorf("%d dimensions, %d lists of %d ids and %d values", len(x.Names), len(x.Starts)-1, len(x.IDs),
			len(x.Values))
	case x.Metric == dist.BM25 && len(x.Lengths) != x.Rows:
		return fmt.Errorf("%d lengths of %d rows", len(x.Lengths), x.Rows)
	}
	x.listOf = make(map[uint32]uint32, len(x.Names))
	for i, name := range x.Names {
		if _, twice := x.listOf[name]; twice {
			return fmt.Errorf("dimension %d has two lists", name)
		}
		x.listOf[name] = uint32(i)
		if x.Starts[i] > x.Starts[i+1] || x.Starts[i+1] > uint64(len(x.IDs)) {
			return fmt.Errorf("the list of dimension %d has the values from %d to %d, of %d", name, x.Starts[i],
				x.Starts[i+1], len(x.IDs))
		}
		if at := firstUnsorted(x.IDs[x.Starts[i]:x.Starts[i+1]], x.Rows); at >= 0 {
			return fmt.Errorf("row %d is out of order in the list of dimension %d, or beyond %d rows",
				x.IDs[x.Starts[i]:][at], name, x.Rows)
		}
	}
	return nil
}

// firstUnsorted returns the first position where a list does not ascend or has an id that is not below rows, or -1
// if there is none.
func firstUnsorted(ids []uint32, rows int) int {
	before := uint32(0)
	for i, id := range ids {
		if id < before || int(id) >= rows {
			return i
		}
		before = id
	}
	return -1
}

// list returns the ids and values of list i.
func (x *Index) list(i uint32) ([]uint32, []float32) {
	return x.IDs[x.Starts[i]:x.Starts[i+1]], x.Values[x.Starts[i]:x.Starts[i+1]]
}

// pair returns value i of a row and its dimension.
func pair(row []byte, i int) (dim uint32, value float32) {
	b := row[i*PairBytes : i*PairBytes+PairBytes : i*PairBytes+PairBytes]
	return binary.LittleEndian.Uint32(b), math.Float32frombits(binary.LittleEndian.Uint32(b[4:]))
}

// AppendPair appends a value to a row and returns the extended row.
func AppendPair(row []byte, dim uint32, value float32) []byte {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(row, dim), math.Float32bits(value))
}

// Check returns an error unless a row is valid: its dimensions ascend, and no value is infinite or NaN
// (ValidateSparseFloatRows in Milvus's pkg/util/typeutil).
func Check(row []byte) error {
	if len(row)%PairBytes != 0 {
		return fmt.Errorf("a sparse vector of %d bytes: expected a multiple of %d", len(row), PairBytes)
	}
	for i := range len(row) / PairBytes {
		dim, v := pair(row, i)
		if i > 0 {
			if before, _ := pair(row, i-1); before >= dim {
				return fmt.Errorf("dimension %d of a sparse vector follows %d: expected them to ascend", dim, before)
			}
		}
		if dim == math.MaxUint32 {
			return fmt.Errorf("dimension %d of a sparse vector: expected at most %d", dim, uint32(math.MaxUint32-1))
		}
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("dimension %d of a sparse vector is %g: expected a finite number", dim, v)
		}
	}
	return nil
}

// Dim returns the number of dimensions of rows: the greatest index plus one.
func Dim(rows *engine.Vectors) int {
	most := 0
	for i := range rows.Rows {
		row := rows.Row(i)
		for j := range len(row) / PairBytes {
			dim, _ := pair(row, j)
			most = max(most, int(dim)+1)
		}
	}
	return most
}

// Count returns the total number of values of rows.
func Count(rows *engine.Vectors) int {
	n := 0
	for i := range rows.Rows {
		n += len(rows.Row(i)) / PairBytes
	}
	return n
}

// quantised returns a value as stored in the lists of BM25 since knowhere 2.5: an integer in 16 bits.
func quantised(v float32) float32 {
	switch {
	case v >= math.MaxUint16:
		return math.MaxUint16
	case v <= 0:
		return 0
	case v != v: // a cast of NaN is arbitrary; rows with NaN are rejected
		return 0
	}
	return float32(uint16(v))
}

// Same reports whether two rows have the same values, in any order and without zeros. stored is a row of an
// index, where BM25 rounds values to integers.
func Same(stored, row []byte, m engine.Metric) bool {
	a, b := canonical(stored, m), canonical(row, m)
	return slices.Equal(a, b)
}

type value struct {
	dim  uint32
	bits uint32
}

func canonical(row []byte, m engine.Metric) []value {
	list := make([]value, 0, len(row)/PairBytes)
	for i := range len(row) / PairBytes {
		dim, v := pair(row, i)
		if v == 0 {
			continue
		}
		if m == dist.BM25 {
			v = quantised(v)
		}
		list = append(list, value{dim, math.Float32bits(v)})
	}
	slices.SortFunc(list,
		func(a, b value) int { return cmp.Or(cmp.Compare(a.dim, b.dim), cmp.Compare(a.bits, b.bits)) })
	return list
}
