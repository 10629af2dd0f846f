package code

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// Scalar is a type of scalar quantiser, by its number in files (ScalarQuantizer::QuantizerType, faiss/impl/ScalarQuantizer.h).
type Scalar uint8

// The types: so many bits a dimension, in a range that each dimension has of its own or, uniform, all have together; half precision; or whole
// numbers.
const (
	SQ8 Scalar = iota
	SQ4
	SQ8Uniform
	SQ4Uniform
	FP16
	Bytes8
	SQ6
	BF16
	Signed8
	scalars
)

func scalarNames() []string {
	return []string{"SQ8", "SQ4", "SQ8U", "SQ4U", "FP16", "UINT8", "SQ6", "BF16", "INT8"}
}

func (s Scalar) String() string {
	if s >= scalars {
		return fmt.Sprintf("scalar quantiser %d", uint8(s))
	}
	return scalarNames()[s]
}

// bits are those of a dimension.
func (s Scalar) bits() int {
	switch s {
	case SQ4, SQ4Uniform:
		return 4
	case SQ6:
		return 6
	case FP16, BF16:
		return 16
	default:
		return 8
	}
}

// ranges is how many numbers a type is trained to: where ranges begin, and as many widths.
func (s Scalar) ranges(dim int) int {
	switch s {
	case SQ8, SQ4, SQ6:
		return 2 * dim
	case SQ8Uniform, SQ4Uniform:
		return 2
	default:
		return 0
	}
}

// SQ is a scalar quantiser: each dimension is coded by itself. It is immutable.
type SQ struct {
	Type Scalar
	// Low and Span are where the range of each dimension begins and how wide it is: one for all of uniform types, nil of types without ranges.
	Low, Span []float32
	dim       int
}

// NewSQ returns the codec of a type whose ranges are as a file has them; an error says how they do not fit.
func NewSQ(s Scalar, dim int, trained []float32) (*SQ, error) {
	if dim <= 0 || s >= scalars || len(trained) != s.ranges(dim) {
		return nil, fmt.Errorf("%d numbers for %s of %d dimensions", len(trained), s, dim)
	}
	c := &SQ{Type: s, dim: dim}
	if n := len(trained) / 2; n > 0 {
		c.Low, c.Span = trained[:n:n], trained[n:]
	}
	return c, nil
}

// Name is the type of such codes in Milvus's words.
func (c *SQ) Name() string { return "SQ" }

func (c *SQ) String() string {
	switch c.Type {
	case FP16, BF16:
		return c.Type.String() + ": a value of 16 bits a dimension"
	case Bytes8, Signed8:
		return c.Type.String() + ": a whole number of 8 bits a dimension"
	default:
		return fmt.Sprintf("%s: %d bits a dimension", c.Type, c.Type.bits())
	}
}

// Dim is the dimension of the vectors.
func (c *SQ) Dim() int { return c.dim }

// Bytes is the size of a code.
func (c *SQ) Bytes() int { return (c.dim*c.Type.bits() + 7) / 8 }

// Facts are none but what String says.
func (c *SQ) Facts() []Fact { return nil }

// Encode writes to code what faiss's encode_vector does (faiss/impl/scalar_quantizer/quantizers.h and codecs.h).
func (c *SQ) Encode(x []float32, code []byte) {
	clear(code)
	for i, v := range x {
		switch c.Type {
		case FP16:
			binary.LittleEndian.PutUint16(code[2*i:], dist.NarrowFloat16(v))
		case BF16: // encode_bf16, faiss/utils/bf16.h: what is half way is rounded up
			binary.LittleEndian.PutUint16(code[2*i:], uint16((math.Float32bits(v)+0x8000)>>16))
		case Bytes8:
			code[i] = byte(int(v))
		case Signed8:
			code[i] = byte(int(v + 128))
		default:
			u := float32(0)
			if low, span := c.Low[i%len(c.Low)], c.Span[i%len(c.Span)]; span != 0 {
				u = min(max((v-low)/span, 0), 1)
			}
			c.put(code, i, u)
		}
	}
}

