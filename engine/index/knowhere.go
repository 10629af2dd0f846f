package index

import (
	"fmt"
	"math"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/hnsw"
)

// The blob HNSW of Milvus 2.1 to 2.4 has three fields before hnswlib's header: metric, bytes of a vector, and
// dimension. It has no labels. For cosine, the norms of the vectors are between the records and the upper links.
// label_offset is never set.
// Source: knowhere v2.2.3 and v2.3.12, thirdparty/hnswlib/hnswlib/hnswalg.h, saveIndex.
const (
	knowhereHeaderBytes = 24 + hnswlibHeaderBytes
	knowhereDimAt       = 16
	knowhereCountAt     = 24 + hnswlibCountAt
	knowhereSizeAt      = 24 + 24
)

// knowhereSQ8 is the index type that stores its quantizer's alpha after the dimension.
const knowhereSQ8 = "HNSW_SQ8"

// sniffKnowhere reports whether data begins with a header of the blob HNSW, and whether its vectors are quantized.
// A quantized blob has four bytes (alpha) after the dimension.
func sniffKnowhere(data []byte) (found, quantised bool) {
	for _, skip := range []int{0, 4} {
		if len(data) < knowhereHeaderBytes+skip {
			break
		}
		c := cursor{data: data}
		metric, size, dim := c.u64(""), c.u64(""), c.u64("")
		c.at += skip
		h := readHNSWLibHeader(&c)
		if _, ok := metricOf(metric); ok && h.consistent() && size > 0 && size <= math.MaxInt32 && dim > 0 {
			return true, skip > 0
		}
	}
	return false, false
}

// readKnowhere reads the blob of an HNSW index. Internal ids are offsets in the segment, i.e. row numbers. For
// cosine, the vectors are stored as inserted, and their norms are stored separately.
func readKnowhere(c *cursor, hint Hint) (*File, error) {
	r, h, metric := knowhereRecords(c, hint)
	if c.err != nil {
		return nil, c.err
	}
	size := r.size - r.vector
	if p := hint.split; p != nil && p.blob == &c.data[0] && p.r == r {
		r.split = p
	}
	ix := &hnsw.Index{Metric: metric}
	f := &File{
		Format: KnowhereHNSW, Metric: metric, MetricKnown: true, Dim: r.dim, Rows: r.n, Searchable: FromGraph(ix),
	}
	f.part("header", 0, knowhereHeaderBytes)
	f.part("links", r.at, r.n*r.vector)
	f.part("vectors", r.at+r.vector, r.n*size)
	norms := func() {
		if metric == dist.Cosine {
			f.part("norms", c.at, 4*r.n)
			ix.Norms = float32s(c.array(uint64(r.n), 4, "norms"))
		}
	}
	if err := r.read(c, &h, ix, f, norms); err != nil {
		return nil, err
	}
	return f, checkEntry(&ix.Graph, 24+hnswlibEntryAt, 24+hnswlibLevelAt)
}

// knowhereRecords reads the headers before the records, and returns the layout of the records.
func knowhereRecords(c *cursor, hint Hint) (records, hnswlibHeader, engine.Metric) {
	metric, _ := metricOf(c.u64("metric"))
	size, dim := c.u64("data_size"), c.u64("dim")
	h := readHNSWLibHeader(c)
	element := knowhereElement(c, metric, size, dim, hint.Element)
	c.expect(hint.Dim == 0 || dim == uint64(hint.Dim), knowhereHeaderBytes-knowhereDimAt,
		fmt.Sprintf("vectors of %d dimensions", hint.Dim), "%d", dim)
	r := records{
		n: nodes(c, &h, knowhereCountAt), dim: int(dim), element: element, m: int(h.maxM), m0: int(h.maxM0),
		size: int(h.size), vector: int(h.dataOffset), at: c.at,
	}
	c.expect(h.size == h.dataOffset+size, knowhereHeaderBytes-knowhereSizeAt,
		fmt.Sprintf("a record of %d bytes", h.dataOffset+size), "%d", h.size)
	c.expect(h.efConstruction <= math.MaxInt32, 8, "an ef_construction", "%d", h.efConstruction)
	return r, h, metric
}

// knowhereElement derives the element type from the size of a vector in bytes.
func knowhereElement(c *cursor, metric engine.Metric, size, dim uint64, hint dist.Element) dist.Element {
	bits := metric == dist.Hamming || metric == dist.Jaccard
	switch {
	case c.err != nil || dim == 0 || dim > math.MaxInt32: // refused below
	case bits && dim%8 == 0 && size == dim/8:
		return dist.Bit
	case bits: // no other element has these metrics
	case size == 4*dim:
		return dist.Float32
	case size == 2*dim && (hint == dist.Float16 || hint == dist.BFloat16):
		return hint
	case size == 2*dim:
		c.fail(8, "a hint: float16 or bfloat16 for 2 bytes per dimension", "no hint")
	case size == dim && hint == dist.Int8:
		return hint
	case size == dim:
		c.fail(8, "a hint: int8 for a byte per dimension", "no hint")
	}
	c.fail(8, fmt.Sprintf("the bytes of a vector of %d dimensions", dim), "%d", size)
	return 0
}
