// Package prefilter keeps rows of float32 once more in 8 bits, and tells of most rows that they cannot be hits without looking at
// their floats: answers stay what they are to the bit, for a quarter of the memory traffic.
//
// In: rows, a metric; then queries, and the distance that a row has to beat. Out: for each row whether it may beat it. The
// steps: a scale for each dimension is learnt from a sample (scale.go); each row becomes codes, the norm of what rounding lost and
// the norm of what it kept (codes.go), or comes in 8 bits and has its codes already (ranges.go); a query becomes whole numbers, and with a distance to beat a dist.Cut (query.go); the
// kernels of dist.Sieve hold the codes of many rows against it. What passes is computed by the caller, in its library's own order.
//
// Why it is safe. Let x be a row, X what its codes say, e = |x-X|. By the triangle inequality a row within r of q has
// |q-X| < r+e, and by Cauchy and Schwarz <q,x> <= <q,X> + |q|e. |q-X|² and <q,X> come from the exact integer product of codes, but
// for what rounding the query to whole numbers loses, w·u <= |w||u| once more. A library's distance is not the true one: n terms
// added in any order, with or without FMA, are within gamma = n·2^-24 of the sum of their magnitudes (Higham, Accuracy and
// Stability of Numerical Algorithms, 3.1 and 4.2), and underflow loses 2^-149 a term. All of that, and the roundings of the
// comparison itself, are taken off the distance to beat. Where rows are what is left of vectors without a centre c, the library compares
// y = q-c with them, rounded, |y-(q-c)| <= 2^-24|q-c|; and with M for what code 0 stands for, X = M+U: |q-c-X|² = |q-c-M|² - 2<q-g-M,U>
// + 2<c-g,U> + |U|², for any g. The first term comes from the library's own distance to the centre, the product is that of one query for
// all centres, and the rest is a number of the row. Rows and queries that are not finite, or so large that sums might
// overflow, are never held back.
package prefilter

import (
	"errors"
	"fmt"
	"math"

	"kitescope/engine"
	"kitescope/engine/dist"
)

const (
	// largest is the norm from which on a row or a query is not held against codes: all sums of squares stay below 2^127.
	largest = 0x1p55
	// smallest is the norm below which a row is not held against codes where libraries divide by it: its squares might underflow.
	smallest = 0x1p-55
	// slack is what the roundings of float32 in a comparison can come to, of the magnitudes of all its terms: five of 2^-24 each,
	// and three times that to be sure.
	slack = 0x1p-19
	// lost is more than underflow can lose in a sum of 2^20 terms.
	lost = 0x1p-100
	// exact is more than float64 loses in the sums of this package, of their magnitudes: 2^20 terms of 2^-53.
	exact = 0x1p-30
	// maxDim bounds dimensions, so that the above holds.
	maxDim = 1 << 20
)

// Codes are rows in 8 bits. They are immutable and may be shared.
type Codes struct {
	// Starts are the places of the first rows of what was encoded, and the place behind the last: multiples of dist.SieveGroup.
	Starts []int

	metric engine.Metric
	scale  *scale
	codes  *engine.Vectors // a row for each group, or for each row
	sieve  *dist.Sieve     // of groups; nil if rows lie by themselves
	// a and b are the numbers of dist.Sieve, one a place: what rounding kept and lost. a is under inner product and cosine the row's
	// norm; b infinite where codes say nothing. Rows by themselves have theirs
	// behind their codes (pairAt).
	a, b    []float32
	rows    *dist.Codes // of rows by themselves; nil of groups
	longest float64     // norm of codes
	rest    *rest       // of rows that are what is left of others; nil else
}

// Fits reports whether rows like v can have codes under a metric, and why not.
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

// Bytes is the memory that the codes of so many rows take in groups, of one part.
func Bytes(dim, rows int) int { return dist.NewSieve(dim).CodesBytes(rows) + 8*rows }

// RowsBytes is what they take by themselves.
func RowsBytes(dim, rows int) int { return rowBytes(dim) * rows }

// rowBytes is what a row by itself takes: its codes, as wide as kernels read them, and its numbers. Where these fit into what the codes
// are filled up with they take nothing: a query has zeros there.
func rowBytes(dim int) int { return max(dist.NewCodes(dim).Width(), pairAt(dim)+8) }

// pairAt is where the numbers of a row by itself begin.
func pairAt(dim int) int { return (dim + 3) &^ 3 }

// Bytes is the memory that the codes take.
func (c *Codes) Bytes() int {
	return c.codes.Bytes() + 4*(len(c.a)+len(c.b)) + 8*len(c.Starts)
}

// Release gives the memory back at once; nothing may use the codes afterwards.
func (c *Codes) Release() { c.codes.Release() }

// gamma is how much of the magnitudes of its terms a library's sum may be wrong: n terms, each of a difference and a product.
func (c *Codes) gamma() float64 { return float64(c.scale.dim()+8) * 0x1.1p-24 }

// down is the greatest float32 not above x, up the least not below.
func down(x float64) float32 {
	if y := float32(x); float64(y) <= x || math.IsNaN(x) {
		return y
	}
	return math.Nextafter32(float32(x), float32(math.Inf(-1)))
}

func up(x float64) float32 { return -down(-x) }
