package main

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"kitescope/engine"
	"kitescope/engine/hnsw"
)

// coresDuration is the duration of each part of the two-core measurement.
const coresDuration = 400 * time.Millisecond

// rate runs work on n goroutines for the duration d and returns the calls per second of all goroutines
// together.
func rate(n int, d time.Duration, work func(worker int)) float64 {
	var stop atomic.Bool
	counts := make([]struct {
		n int
		_ [15]int // pads to a cache line
	}, n)
	var workers sync.WaitGroup
	began := time.Now()
	for w := range n {
		workers.Go(func() {
			for !stop.Load() {
				work(w)
				counts[w].n++
			}
		})
	}
	time.Sleep(d)
	stop.Store(true)
	workers.Wait()
	total := 0
	for i := range counts {
		total += counts[i].n
	}
	return float64(total) / time.Since(began).Seconds()
}

// spin is work that touches no memory. Its rate on two threads shows whether two cores were available.
func spin(int) {
	x := 1.0
	for range 20_000 {
		x = math.FMA(x, 1.0000001, 1e-9)
	}
	if math.IsInf(x, 0) {
		panic("a sum that cannot grow has grown") // keeps the loop from being optimized away
	}
}

// control returns how many times more spins two goroutines complete than one: the median of three ratios.
func control() float64 {
	ratios := make([]float64, 3)
	for i := range ratios {
		one := rate(1, coresDuration/4, spin)
		ratios[i] = rate(2, coresDuration/4, spin) / one
	}
	return spreadOf(ratios).Median
}

// minTwoCores is the minimum of the control for which a two-core result is valid.
const minTwoCores = 1.8

// cores compares the searches per second on two cores with those on one. A control runs in each round.
func (b *bench) cores(ctx context.Context) error {
	for _, dim := range []int{128, 768} {
		if err := b.ensureHNSWLib(ctx, b.set(dim)); err != nil {
			return err
		}
		b.logf("%s: two cores", b.set(dim).name())
		s, err := b.openHNSW(b.set(dim), fileHNSWLib)
		if err != nil {
			return err
		}
		if err := b.coresOf(s); err != nil {
			return err
		}
		s.close()
	}
	return nil
}

func (b *bench) coresOf(s *searchSide) error {
	const ef = 64
	work := make([]func(int), 2)
	for w := range work {
		searcher, err := s.index.NewSearcher(hnsw.Options{Library: s.policy})
		if err != nil {
			return err
		}
		next, hits := w*s.queries.Rows/2, make([]engine.Hit, 0, topK)
		work[w] = func(int) {
			next = (next + 1) % s.queries.Rows
			// Errors are ignored, because the same searches have succeeded before.
			hits, _, _ = searcher.SearchFloat32(s.queries.Float32(next), hnsw.Params{K: topK, EF: ef}, hits[:0])
		}
	}
	both := func(w int) { work[w](w) }
	_ = rate(2, coresDuration, both) // warm
	var ratios, controls, ones, twos []float64
	for range b.rounds {
		one, two := rate(1, coresDuration, both), rate(2, coresDuration, both)
		spun := rate(1, coresDuration/4, spin)
		controls = append(controls, rate(2, coresDuration/4, spin)/spun)
		ratios, ones, twos = append(ratios, two/one), append(ones, one), append(twos, two)
	}
	r := row{
		Part: partCores, What: sprintf("HNSW search on two cores against one, %s, ef %d", s.name, ef), Bar: 1.9,
		Ratio: spreadOf(ratios),
		Ours:  sprintf("%.0f QPS", spreadOf(twos).Median), Their: sprintf("%.0f QPS, ours", spreadOf(ones).Median),
		Same: sprintf("control %.2fx", spreadOf(controls).Median),
	}
	if c := spreadOf(controls).Median; c < minTwoCores {
		r.Void = sprintf("the control got %.2f cores", c)
	}
	b.report.add(r)
	return nil
}
