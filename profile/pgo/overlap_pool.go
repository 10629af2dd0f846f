package pgo

import (
	"math"
	"math/rand/v2"
)

// pool are the calls of several profiles, under the same numbers, and what each profile has of them.
type pool struct {
	*stackCalls
	of      []pooled
	scratch []float64
}

// pooled is a profile in a pool.
type pooled struct {
	groups  []uint32 // of the pool
	weights []float64
	// calls are those of the pool that it has, shares what each has of all of them; none if it has no calls.
	calls   []uint32
	shares  []float64
	total   float64 // samples
	counted bool
}

func newPool() *pool {
	return &pool{stackCalls: &stackCalls{ids: map[Edge]uint32{}, starts: []uint32{0}, group: map[uint64]uint32{}, counted: true}}
}

// take puts the calls of a profile to the others.
func (p *pool) take(s *stackCalls) {
	p.counted = p.counted && s.counted
	own := pooled{
		groups: make([]uint32, 0, len(s.keys)), weights: s.weights, shares: s.shares(s.weights), calls: make([]uint32, len(s.edges)), counted: s.counted,
	}
	for i, e := range s.edges {
		own.calls[i] = p.id(e)
	}
	var steps []uint32
	for i, key := range s.keys {
		steps = steps[:0]
		for _, step := range s.steps[s.starts[i]:s.starts[i+1]] {
			steps = append(steps, own.calls[step])
		}
		own.groups = append(own.groups, p.add(key, steps, s.weights[i]))
		own.total += s.weights[i]
	}
	p.of = append(p.of, own)
}

// overlap is how alike the calls of two profiles are: the sum over all calls of the lesser of both shares, from 0 for
// none in common to 1. NaN where one of them has no calls.
func (p *pool) overlap(a, b int) float64 {
	one, other := &p.of[a], &p.of[b]
	if one.shares == nil || other.shares == nil {
		return math.NaN()
	}
	if len(p.scratch) < len(p.edges) {
		p.scratch = make([]float64, len(p.edges))
	}
	for i, id := range other.calls {
		p.scratch[id] = other.shares[i]
	}
	sum := 0.0
	for i, id := range one.calls {
		sum += min(one.shares[i], p.scratch[id])
	}
	for _, id := range other.calls {
		p.scratch[id] = 0
	}
	return settled(sum)
}

// halves is how alike two random halves of all samples are: what chance alone does with so many samples. NaN where
// there are no calls, or nothing tells how many samples there are.
func (p *pool) halves() float64 {
	if !p.counted {
		return math.NaN()
	}
	const half = 0.5
	share, _ := p.dealt(p.weights, half)
	return share
}

// byChance is how alike two profiles would be if their samples were dealt out from what both have together: mostly, and
// in the worst tenth of cases.
func (p *pool) byChance(a, b int) (middle, least float64) {
	one, other := &p.of[a], &p.of[b]
	if !one.counted || !other.counted || one.total+other.total == 0 {
		return math.NaN(), math.NaN()
	}
	both := make([]float64, len(p.keys))
	for _, own := range []*pooled{one, other} {
		for i, group := range own.groups {
			both[group] += own.weights[i]
		}
	}
	return p.dealt(both, one.total/(one.total+other.total))
}

// dealt deals samples out to two sides some times and says how alike they come out. What falls to which side depends
// on the samples' calls alone, so that it is the same each time, and in whatever order profiles came.
func (p *pool) dealt(weights []float64, probability float64) (middle, least float64) {
	times := splits(len(p.steps))
	overlaps := make([]float64, 0, times)
	first, second := make([]float64, len(weights)), make([]float64, len(weights))
	for split := range uint64(times) {
		for i, weight := range weights {
			n := math.Round(weight)
			first[i] = 0
			if n > 0 {
				first[i] = float64(coins(rand.New(rand.NewPCG(p.keys[i], split)), int(n), probability))
			}
			second[i] = n - first[i]
		}
		if share := commonShare(p.shares(first), p.shares(second)); !math.IsNaN(share) {
			overlaps = append(overlaps, share) // else one side got nothing
		}
	}
	if len(overlaps) == 0 {
		return math.NaN(), math.NaN()
	}
	middle = median(overlaps) // in order now
	const tenth = 10
	return middle, overlaps[len(overlaps)/tenth]
}
