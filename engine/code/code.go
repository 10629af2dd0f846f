// Package code says how rows are coded that stand for vectors, and computes distances to codes: of scalar quantisers (SQ), product quantisers
// (PQ) and products of residual quantisers (PRQ), faiss's and those of knowhere's fork of it.
//
// In: what a quantiser was trained to, as an index file has it (engine/index), a query, codes in memory. Out: distances, to the bit those of
// the library whose order of adding up a dist.Profile names. The steps: a Decoder takes a query, and makes a table of it or keeps it; for each
// code that is asked for it decodes the dimensions, or adds up entries of the table. Graphs (engine/hnsw), inverted files (engine/ivf) and
// refinements take codes from here; residuals and norms are theirs.
package code

import (
	"encoding/binary"
	"math"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// Codec is how vectors are coded. It is immutable.
type Codec interface {
	// Name is the type of such codes in Milvus's words, as they follow the type of an index: SQ, PQ, PRQ.
	Name() string
	// String says how rows are coded, for people.
	String() string
	// Dim is the dimension of the vectors, Bytes the size of a code.
	Dim() int
	Bytes() int
	// Gives returns what reports whether x has this code, for one goroutine.
	Gives() func(code []byte, x []float32) bool
	// Facts are numbers that say how rows are coded, with their keys.
	Facts() []Fact
	// NewDecoder returns what computes distances of a metric, L2 or the inner product, for one goroutine. An error says what does not fit.
	NewDecoder(m engine.Metric, p dist.Profile) (Decoder, error)
}

// Fact is a number of a quantiser.
type Fact struct {
	Name, Key string
	Number    int
}

// Decoder computes distances of one query to codes.
type Decoder interface {
	// Load takes a query, which is not kept.
	Load(q []float32)
	// Gather writes to out[i] the distance to the code ids[i] of those at base, stride bytes apart. The library computes so many of them, from the
	// first on, four at a time, which may round otherwise.
	Gather(base unsafe.Pointer, stride uintptr, ids []uint32, out []float32, fours int)
}

// Vectors are rows that are no codes, as a decoder has them: float32, or of two bytes a dimension.
func Vectors(m engine.Metric, p dist.Profile, dim int) (Decoder, error) {
	k, err := dist.New(m, dist.Float32, p, dim)
	if err != nil {
		return nil, err
	}
	return &plain{kernel: k, query: dist.Aligned(4 * dim)}, nil
}

type plain struct {
	kernel *dist.Kernel
	query  []byte
}

func (d *plain) Load(q []float32) { copy(dist.Floats(d.query), q) }

func (d *plain) Gather(base unsafe.Pointer, stride uintptr, ids []uint32, out []float32, _ int) {
	d.kernel.Gather(unsafe.Pointer(unsafe.SliceData(d.query)), base, stride, ids, out)
}

// at is the code of a row.
func at(base unsafe.Pointer, stride uintptr, id uint32, size int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(base, uintptr(id)*stride)), size)
}

// Widen writes to dst what a row of float32, or of an element that knowhere makes float32 before it asks for codes, stands for
// (convert_rows_to_fp32, src/index/hnsw/faiss_hnsw.cc, knowhere v2.5.6).
func Widen(e dist.Element, row []byte, dst []float32) {
	for i := range dst {
		switch e {
		case dist.Float16:
			dst[i] = dist.WidenFloat16(binary.LittleEndian.Uint16(row[2*i:]))
		case dist.BFloat16:
			dst[i] = dist.WidenBFloat16(binary.LittleEndian.Uint16(row[2*i:]))
		case dist.Int8:
			dst[i] = float32(int8(row[i]))
		default:
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(row[4*i:]))
		}
	}
}

// Widens reports whether Widen takes an element.
func Widens(e dist.Element) bool {
	return e == dist.Float32 || e == dist.Float16 || e == dist.BFloat16 || e == dist.Int8
}
