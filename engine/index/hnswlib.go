package index

import (
	"fmt"
	"math"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/hnsw"
)

// hnswlibHeader is the header of hnswlib's file. It has neither magic nor version, so it is recognized by its
// sizes, which depend on each other.
// Source: hnswlib 0.8.0, hnswlib/hnswalg.h, HierarchicalNSW::saveIndex.
type hnswlibHeader struct {
	offsetLevel0   uint64
	maxElements    uint64
	count          uint64
	size           uint64 // of a level-0 record
	labelOffset    uint64
	dataOffset     uint64
	maxLevel       int32
	entry          uint32
	maxM           uint64
	maxM0          uint64
	m              uint64
	mult           float64
	efConstruction uint64
}

// hnswlibHeaderBytes is the size of the header in the file.
const hnswlibHeaderBytes = 96

// Offsets of the header fields that are checked against the rest of the file.
const (
	hnswlibCountAt = 16
	hnswlibLevelAt = 48
	hnswlibEntryAt = 52
)

// maxM bounds the links of a node, because their count is a u16 in the file.
const maxM = math.MaxUint16

func readHNSWLibHeader(c *cursor) hnswlibHeader {
	return hnswlibHeader{
		offsetLevel0:   c.u64("offsetLevel0"),
		maxElements:    c.u64("max_elements"),
		count:          c.u64("cur_element_count"),
		size:           c.u64("size_data_per_element"),
		labelOffset:    c.u64("label_offset"),
		dataOffset:     c.u64("offset_data"),
		maxLevel:       c.i32("maxlevel"),
		entry:          c.u32("enterpoint_node"),
		maxM:           c.u64("maxM"),
		maxM0:          c.u64("maxM0"),
		m:              c.u64("M"),
		mult:           math.Float64frombits(c.u64("mult")),
		efConstruction: c.u64("ef_construction"),
	}
}

// consistent reports whether the link fields of the header agree with each other. It applies to hnswlib's header
// and to its copy in knowhere's header.
func (h *hnswlibHeader) consistent() bool {
	return h.offsetLevel0 == 0 && h.maxM > 0 && h.maxM0 > 0 && h.maxM <= maxM && h.maxM0 <= maxM &&
		h.m == h.maxM && h.maxM0 == 2*h.maxM && h.dataOffset == 4+4*h.maxM0 && h.maxLevel >= -1
}

// sniffHNSWLib reports whether data begins with a header of hnswlib.
func sniffHNSWLib(data []byte) bool {
	if len(data) < hnswlibHeaderBytes {
		return false
	}
	h := readHNSWLibHeader(&cursor{data: data})
	return h.consistent() && h.labelOffset > h.dataOffset && h.labelOffset < math.MaxInt32 && h.size == h.labelOffset+8
}

// readHNSWLib reads a file of hnswlib. The metric comes from the hint, because the file has none. For cosine,
// hnswlib's Python bindings store normalized vectors and search by inner product.
func readHNSWLib(c *cursor, hint Hint) (*File, error) {
	h := readHNSWLibHeader(c)
	vector := int(h.labelOffset - h.dataOffset)
	c.expect(vector%4 == 0, hnswlibHeaderBytes-32, "vectors of 4 bytes a dimension", "vectors of %d bytes", vector)
	c.expect(hint.Dim == 0 || vector == 4*hint.Dim, hnswlibHeaderBytes-32,
		fmt.Sprintf("vectors of %d dimensions", hint.Dim), "vectors of %d bytes", vector)
	r := records{
		n: nodes(c, &h, hnswlibCountAt), dim: vector / 4, element: dist.Float32, m: int(h.maxM), m0: int(h.maxM0),
		size: int(h.size), vector: int(h.dataOffset), label: int(h.labelOffset), deleted: true, at: c.at,
	}
	c.expect(h.efConstruction <= math.MaxInt32, 8, "an ef_construction", "%d", h.efConstruction)
	if c.err != nil {
		return nil, c.err
	}
	ix := &hnsw.Index{Metric: hint.Metric, Graph: hnsw.Graph{MaxElements: clampInt(h.maxElements)}}
	f := &File{Format: HNSWLib, Metric: hint.Metric, Dim: r.dim, Rows: r.n, Searchable: FromGraph(ix)}
	f.part("header", 0, hnswlibHeaderBytes)
	f.part("links", r.at, r.n*r.vector)
	f.part("vectors", r.at+r.vector, r.n*vector)
	f.part("labels", r.at+r.label, r.n*8)
	if err := r.read(c, &h, ix, f, nil); err != nil {
		return nil, err
	}
	return f, checkEntry(&ix.Graph, hnswlibEntryAt, hnswlibLevelAt)
}

// read reads the rest of the file after the header: the level-0 records, the fields that between reads, the upper
// links, and the end of the file.
func (r *records) read(c *cursor, h *hnswlibHeader, ix *hnsw.Index, f *File, between func()) error {
	ix.EFConstruction, ix.MaxLevel, ix.Entry = int(h.efConstruction), int(h.maxLevel), h.entry
	c.at += r.n * r.size
	if between != nil {
		between()
	}
	at := c.at
	r.m, r.m0 = int(h.maxM), int(h.maxM0)
	r.upper(c, &ix.Graph)
	c.end()
	if c.err != nil {
		return c.err
	}
	f.part("upper links", at, c.at-at)
	return r.load(c, ix)
}

// nodes returns the number of nodes, whose field is at offset at, after checking that their records are present.
func nodes(c *cursor, h *hnswlibHeader, at int) int {
	if c.err != nil {
		return 0
	}
	room := min(uint64(c.left())/max(h.size, 1), h.maxElements, maxNodes)
	if h.count > room {
		c.fail(at,
			fmt.Sprintf("at most %d nodes, by max_elements and %d bytes each to the end of the file", room, h.size),
			"%d", h.count)
		return 0
	}
	return int(h.count)
}

// clampInt returns v, or the largest int if v is larger.
func clampInt(v uint64) int { return int(min(v, math.MaxInt)) }

// metricOf returns the metric for a number that knowhere's fork of hnswlib stores.
// Source: knowhere v2.2.3, thirdparty/hnswlib/hnswlib/hnswlib.h, Metric.
func metricOf(v uint64) (engine.Metric, bool) {
	switch v {
	case 0:
		return dist.L2, true
	case 1:
		return dist.InnerProduct, true
	case 2:
		return dist.Cosine, true
	case 10:
		return dist.Hamming, true
	case 11:
		return dist.Jaccard, true
	default:
		return 0, false
	}
}
