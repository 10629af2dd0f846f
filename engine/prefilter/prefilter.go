// Package prefilter stores rows of float32 a second time, in 8 bits per dimension, and uses these codes to rule
// out most rows without reading their floats. Search results stay the same to the bit, for a quarter of the memory
// traffic.
//
// The scale of each dimension is computed from a sample (scale.go). Each row becomes codes, the norm of the part
// that rounding lost and the norm of the part that it kept (codes.go). Rows that are stored in 8 bits have their
// codes already (ranges.go). A query becomes integers and, with a distance to beat, a dist.Cut (query.go). The
// kernels of dist.Sieve compare the codes of many rows with the cut and return the rows that may beat the
// distance. The caller computes the distances of the returned rows, in the order of its library.
//
// No row that beats the distance is ruled out, for the following reasons. Let x be a row, X the value of its
// codes, and e = |x-X|. By the triangle inequality, a row within r of q has |q-X| < r+e. By Cauchy-Schwarz, <q,x>
// <= <q,X> + |q|e. |q-X|² and <q,X> follow from the exact integer product of the codes, except for the error from
// rounding the query to integers, which w·u <= |w||u| bounds as well. The distance of a library is not exact: n
// terms added in any order, with or without FMA, are within gamma = n·2^-24 of the sum of their magnitudes
// (Higham, Accuracy and Stability of Numerical Algorithms, 3.1 and 4.2), and underflow loses 2^-149 per term.
// These errors, and the rounding errors of the comparison itself, are all subtracted from the distance to beat.
//
// Rows may be residuals: vectors minus a centre c. The library compares them with y = q-c, which is rounded:
// |y-(q-c)| <= 2^-24|q-c|. Let M be the value of code 0, and X = M+U. Then |q-c-X|² = |q-c-M|² - 2<q-g-M,U> +
// 2<c-g,U> + |U|², for any g. The first term follows from the library's own distance to the centre. The product
// with U is that of a single query for all centres. The remaining terms are a number of the row.
//
// Rows and queries that are not finite, or so large that sums might overflow, are never ruled out.
package prefilter

import (
	"errors"
	"fmt"
	"math"

	"kitescope/engine"
	"kitescope/engine/dist"
)

const (
	// maxNorm is the norm from which on a row or a query is not compared with codes, so that all sums of
	// squares stay below 2^127.
	maxNorm = 0x1p55
	// minNorm is the norm below which a row is not compared with codes if libraries divide by the norm,
	// because its squares might underflow.
	minNorm = 0x1p-55
	// slack bounds the float32 rounding errors of a comparison, relative to the magnitudes of all its terms:
	// five errors of 2^-24 each, and three times that for safety.
	slack = 0x1p-19
	// underflowError is more than underflow can lose in a sum of 2^20 terms.
	underflowError = 0x1p-100
	// sumError is more than the float64 sums of this package lose, relative to their magnitudes: 2^20 terms of
	// 2^-53.
	sumError = 0x1p-30
	// maxDim limits the dimension, so that the bounds above hold.
	maxDim = 1 << 20
)

// Codes holds rows in 8 bits. It is immutable and safe for concurrent use.
type Codes struct {
	// Starts holds the place of the first row of each part, and the place after the last part. If rows are in
	// groups, these are multiples of dist.SieveGroup.
	Starts []int

	metric engine.Metric
	scale  *scale
	codes  *engine.Vectors // one row per group, or per row
	sieve  *dist.Sieve     // for groups; nil if rows are stored separately
	// a and b hold the two numbers per place that dist.Sieve takes, for the parts that rounding kept and lost. Under
	// inner product and cosine, a is the norm of the row. b is infinite if the codes give no bound. Rows that are
	// stored separately have their numbers after their codes (see pairAt).
	a, b      []float32
	rows      *dist.Codes // for rows stored separately; nil for groups
	longest   float64     // greatest norm of the codes of a row
	residuals *residuals  // for residual rows; nil otherwise
}

// Fits returns an error unless rows like v can have codes under a metric.
func Fits(v *engine.Vectors, m engine.Metric) error {
	switch {
	case v.Element != dist.Float32:
		return fmt.Errorf("codes are for float32 rows, these are %s", v.Element)
	case m > dist.Cosine:
		return errors.New("codes are for l2, ip and cosine")
	case v.Dim > maxDim:
		return fmt.Errorf("%d dimensions: more than %d", v.Dim, maxDim)
	}
	return nil
}

// Bytes returns the memory in bytes that the codes of a part take in groups.
func Bytes(dim, rows int) int { return dist.NewSieve(dim).CodesBytes(rows) + 8*rows }

// RowsBytes returns the memory in bytes that the codes take if rows are stored separately.
func RowsBytes(dim, rows int) int { return rowBytes(dim) * rows }

// rowBytes returns the bytes of a row that is stored separately: its codes, as wide as the kernels read them,
// and its numbers. The numbers take no extra space if they fit into the padding of the codes, because a query
// has zeros there.
func rowBytes(dim int) int { return max(dist.NewCodes(dim).Width(), pairAt(dim)+8) }

// pairAt returns the offset of the numbers in a row that is stored separately.
func pairAt(dim int) int { return (dim + 3) &^ 3 }

// Bytes returns the memory in bytes that the codes take.
func (c *Codes) Bytes() int {
	return c.codes.Bytes() + 4*(len(c.a)+len(c.b)) + 8*len(c.Starts)
}

// Release frees the memory at once. The codes must not be used afterwards.
func (c *Codes) Release() { c.codes.Release() }

// gamma returns the error bound of a library's sum, relative to the magnitudes of its terms: n terms, each of a
// difference and a product.
func (c *Codes) gamma() float64 { return float64(c.scale.dim()+8) * 0x1.1p-24 }

// down returns the greatest float32 that is not above x. up returns the least that is not below x.
func down(x float64) float32 {
	if y := float32(x); float64(y) <= x || math.IsNaN(x) {
		return y
	}
	return math.Nextafter32(float32(x), float32(math.Inf(-1)))
}

func up(x float64) float32 { return -down(-x) }
