package index

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/hnsw"
)

// output writes little-endian fields. It keeps its first error, which Flush returns.
type output struct {
	*bufio.Writer
	scratch []byte
}

func newOutput(w io.Writer) *output { return &output{Writer: bufio.NewWriterSize(w, 1<<20)} }

func (o *output) u32(values ...uint32) {
	for _, v := range values {
		o.scratch = binary.LittleEndian.AppendUint32(o.scratch[:0], v)
		_, _ = o.Write(o.scratch)
	}
}

func (o *output) u64(values ...uint64) {
	for _, v := range values {
		o.scratch = binary.LittleEndian.AppendUint64(o.scratch[:0], v)
		_, _ = o.Write(o.scratch)
	}
}

// float32s writes values without a count.
func (o *output) float32s(values []float32) {
	for _, v := range values {
		o.u32(math.Float32bits(v))
	}
}

// WriteHNSWLib writes ix in the format of hnswlib 0.8's saveIndex. The bytes equal hnswlib's own for the same
// graph, including unused slots. When hnswlib loads the file, it reserves room for MaxElements, or for the nodes if
// there are more. It returns an error unless the vectors are float32 without norms: for cosine, the vectors must be
// normalized.
func WriteHNSWLib(w io.Writer, ix *hnsw.Index) error {
	if ix.Vectors.Element != dist.Float32 || ix.Norms != nil {
		return errors.New("write hnswlib index: the format takes float32 vectors, normalized for cosine")
	}
	o := newOutput(w)
	maxElements := max(ix.MaxElements, ix.Vectors.Rows)
	label := 4 + 4*ix.M0 + ix.Vectors.Size()
	o.hnswlibHeader(&ix.Graph, hnswlibHeader{
		maxElements: uint64(maxElements), count: uint64(ix.Vectors.Rows), size: uint64(label + 8),
		labelOffset: uint64(label),
	})
	o.records(ix, true)
	o.upper(&ix.Graph)
	return o.Flush()
}

// WriteKnowhere writes ix as the blob HNSW of Milvus 2.1 to 2.4, in the format of knowhere's fork of hnswlib. The
// ids are the row numbers. For cosine, the norms are written too. It returns an error if ix has labels or deleted
// nodes, or a metric without a code in the format.
func WriteKnowhere(w io.Writer, ix *hnsw.Index) error {
	metric, known := map[engine.Metric]uint64{
		dist.L2: 0, dist.InnerProduct: 1, dist.Cosine: 2, dist.Hamming: 10, dist.Jaccard: 11,
	}[ix.Metric]
	switch {
	case !known:
		return fmt.Errorf("write knowhere index: metric %d has no code in this format", ix.Metric)
	case ix.Labels != nil || ix.Deleted != nil:
		return errors.New("write knowhere index: the format has no labels and no deleted nodes")
	case ix.Metric == dist.Cosine && len(ix.Norms) != ix.Vectors.Rows:
		return fmt.Errorf("write knowhere index: %d norms of %d vectors", len(ix.Norms), ix.Vectors.Rows)
	}
	o := newOutput(w)
	n, size := uint64(ix.Vectors.Rows), ix.Vectors.Size()
	o.u64(metric, uint64(size), uint64(ix.Vectors.Dim))
	o.hnswlibHeader(&ix.Graph, hnswlibHeader{maxElements: n, count: n, size: uint64(4 + 4*ix.M0 + size)})
	o.records(ix, false)
	if ix.Metric == dist.Cosine {
		o.float32s(ix.Norms)
	}
	o.upper(&ix.Graph)
	return o.Flush()
}

// hnswlibHeader writes h, with the fields of the graph filled in.
func (o *output) hnswlibHeader(g *hnsw.Graph, h hnswlibHeader) {
	entry, level := g.Entry, int32(g.MaxLevel)
	if h.count == 0 {
		entry, level = math.MaxUint32, -1
	}
	o.u64(0, h.maxElements, h.count, h.size, h.labelOffset, uint64(4+4*g.M0))
	o.u32(uint32(level), entry)
	o.u64(uint64(g.M), uint64(g.M0), uint64(g.M), math.Float64bits(hnsw.LevelMult(g.M)), uint64(g.EFConstruction))
}

// records writes the level-0 records. Only hnswlib's records have labels.
func (o *output) records(ix *hnsw.Index, labels bool) {
	for i := range ix.Vectors.Rows {
		deleted := uint32(0)
		if ix.Deleted.Has(i) {
			deleted = 1 << 16
		}
		o.slots(ix.Base[i*ix.M0:(i+1)*ix.M0], deleted)
		_, _ = o.Write(ix.Vectors.Row(i))
		switch {
		case !labels:
		case ix.Labels != nil:
			o.u64(uint64(ix.Labels[i]))
		default:
			o.u64(uint64(i))
		}
	}
}

// upper writes, for each node, the length in bytes of its links above level 0, and the links.
func (o *output) upper(g *hnsw.Graph) {
	for i, l := range g.Levels {
		o.u32(uint32(l) * uint32(4+4*g.M))
		for j := range int(l) {
			at := (int(g.UpperAt[i]) + j) * g.M
			o.slots(g.Upper[at:at+g.M], 0)
		}
	}
}

// slots writes a count and all slots: the links, and the low 31 bits of the unused slots.
func (o *output) slots(slots []uint32, flags uint32) {
	n := used(slots)
	b := binary.LittleEndian.AppendUint32(o.scratch[:0], uint32(n)|flags)
	for _, v := range slots {
		b = binary.LittleEndian.AppendUint32(b, v&^hnsw.End)
	}
	o.scratch = b
	_, _ = o.Write(b)
}

// used returns the number of slots that hold links.
func used(slots []uint32) int {
	for i, v := range slots {
		if v&hnsw.End != 0 {
			return i
		}
	}
	return len(slots)
}
