package dist

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"unsafe"
)

// RaBitQ computes distances between a query and vectors of which a bit is kept for each dimension, whether they are beyond the centroid of
// their list there, and two numbers: the signs, eight to a byte, then float32 numbers. Bits are those of faiss, or of knowhere, on a CPU with
// AVX-512. It is immutable.
//
// Sources: faiss 1.15.1, faiss/impl/RaBitQuantizer.cpp, RaBitQUtils.cpp and utils/simd_impl/rabitq_avx512.cpp; knowhere v2.5.6 to v2.6.9,
// thirdparty/faiss/faiss/impl/RaBitQuantizer.cpp and src/simd/distances_avx512.cc. Neither is compiled with FMA there.
type RaBitQ struct {
	dim int
	l2  bool
	// counted: behind the two numbers is how many signs are set. It is knowhere's, which has some roundings of its own.
	counted bool
	more    int     // bits of a dimension beside its sign, see WithBits
	whole   *Kernel // of squared distances to centroids
	product *Kernel // of inner products with them
	native  rabitqKernels
}

// rabitqKernels are the generated kernels of a back end; nil ones are left to the specification.
type rabitqKernels struct {
	// left writes what is left of a query without a centroid, and the least and the greatest of it to ends, if they are beyond these.
	left func(q *RaBitQQuery, centroid []byte, ends *[2]float32)
	// quantise makes values and planes of what is left, and returns the sum of the values.
	quantise func(q *RaBitQQuery, low, scale float32, most int) uint64
	// scan writes for each of the codes at x what lies before a metric's last step.
	scan func(q *RaBitQQuery, x unsafe.Pointer, stride uintptr, out []float32)
	// lanes and turns write the sums of those of left whose signs are set: in 16 lanes, or one after the other.
	lanes, turns func(q *RaBitQQuery, x unsafe.Pointer, stride uintptr, out []float32)
}

// MaxQueryBits is the most bits that a dimension of a query has.
const MaxQueryBits = 8

// rabitqChunk is of how many bytes of signs the planes of a query lie together.
const rabitqChunk = 16

// NewRaBitQ returns the kernels for vectors of a dimension, on the best back end of this CPU.
func NewRaBitQ(m Metric, p Profile, dim int, counted bool) (*RaBitQ, error) {
	backends := Backends()
	return newRaBitQ(backends[len(backends)-1], m, p, dim, counted)
}

func newRaBitQ(b Backend, m Metric, p Profile, dim int, counted bool) (*RaBitQ, error) {
	if m != L2 && m != InnerProduct {
		return nil, fmt.Errorf("no metric %s for vectors of a bit a dimension", m)
	}
	whole, err := New(L2, Float32, p, dim)
	if err != nil {
		return nil, err
	}
	product, err := New(InnerProduct, Float32, p, dim)
	if err != nil {
		return nil, err
	}
	return &RaBitQ{dim: dim, l2: m == L2, counted: counted, whole: whole, product: product, native: rabitqNative(b)}, nil
}

// Signs is how many bytes the signs of a code take.
func (k *RaBitQ) Signs() int { return (k.dim + 7) / 8 }

// Bytes is the size of a code.
func (k *RaBitQ) Bytes() int {
	switch {
	case k.more > 0:
		at, n := k.rest()
		return at + n + 8
	case k.counted:
		return k.Signs() + 12
	}
	return k.Signs() + 8
}

// RaBitQQuery is a query against the codes of one list at a time, for one goroutine.
type RaBitQQuery struct {
	kernel *RaBitQ
	x      []byte    // the query
	square float32   // of its length, under the inner product
	left   []float32 // of the query, without the centroid
	values []byte    // of left, quantised
	planes []byte    // of the bits of values: of each chunk of signs, slots planes
	bits   int       // of a value; 0: left is taken as it is
	slots  int
	// factors are what the count of bits is multiplied by, what that of signs, what is taken off, and the squared distance to the centroid.
	factors [4]float32
	// reach is the distance to the centroid, and product that with it, where there are more bits than signs.
	reach, product float32
}