// put codes a dimension that is u, from 0 to 1. What is no number is coded as the conversion of x86 has it.
func (c *SQ) put(code []byte, i int, u float32) {
	if u != u {
		u = 0
	}
	switch c.Type {
	case SQ4, SQ4Uniform:
		code[i/2] |= byte(int(float64(u)*15)) << (i & 1 << 2)
	case SQ6:
		bits := uint16(int(float64(u)*63)) << (i & 3 * 6 & 7)
		at := i * 6 / 8
		code[at] |= byte(bits)
		if bits>>8 != 0 {
			code[at+1] |= byte(bits >> 8)
		}
	default:
		code[i] = byte(int(255 * u))
	}
}

// get is the code of a dimension of those that have fewer than 8 bits.
func (c *SQ) get(code []byte, i int) byte {
	bits := c.Type.bits()
	return byte(bitsAt(code, i*bits, bits))
}

// Gives returns what reports whether x has this code, for one goroutine.
func (c *SQ) Gives() func(code []byte, x []float32) bool {
	own := make([]byte, c.Bytes())
	return func(code []byte, x []float32) bool {
		c.Encode(x, own)
		for i := 0; c.Type == FP16 && i < len(x); i++ {
			if away := roundedAway(x[i]); away == binary.LittleEndian.Uint16(code[2*i:]) {
				binary.LittleEndian.PutUint16(own[2*i:], away)
			}
		}
		return slices.Equal(own, code)
	}
}

// roundedAway is the nearest binary16 where what is half way goes away from 0, as encode_fp16 has it where faiss is compiled without F16C
// (faiss/utils/fp16-inl.h).
func roundedAway(x float32) uint16 {
	return dist.NarrowFloat16(math.Float32frombits(math.Float32bits(x)&^0xfff + 1))
}

// NewDecoder returns what computes distances as SQDistanceComputer does (faiss/impl/scalar_quantizer/distance_computers.h; knowhere v2.5.6,
// faiss/impl/ScalarQuantizerCodec_avx512.h).
func (c *SQ) NewDecoder(m engine.Metric, p dist.Profile) (Decoder, error) {
	d, err := c.decoder(m, p)
	if err != nil || len(c.Low) != 1 || p == dist.Knowhere25 || c.dim%8 != 0 {
		return d, err
	}
	raw := &SQ{Type: c.Type, Low: []float32{0}, Span: []float32{1}, dim: c.dim}
	u := &uniform{codec: c, l2: m == dist.L2, four: d, query: make([]float32, c.dim)}
	if u.one, err = raw.decoder(m, p); u.l2 && c.Type == SQ4Uniform && c.dim%16 != 0 {
		u.one = &nibbles{codec: raw, query: make([]float32, c.dim), row: make([]byte, c.dim+8)}
	}
	return u, err
}

func (c *SQ) decoder(m engine.Metric, p dist.Profile) (Decoder, error) {
	switch c.Type {
	case SQ8, SQ8Uniform, SQ4, SQ4Uniform, SQ6:
		low, span := c.ranges()
		k, err := dist.NewSQ(c.Type.bits(), m, p, low, span)
		if err != nil {
			return nil, err
		}
		if c.Type.bits() == 8 {
			return &sq8{k.NewQuery()}, nil
		}
		return &packed{codec: c, query: k.NewQuery(), row: dist.Aligned(c.dim + 8)}, nil
	case FP16, BF16:
		e := dist.Float16
		if c.Type == BF16 {
			e = dist.BFloat16
		}
		k, err := dist.NewHalf(m, e, p, c.dim)
		return &plain{kernel: k, query: dist.Aligned(4 * c.dim)}, err
	default:
		if p != dist.Knowhere25 && c.dim%32 == 0 {
			return &whole{l2: m == dist.L2, signed: c.Type == Signed8, query: make([]int32, c.dim)}, nil
		}
		k, err := dist.NewDecoded(m, p, c.dim)
		return &decoded{codec: c, kernel: k, query: dist.Aligned(4 * c.dim), row: dist.Aligned(4 * c.dim)}, err
	}
}

