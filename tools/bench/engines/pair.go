package main

import (
	"runtime"
	"slices"
	"time"

	"kitescope/engine"
)

// timing is the time that one side of a pair took for all its queries.
type timing = time.Duration

// pair holds two sides that do the same work in turn.
type pair struct {
	ours, theirs func() (timing, error)
}

// pairs holds the timings of both sides, one per round.
type pairs struct {
	Ours, Theirs []timing
}

// run measures the given number of rounds after one that does not count, which warms pages, caches and branch
// predictors. The side that begins alternates.
func (p pair) run(rounds int) (pairs, error) {
	var got pairs
	for round := range rounds + 1 {
		sides := []func() (timing, error){p.ours, p.theirs}
		if round%2 == 1 {
			slices.Reverse(sides)
		}
		var took [2]timing
		for i, side := range sides {
			t, err := side()
			if err != nil {
				return got, err
			}
			took[i] = t
		}
		if round%2 == 1 {
			took[0], took[1] = took[1], took[0]
		}
		if round > 0 {
			got.Ours, got.Theirs = append(got.Ours, took[0]), append(got.Theirs, took[1])
		}
	}
	return got, nil
}

// spread holds the median, the minimum and the maximum of some values.
type spread struct {
	Median, Least, Most float64
}

func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	s := slices.Sorted(slices.Values(values))
	middle := s[len(s)/2]
	if len(s)%2 == 0 {
		middle = (s[len(s)/2-1] + middle) / 2
	}
	return spread{Median: middle, Least: s[0], Most: s[len(s)-1]}
}

// faster returns how many times faster our side was, one ratio per pair.
func (p pairs) faster() spread {
	ratios := make([]float64, len(p.Ours))
	for i := range ratios {
		ratios[i] = float64(p.Theirs[i]) / float64(max(p.Ours[i], 1))
	}
	return spreadOf(ratios)
}

// medianPerOp returns the median of some timings divided by n, the number of operations in each.
func medianPerOp(times []timing, n int) time.Duration {
	values := make([]float64, len(times))
	for i, t := range times {
		values[i] = float64(t)
	}
	return time.Duration(spreadOf(values).Median / float64(max(n, 1)))
}

// timeThread returns the CPU time of f on its own thread. Work that f starts on other threads does not count.
func timeThread(f func() error) (timing, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadTime()
	err := f()
	return threadTime() - before, err
}

// timeProcess returns the CPU time of all threads while f runs, including the garbage collector.
func timeProcess(f func() error) (timing, error) {
	before := processTime()
	err := f()
	return processTime() - before, err
}

// timeWall returns the wall time of f.
func timeWall(f func() error) (timing, error) {
	before := time.Now()
	err := f()
	return time.Since(before), err
}

// agreement counts the queries for which two sides returned equal ids, and equal distances.
type agreement struct {
	Queries, IDs, Bits int
}

// agree compares answers: the ids in order, and the bits of the distances.
func agree(a, b [][]engine.Hit) agreement {
	got := agreement{Queries: max(len(a), len(b))}
	for i := range min(len(a), len(b)) {
		sameID := func(x, y engine.Hit) bool { return x.ID == y.ID }
		if slices.EqualFunc(a[i], b[i], sameID) {
			got.IDs++
		}
		if slices.EqualFunc(a[i], b[i], sameBits) {
			got.Bits++
		}
	}
	return got
}

// recall returns the share of the true neighbours that were found.
func recall(got, truth [][]engine.Hit) float64 {
	found, all := 0, 0
	for i, hits := range truth {
		all += len(hits)
		for _, h := range hits {
			if slices.ContainsFunc(got[i], func(g engine.Hit) bool { return g.ID == h.ID }) {
				found++
			}
		}
	}
	return float64(found) / float64(max(all, 1))
}
