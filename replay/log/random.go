package log

import (
	"math"
	"math/rand/v2"
)

// All of this gives the same bits on every platform: PCG is whole numbers alone, and no float expression here may be
// fused to one rounding, which a conversion forbids (Go's specification, floating-point operators) and some compilers'
// back ends do without. math.Log and math.Exp have assembly on some platforms, and so are not used.

// gaussian is a sum of twelve uniform numbers, less 6: mean 0, variance 1, and the shape of the normal distribution up to
// its ends at -6 and 6.
func gaussian(rng *rand.PCG) float64 {
	var sum uint64 // of twelve numbers of 32 bits
	for range 6 {
		u := rng.Uint64()
		sum += u>>32 + u&math.MaxUint32
	}
	// Each stands for the middle of its interval.
	return float64(int64(sum)+6-6*(1<<32)) * (1.0 / (1 << 32))
}

// exponential has mean 1: the time between two arrivals of a Poisson process with one a unit of time.
func exponential(rng *rand.PCG) float64 {
	// In (0, 1], in steps of 2 to the power of -53.
	u := float64(rng.Uint64()>>11+1) * (1.0 / (1 << 53))
	return -logarithm(u)
}

// logarithm is the natural one of a positive number, to about 1 in 10 to the power of 15: of the fraction m in [0.5, 1) by
// the series of the inverse hyperbolic tangent, 2*(s + s^3/3 + s^5/5 + ...) for s = (m-1)/(m+1).
func logarithm(x float64) float64 {
	m, exponent := math.Frexp(x)
	s := float64(m-1) / float64(m+1)
	square, power, sum := float64(s*s), s, 0.0
	for n := 1; n < 40; n += 2 {
		sum += float64(power / float64(n))
		power = float64(power * square)
	}
	return float64(2*sum) + float64(float64(exponent)*math.Ln2)
}

// chance is true with probability p.
func chance(rng *rand.PCG, p float64) bool {
	return float64(rng.Uint64()>>11)*(1.0/(1<<53)) < p
}

// below is a whole number below n, each with the same probability.
func below(rng *rand.PCG, n int) int {
	most := math.MaxUint64 - math.MaxUint64%uint64(n)
	for {
		if u := rng.Uint64(); u < most {
			return int(u % uint64(n))
		}
	}
}

// permutation draws numbers from 0 to n-1 in an order of chance, without keeping those that were not drawn: what is not
// in moved lies at its own place. After n of them the next order begins.
type permutation struct {
	rng   *rand.PCG
	n     int
	drawn int
	moved map[int]int
}

func (p *permutation) next() int {
	if p.drawn == p.n || p.moved == nil {
		p.drawn, p.moved = 0, map[int]int{}
	}
	at := func(i int) int {
		if v, ok := p.moved[i]; ok {
			return v
		}
		return i
	}
	j := p.drawn + below(p.rng, p.n-p.drawn)
	v := at(j)
	p.moved[j] = at(p.drawn)
	delete(p.moved, p.drawn) // nobody asks for it again
	p.drawn++
	return v
}