// ranges are those of each dimension.
func (c *SQ) ranges() (low, span []float32) {
	if len(c.Low) == c.dim {
		return c.Low, c.Span
	}
	return slices.Repeat(c.Low, c.dim), slices.Repeat(c.Span, c.dim)
}

// packed is the decoder of fewer than 8 bits a dimension, which are put into bytes before they are compared.
type packed struct {
	codec *SQ
	query *dist.SQ8Query
	row   []byte
}

func (d *packed) Load(q []float32) { copy(d.query.Floats(), q) }

func (d *packed) Gather(base unsafe.Pointer, stride uintptr, ids []uint32, out []float32, _ int) {
	size := d.codec.Bytes()
	row := unsafe.Pointer(unsafe.SliceData(d.row))
	for i, id := range ids {
		d.codec.unpack(at(base, stride, id, size), d.row)
		d.query.Scan(row, 0, out[i:i+1])
	}
}

// unpack writes the codes of all dimensions to row, a byte each; row has 8 bytes more.
func (c *SQ) unpack(code, row []byte) {
	i := 0
	if c.Type == SQ6 {
		for ; i+4 <= c.dim; i, code = i+4, code[3:] {
			v := uint32(code[0]) | uint32(code[1])<<8 | uint32(code[2])<<16
			binary.LittleEndian.PutUint32(row[i:], v&63|v<<2&(63<<8)|v<<4&(63<<16)|v<<6&(63<<24))
		}
	} else {
		for ; i+8 <= c.dim; i, code = i+8, code[4:] {
			v := uint64(binary.LittleEndian.Uint32(code))
			v = (v | v<<16) & 0x0000ffff0000ffff
			v = (v | v<<8) & 0x00ff00ff00ff00ff
			binary.LittleEndian.PutUint64(row[i:], (v|v<<4)&0x0f0f0f0f0f0f0f0f)
		}
	}
	for j := 0; i+j < c.dim; j++ {
		row[i+j] = c.get(code, j)
	}
}

// sq8 is the decoder of a byte a dimension.
type sq8 struct{ query *dist.SQ8Query }

func (d *sq8) Load(q []float32) { copy(d.query.Floats(), q) }

func (d *sq8) Gather(base unsafe.Pointer, stride uintptr, ids []uint32, out []float32, _ int) {
	d.query.Gather(base, stride, ids, out)
}

// decoded decodes each row of whole numbers before it is compared.
type decoded struct {
	codec      *SQ
	kernel     *dist.Kernel
	query, row []byte
}

func (d *decoded) Load(q []float32) { copy(dist.Floats(d.query), q) }

func (d *decoded) Gather(base unsafe.Pointer, stride uintptr, ids []uint32, out []float32, _ int) {
	bias, row := 0, dist.Floats(d.row)
	if d.codec.Type == Signed8 {
		bias = 128
	}
	for i, id := range ids {
		for j, v := range at(base, stride, id, len(row)) {
			row[j] = float32(int(v) - bias)
		}
		out[i] = d.kernel.One(unsafe.Pointer(unsafe.SliceData(d.query)), unsafe.Pointer(unsafe.SliceData(d.row)))
	}
}

// whole compares whole numbers, to which faiss cuts the query at dimensions that are multiples of 32 (DistanceComputerByte and
// DistanceComputerByteSigned, faiss/impl/scalar_quantizer/sq-avx512-impl.h and sq-avx512.cpp).
type whole struct {
	l2, signed bool
	query      []int32
}

func (d *whole) Load(q []float32) {
	for i, v := range q {
		if d.signed {
			d.query[i] = int32(byte(int32(v)+128)) - 128
		} else {
			d.query[i] = int32(byte(int32(v)))
		}
	}
}

func (d *whole) Gather(base unsafe.Pointer, stride uintptr, ids []uint32, out []float32, _ int) {
	bias := int32(0)
	if d.signed {
		bias = 128
	}
	for i, id := range ids {
		var sum int32
		for j, v := range at(base, stride, id, len(d.query)) {
			if q, x := d.query[j], int32(v)-bias; d.l2 {
				sum += (q - x) * (q - x)
			} else {
				sum += q * x
			}
		}
		out[i] = float32(sum)
	}
}