// NewQuery returns a query, to be filled by Load and Centre.
func (k *RaBitQ) NewQuery() *RaBitQQuery {
	chunks := (k.Signs() + rabitqChunk - 1) / rabitqChunk
	padded := 8 * rabitqChunk * chunks // a whole number of vectors
	return &RaBitQQuery{
		kernel: k, x: Aligned(4 * k.dim), left: Floats(Aligned(4 * padded)), values: make([]byte, padded),
		planes: Aligned(MaxQueryBits * rabitqChunk * chunks),
	}
}

// Load takes a query.
func (q *RaBitQQuery) Load(x []float32) {
	copy(Floats(q.x), x)
	switch {
	case q.kernel.l2:
	case q.kernel.counted:
		q.square = KnowhereNorm2(x)
	default:
		q.square = q.kernel.whole.SquaredNorm(q.at())
	}
}

// KnowhereNorm2 is the sum of squares of x as knowhere 2.5 and 2.6 add it up with AVX-512 (fvec_norm_L2sqr_avx512,
// src/simd/distances_avx512.cc, v2.5.6).
func KnowhereNorm2(x []float32) float32 {
	return halfOrder{lanes: 16, accs: 2, fused: true}.sum(len(x), func(i int) (float32, float32) { return x[i], x[i] })
}

func (q *RaBitQQuery) at() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(q.x)) }

// Centre readies the query for the codes of the list that has a centroid, which is a row of float32: what is left of the query without the
// centroid, of so many bits a dimension, or as it is for none.
func (q *RaBitQQuery) Centre(centroid []byte, bits int) {
	k := q.kernel
	q.bits = bits
	q.factors[3] = k.whole.One(q.at(), unsafe.Pointer(unsafe.SliceData(centroid)))
	if k.more > 0 {
		q.centreMore(centroid)
	}
	left, ends := q.left[:k.dim], [2]float32{math.MaxFloat32, -math.MaxFloat32}
	if k.native.left != nil {
		k.native.left(q, centroid, &ends)
	} else {
		q.without(centroid, &ends)
	}
	unit := 1 / float32(math.Sqrt(float64(float32(k.dim))))
	if bits == 0 {
		sum := float32(0)
		for _, v := range left {
			sum += v
		}
		q.factors[0], q.factors[1], q.factors[2] = 2*unit, 0, float32(sum*unit)
		return
	}
	low, most := ends[0], 1<<bits-1
	step := (ends[1] - low) / float32(most)
	sum := q.quantise(low, step, most)
	q.factors[0], q.factors[1] = float32(2*step*unit), float32(2*low*unit)
	q.factors[2] = float32(unit * (float32(step*float32(sum)) + float32(float32(k.dim)*low)))
}

// without writes what is left of the query without a centroid, and its ends.
func (q *RaBitQQuery) without(centroid []byte, ends *[2]float32) {
	for i, v := range Floats(q.x) {
		v -= math.Float32frombits(binary.LittleEndian.Uint32(centroid[4*i:]))
		q.left[i] = v
		if v < ends[0] {
			ends[0] = v
		}
		if ends[1] < v {
			ends[1] = v
		}
	}
}

// quantise makes the planes of what is left, and returns the sum of the values.
func (q *RaBitQQuery) quantise(low, step float32, most int) uint64 {
	k := q.kernel
	q.slots = 4
	if q.bits > 4 {
		q.slots = MaxQueryBits
	}
	if !(step > 0) {
		clear(q.planes)
		return 0
	}
	scale := 1 / step
	if k.native.quantise != nil {
		return k.native.quantise(q, low, scale, most)
	}
	sum := uint64(0)
	for i, v := range q.left[:k.dim] {
		var value int
		if k.counted {
			value = roundAway((v-low)*scale, most)
		} else {
			value = roundUp(rabitqScaled(v, low, scale, i < k.dim&^15), most)
		}
		q.values[i] = byte(value)
		sum += uint64(value)
	}
	clear(q.planes)
	for i, value := range q.values[:k.dim] {
		for p := range q.bits {
			at := (i/8/rabitqChunk*q.slots+p)*rabitqChunk + i/8%rabitqChunk
			q.planes[at] |= value >> p & 1 << (i & 7)
		}
	}
	return sum
}

// rabitqScaled is where in the range of values v lies: fused where there are 16 together.
func rabitqScaled(v, low, scale float32, fused bool) float32 {
	if fused {
		return fusedAdd(v, scale, -float32(low*scale))
	}
	return (v - low) * scale
}

