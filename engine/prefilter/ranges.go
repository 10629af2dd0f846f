package prefilter

import (
	"errors"
	"fmt"
	"math"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// Ranges defines the values of rows with one byte per dimension: code c of dimension i represents Low[i] +
// Span[i]*(c+0.5)/255 (faiss's scalar quantizer QT_8bit, dist.SQ8). Such codes are used unchanged.
type Ranges struct {
	Low, Span []float32
	// Centres holds one row per part, which was subtracted from vectors before they were encoded; nil for none.
	Centres *engine.Vectors
}

// valueError is more than the rounding error between a library's value of a code and its exact value, relative to
// the sizes of low and span: three errors of 2^-24 each in the fraction, and one in the sum.
const valueError = 0x1p-21

// residuals holds data on parts whose centres were subtracted.
type residuals struct {
	centre       []float64 // value of code 0 of the residuals
	square, norm float64   // of centre
	parts        []partCentre
	radius       float64 // no row is farther than this from centre
}

// partCentre describes the centre of a part.
type partCentre struct {
	product float64 // inner product with residuals.centre
	norm    float64 // NaN or large if no bound holds
}

// Fits returns an error unless codes with these ranges can be used under a metric.
func (r *Ranges) Fits(m engine.Metric) error {
	low, ok := normOf(r.Low)
	span, fine := normOf(r.Span)
	switch {
	case m > dist.Cosine:
		return errors.New("codes are for l2, ip and cosine")
	case len(r.Low) > maxDim:
		return fmt.Errorf("%d dimensions: more than %d", len(r.Low), maxDim)
	case !ok || !fine || low+span >= maxNorm:
		return fmt.Errorf("codes are for ranges of numbers below %g", float64(maxNorm))
	}
	return nil
}

// FromCodes returns Codes for rows that are codes already, with one byte per dimension, in parts as for Encode. If
// centres were subtracted, a query has to be moved from part to part (see Query.SetPart).
func FromCodes(parts []*engine.Vectors, r Ranges, m engine.Metric, threads int) (*Codes, error) {
	if err := r.Fits(m); err != nil {
		return nil, err
	}
	t := &codeEncoder{Ranges: r, parts: parts, loss: r.loss()}
	t.codes = &Codes{metric: m, scale: r.scale()}
	if r.Centres != nil {
		t.shift()
	}
	if err := t.codes.allocGroups(parts, len(r.Low)); err != nil {
		return nil, err
	}
	t.codes.encodeAll(parts, threads, t.encoder)
	return t.codes, nil
}

// scale returns the scale of codes minus 128.
func (r *Ranges) scale() *scale {
	s := &scale{centre: make([]float64, len(r.Low)), step: make([]float64, len(r.Low))}
	for i, low := range r.Low {
		span := float64(r.Span[i])
		s.centre[i], s.step[i] = float64(low)+span*(128.5/255), span/255
	}
	s.norm = lengthOf(s.centre)
	return s
}

// loss returns a bound on the distance between a library's value of a row and the value of its codes.
func (r *Ranges) loss() float64 {
	square := 0.0
	for i, low := range r.Low {
		d := math.Abs(float64(low)) + math.Abs(float64(r.Span[i]))
		square += d * d
	}
	return valueError*math.Sqrt(square) + underflowError
}

// codeEncoder builds Codes from rows that are codes already.
type codeEncoder struct {
	Ranges
	parts []*engine.Vectors
	codes *Codes
	loss  float64
	mean  []float64 // L2: mean of the centres, subtracted from each centre and from queries; nil otherwise
}

// shift prepares for rows whose centres were subtracted. Under L2, it makes queries relative to the mean of the
// centres. Queries are near the mean, so rounding loses little.
func (t *codeEncoder) shift() {
	s := t.codes.scale
	r := &residuals{
		centre: s.centre, norm: s.norm, square: s.norm * s.norm, parts: make([]partCentre, t.Centres.Rows),
		radius: 128 * lengthOf(s.step),
	}
	t.codes.residuals = r
	mean, n := make([]float64, len(s.centre)), 0.0
	for i := range r.parts {
		p := &r.parts[i]
		centre := t.Centres.Float32(i)
		var ok bool
		if p.norm, ok = normOf(centre); !ok {
			continue
		}
		n++
		for j, c := range centre {
			p.product += float64(c) * r.centre[j]
			mean[j] += (float64(c) - mean[j]) / n
		}
	}
	if t.codes.metric != dist.L2 {
		return
	}
	t.mean = mean
	s.centre = make([]float64, len(mean))
	for j, m := range mean {
		s.centre[j] = m + r.centre[j]
	}
	s.norm = lengthOf(s.centre)
}

func lengthOf(x []float64) float64 {
	square := 0.0
	for _, v := range x {
		square += v * v
	}
	return math.Sqrt(square)
}

// encoder returns a function that takes rows one by one, for Codes.encodeAll.
func (t *codeEncoder) encoder() func(part, row, at int) float64 {
	step := t.codes.scale.step
	with, length, own := make([]float64, len(step)), 0.0, -1
	return func(part, row, at int) float64 {
		if part != own {
			own = part
			length = t.partVector(part, with)
			for j, s := range step {
				with[j] *= s
			}
		}
		return t.encodeRow(t.parts[part].Row(row), at, with, length)
	}
}

// partVector writes to v the vector whose product with the codes of a part is added to the numbers of its rows, and
// returns its norm. Under L2 this is the centre of the part relative to the mean; otherwise it is the value of
// code 0. Under L2 without centres, v is unchanged and the norm is 0.
func (t *codeEncoder) partVector(part int, v []float64) float64 {
	switch {
	case t.codes.metric != dist.L2:
		copy(v, t.codes.scale.centre)
	case t.mean != nil:
		for j, c := range t.Centres.Float32(part) {
			v[j] = float64(c) - t.mean[j]
		}
	default:
		return 0
	}
	return lengthOf(v)
}

// encodeRow copies the codes of a row to its place, writes its numbers, and returns the squared norm of the codes. with
// is the vector from beside times the steps, and length is the vector's norm without the steps.
func (t *codeEncoder) encodeRow(row []byte, at int, with []float64, length float64) float64 {
	c := t.codes
	to, pitch := c.place(at)
	for j := 0; j < len(row); j += 4 {
		var word [4]byte
		copy(word[:], row[j:])
		copy(to[j*pitch:], word[:])
	}
	kept, cross, codes := products(row, c.scale.step, with)
	norm := math.Sqrt(kept)
	rounded := sumError * length * norm
	if c.metric == dist.L2 {
		if c.residuals != nil { // errors of the centre and the mean
			rounded += sumError * 0x1p-10 * (c.scale.norm + c.residuals.norm + length) * norm
		}
		c.a[at] = down(kept*(1-slack) + 2*cross - slack*2*math.Abs(cross) - 2*rounded - t.loss*t.loss*(1+slack))
		c.b[at] = up(t.loss)
		return codes
	}
	whole := math.Sqrt(max(0, length*length+2*cross+kept)+sumError*(length*length+kept)) + t.loss
	c.a[at], c.b[at] = float32(whole), up(t.loss+c.gamma()*whole+slack*norm)
	return codes
}

// products returns the sum of squares of the codes times their steps, the inner product of the codes with v,
// and the sum of squares of the codes.
func products(row []byte, step, v []float64) (kept, cross, codes float64) {
	step, v = step[:len(row)], v[:len(row)]
	for j, c := range row {
		n := float64(int(c) - 128)
		k := n * step[j]
		kept += k * k
		cross += n * v[j]
		codes += n * n
	}
	return kept, cross, codes
}
