package ivf

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// RaBitQ codes a vector in a bit a dimension, which side of the centroid of its list it is on, and two numbers: Milvus's IVF_RABITQ, whose
// vectors are rotated at random before. It is immutable.
type RaBitQ struct {
	// QueryBits are those of a dimension of a query, where a search names none, in faiss: 0 for queries as they are. In knowhere a search
	// that names none has none, whatever the file says (rbq_bits_query, src/index/ivf/ivf_config.h, v2.6.9).
	QueryBits int

	metric  engine.Metric // L2 or the inner product
	dim     int
	counted bool // knowhere's form
	number  int  // of bits of a dimension
}

// NewRaBitQ returns the codec of vectors of a dimension, by L2 or the inner product, in faiss's form or in knowhere's, which has one more
// number; an error says how they do not fit together.
func NewRaBitQ(m engine.Metric, dim, queryBits int, knowhere bool) (*RaBitQ, error) {
	if dim <= 0 || queryBits < 0 || queryBits > dist.MaxQueryBits {
		return nil, fmt.Errorf("%d dimensions, %d bits for those of a query", dim, queryBits)
	}
	if m != dist.L2 && m != dist.InnerProduct {
		return nil, fmt.Errorf("IVF_RABITQ has no metric %s", m)
	}
	return &RaBitQ{QueryBits: queryBits, metric: m, dim: dim, counted: knowhere, number: 1}, nil
}

// WithBits returns the same of so many bits a dimension, 1 to dist.MaxRaBitQBits, in faiss's form.
func (c *RaBitQ) WithBits(bits int) (*RaBitQ, error) {
	if bits < 1 || bits > dist.MaxRaBitQBits || c.counted {
		return nil, fmt.Errorf("%d bits a dimension: not one of 1 to %d", bits, dist.MaxRaBitQBits)
	}
	own := *c
	own.number = bits
	return &own, nil
}

// Kind is the type of such an index in Milvus's words.
func (c *RaBitQ) Kind() string { return IVFRaBitQ }

// IVFRaBitQ is the type of inverted files of such codes.
const IVFRaBitQ = "IVF_RABITQ"

func (c *RaBitQ) String() string {
	if c.number > 1 {
		return fmt.Sprintf("%d bits a dimension, of what the centroid leaves", c.number)
	}
	return "1 bit a dimension, of what the centroid leaves"
}

// Dim is the dimension of the vectors.
func (c *RaBitQ) Dim() int { return c.dim }

// Bytes is the size of a code.
func (c *RaBitQ) Bytes() int {
	signs := (c.dim + 7) / 8
	switch {
	case c.number > 1:
		return signs + 12 + (c.dim*(c.number-1)+7)/8 + 8
	case c.counted:
		return signs + 12
	}
	return signs + 8
}

// bits are those of a dimension of a query.
func (c *RaBitQ) bits(l engine.Library, asked *int) (int, error) {
	switch {
	case asked != nil && (*asked < 0 || *asked > dist.MaxQueryBits):
		return 0, fmt.Errorf("rbq_bits_query is %d: not one of 0 to %d", *asked, dist.MaxQueryBits)
	case asked != nil:
		return *asked, nil
	case l.Knowhere():
		return 0, nil
	}
	return c.QueryBits, nil
}

// rabitqSlack is by how much of the lengths of a vector and its centroid a dimension may be on the other side, and of themselves the numbers
// of a code may differ: rows were rotated many at once, which rounds otherwise.
const rabitqSlack = 1e-5

// Gives returns what reports whether x, in the list of a centroid, has this code, for one goroutine.
func (c *RaBitQ) Gives() func(code []byte, centroid, x []float32) bool {
	return func(code []byte, centroid, x []float32) bool {
		var left, length, sum, centre float64
		for i, v := range x {
			d := float64(v) - float64(centroid[i])
			left += d * d
			length += float64(v) * float64(v)
			centre += float64(centroid[i]) * float64(centroid[i])
			sum += math.Abs(d)
		}
		slack := rabitqSlack * math.Sqrt(length+centre)
		for i, v := range x {
			if d := float64(v) - float64(centroid[i]); (d > 0) != (code[i>>3]>>(i&7)&1 != 0) && math.Abs(d) > slack {
				return false
			}
		}
		number := func(i int) float64 {
			return float64(math.Float32frombits(binary.LittleEndian.Uint32(code[(c.dim+7)/8+4*i:])))
		}
		whole := length + centre
		first, second := left, left/sum*math.Sqrt(float64(c.dim))
		if c.metric == dist.InnerProduct {
			first -= length
		}
		if math.Abs(number(0)-first) > 10*rabitqSlack*whole {
			return false
		}
		if left >= 100*rabitqSlack*whole && !(math.Abs(number(1)-second) <= 100*rabitqSlack*second) {
			return false
		}
		return c.number == 1 || c.restGives(code[(c.dim+7)/8+12:], centroid, x)
	}
}

func (c *RaBitQ) decoder(x *Index, p dist.Profile) (decoder, error) {
	if x.coarse() != c.metric {
		return nil, fmt.Errorf("codes for %s in an index by %s", c.metric, x.Metric)
	}
	k, err := dist.NewRaBitQ(c.metric, p, c.dim, c.counted)
	if err != nil {
		return nil, err
	}
	k = k.WithBits(c.number)
	return &rabitqDecoder{index: x, own: k.NewQuery(), kernel: k}, nil
}

// rabitqDecoder computes distances as RaBitInvertedListScanner does (faiss/IndexIVFRaBitQ.cpp).
type rabitqDecoder struct {
	index  *Index
	kernel *dist.RaBitQ
	own    *dist.RaBitQQuery
	bits   int // of a dimension of the query
}

func (d *rabitqDecoder) clone() decoder {
	return &rabitqDecoder{index: d.index, kernel: d.kernel, own: d.kernel.NewQuery()}
}

func (d *rabitqDecoder) query(q []float32) { d.own.Load(q) }

func (d *rabitqDecoder) list(i int, _ float32) {
	if len(d.index.Lists[i].IDs) > 0 {
		d.own.Centre(d.index.Centroids.Row(i), d.bits)
	}
}

func (d *rabitqDecoder) scan(codes *engine.Vectors, first int, out []float32) {
	d.own.Scan(unsafe.Add(codes.Base(), first*codes.Stride), uintptr(codes.Stride), out)
}

// quantise says of how many bits the dimensions of later queries are, where the codes are such that it matters.
func (s *Searcher) quantise(asked *int) (err error) {
	if d, ok := s.decoder.(*rabitqDecoder); ok {
		d.bits, err = s.index.Codec.(*RaBitQ).bits(s.options.Library, asked)
	}
	return err
}

// rangesByPlace reports whether filters of ranges mark places in the lists where those of searches mark ids, as they do over IVF_RABITQ in
// knowhere (InvertedListScanner::scan_codes_range, thirdparty/faiss/faiss/IndexIVF.cpp, v2.5.6 and v2.6.9).
func (s *Searcher) rangesByPlace() bool {
	_, ok := s.decoder.(*rabitqDecoder)
	return ok && s.options.Library.Knowhere()
}