// roundUp is faiss's rounding: a half is added, and the rest cut off.
func roundUp(x float32, most int) int {
	switch {
	case !(x > 0):
		return 0
	case x >= float32(most):
		return most
	default:
		return int(x + 0.5)
	}
}

// roundAway is knowhere's: to the nearest, of two the greater.
func roundAway(x float32, most int) int {
	n := math.Floor(float64(x) + 0.5)
	return int(min(max(n, 0), float64(most)))
}

// Scan writes to out[i] the distance of the query to the i-th code at x, stride bytes apart.
func (q *RaBitQQuery) Scan(x unsafe.Pointer, stride uintptr, out []float32) {
	k := q.kernel
	switch {
	case len(out) == 0:
		return
	case q.bits == 0:
		q.sums(x, stride, out)
		for i, sum := range out {
			out[i] = q.before(unsafe.Slice((*byte)(unsafe.Add(x, uintptr(i)*stride)), k.Bytes()), sum, 0)
		}
	case k.native.scan != nil:
		k.native.scan(q, x, stride, out)
	default:
		for i := range out {
			code := unsafe.Slice((*byte)(unsafe.Add(x, uintptr(i)*stride)), k.Bytes())
			dot, count := q.count(code[:k.Signs()])
			out[i] = q.before(code, float32(dot), float32(count))
		}
	}
	q.after(out)
}

// count is the product of the values with signs, and how many of these are set.
func (q *RaBitQQuery) count(signs []byte) (dot, count int) {
	for i := 0; i < len(signs); i += 8 {
		var word uint64
		if rest := signs[i:]; len(rest) >= 8 {
			word = binary.LittleEndian.Uint64(rest)
		} else {
			for j, b := range rest {
				word |= uint64(b) << (8 * j)
			}
		}
		count += bits.OnesCount64(word)
		own := q.planes[i/rabitqChunk*q.slots*rabitqChunk+i%rabitqChunk:]
		for p := range q.bits {
			dot += bits.OnesCount64(word&binary.LittleEndian.Uint64(own[p*rabitqChunk:])) << p
		}
	}
	return dot, count
}

// before is what lies before a metric's last step.
func (q *RaBitQQuery) before(code []byte, dot, count float32) float32 {
	k, f := q.kernel, &q.factors
	numbers := code[k.Signs():]
	number := func(i int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(numbers[4*i:])) }
	if k.counted {
		count = number(2)
	}
	final := float32(f[0]*dot) + float32(f[1]*count) - f[2]
	return number(0) + f[3] - float32(2*number(1)*final)
}

// after makes distances: faiss has none below 0, knowhere has.
func (q *RaBitQQuery) after(out []float32) {
	switch k := q.kernel; {
	case !k.l2:
		for i, d := range out {
			out[i] = -0.5 * (d - q.square)
		}
	case !k.counted:
		for i, d := range out {
			if !(d > 0) {
				out[i] = 0
			}
		}
	}
}

// sums writes the sums of those dimensions of what is left whose signs are set: knowhere's in 16 lanes, folded in halves, faiss's one after
// the other.
func (q *RaBitQQuery) sums(x unsafe.Pointer, stride uintptr, out []float32) {
	k := q.kernel
	left := q.left[:k.dim]
	switch {
	case k.counted && k.native.lanes != nil:
		k.native.lanes(q, x, stride, out)
		return
	case !k.counted && k.native.turns != nil:
		k.native.turns(q, x, stride, out)
		return
	}
	for i := range out {
		signs := unsafe.Slice((*byte)(unsafe.Add(x, uintptr(i)*stride)), k.Signs())
		if !k.counted {
			out[i] = sumInTurn(left, signs)
			continue
		}
		var acc [16]float32
		for j, v := range left {
			if signs[j>>3]>>(j&7)&1 != 0 {
				acc[j&15] += v
			}
		}
		fold(acc[:])
		fold(acc[:8])
		out[i] = (acc[0] + acc[2]) + (acc[1] + acc[3])
	}
}

// sumInTurn adds up those of x whose signs are set.
func sumInTurn(x []float32, signs []byte) (sum float32) {
	for i, b := range signs {
		own := x[8*i : min(8*i+8, len(x))]
		for set := b & byte(1<<len(own)-1); set != 0; set &= set - 1 {
			sum += own[bits.TrailingZeros8(set)]
		}
	}
	return sum
}
