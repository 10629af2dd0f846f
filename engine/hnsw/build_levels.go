package hnsw

import (
	"math"
	"math/big"
)

// drawLevels returns the top level of each of rows nodes. The levels are those of hnswlib's single-threaded build:
// getRandomLevel of hnswalg.h (0.8.0) with libstdc++'s std::default_random_engine, which is minstd_rand0, and
// std::uniform_real_distribution<double>, which draws twice.
func drawLevels(rows, m int, seed uint64) []uint8 {
	const modulus, multiplier = 1<<31 - 1, 16807
	// The range of the engine and its square, as doubles.
	const span, squared = float64(modulus - 1), float64(modulus-1) * float64(modulus-1)
	state := seed % modulus
	if state == 0 {
		state = 1
	}
	draw := func() float64 {
		state = state * multiplier % modulus
		return float64(state - 1)
	}
	mult := LevelMult(m)
	levels := make([]uint8, rows)
	for i := range levels {
		low := draw()
		u := (low + float64(draw()*span)) / squared
		// u is above 2^-62, so the level is below 62/ln(2)*ln(2) = 62 even if M is 2.
		levels[i] = uint8(-math.Log(u) * mult)
	}
	return levels
}

// LevelMult returns 1/ln(m) as the C library computes it, which is +Inf if m is 1. It is the field mult of
// hnswlib's files. Go's math.Log is off by one bit for one m in a hundred (e.g. 3, 14, 48), but glibc's log is
// exact for all m up to 2,048. LevelMult therefore computes the logarithm at higher precision and rounds once.
func LevelMult(m int) float64 {
	const precision = 160
	num := func(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }
	// artanh2 returns 2*artanh(z) = ln((1+z)/(1-z)) for 0 <= z <= 1/3.
	artanh2 := func(z *big.Float) *big.Float {
		square, power, sum := num(0).Mul(z, z), num(0).Set(z), num(0)
		for i := 1; i < precision; i += 2 {
			sum.Add(sum, num(0).Quo(power, num(float64(i))))
			power.Mul(power, square)
		}
		return sum.Mul(sum, num(2))
	}
	fraction, exponent := math.Frexp(float64(m)) // m = 2*fraction * 2^(exponent-1), 2*fraction in [1, 2)
	f := num(2 * fraction)
	ln := artanh2(num(0).Quo(num(0).Sub(f, num(1)), num(0).Add(f, num(1))))
	ln2 := artanh2(num(0).Quo(num(1), num(3)))
	ln.Add(ln, ln2.Mul(ln2, num(float64(exponent-1))))
	rounded, _ := ln.Float64()
	return 1 / rounded
}
