package balance

import (
	"math/rand/v2"
	"testing"
)

// random returns a problem of whole numbers, so that no rounding occurs.
func random(r *rand.Rand, bins, pieces, largest int, goal float64, tight bool) *problem {
	p := &problem{}
	sum := 0.0
	for i := range bins {
		fixed := 0.0
		if r.IntN(3) == 0 {
			fixed = float64(r.IntN(largest))
		}
		p.bins = append(p.bins, bin{fixed: fixed, load: fixed, room: unlimited, total: float64(r.IntN(100))})
		if tight {
			p.bins[i].room = float64(r.IntN(2 * largest))
		}
		sum += fixed
	}
	for i := range pieces {
		b, load := r.IntN(1+r.IntN(bins)), float64(1+r.IntN(largest))
		p.pieces = append(p.pieces, piece{i, b, load, load})
		p.bins[b].pieces = append(p.bins[b].pieces, i)
		p.bins[b].load += load
		sum += load
	}
	p.mean = sum / float64(bins)
	p.limit = goal * p.mean
	return p
}

// outcome returns the final state after some steps.
func outcome(p *problem, steps []step) (fullest float64, fits bool) {
	l := p.layout()
	for _, s := range steps {
		l.put(s.piece, s.to)
	}
	fits = true
	for _, room := range l.room {
		fits = fits && room >= 0
	}
	return l.load[l.fullest()], fits
}

// brute tries every bin for every piece. It returns the fewest steps under the limit (-1: none) and the lowest
// possible level.
func brute(p *problem) (fewest int, lowest float64) {
	fewest, lowest = -1, unlimited
	l := p.layout()
	var try func(x, moved int)
	try = func(x, moved int) {
		if x == len(p.pieces) {
			for _, room := range l.room {
				if room < 0 {
					return
				}
			}
			level := l.load[l.fullest()]
			lowest = min(lowest, level)
			if level <= p.limit && (fewest < 0 || moved < fewest) {
				fewest = moved
			}
			return
		}
		home := p.pieces[x].bin
		for to := range p.bins {
			l.put(x, to)
			if to == home {
				try(x+1, moved)
			} else {
				try(x+1, moved+1)
			}
		}
		l.put(x, home)
	}
	try(0, 0)
	return fewest, lowest
}

// TestPlannerAgainstTryingAll checks that a plan fits into the memory, and nearly always reaches a reachable goal
// with few more moves than necessary.
func TestPlannerAgainstTryingAll(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	possible, reached, moves, needed := 0, 0, 0, 0
	for range 3000 {
		p := random(r, 2+r.IntN(3), 1+r.IntN(8), 1+r.IntN(12), 1+r.Float64()/2, r.IntN(3) == 0)
		want, lowest := brute(p)
		steps := p.solve()
		before, _ := outcome(p, nil)
		level, fits := outcome(p, steps)
		if !fits {
			t.Fatalf("%+v: %v does not fit into the memory", p, steps)
		}
		if level < lowest*(1-1e-9) || len(steps) > 0 && level > before {
			t.Errorf("%+v: %v leads to %v, the lowest is %v", p, steps, level, lowest)
		}
		if want < 0 {
			continue
		}
		possible++
		if level > p.limit*(1+1e-9) {
			continue
		}
		reached, moves, needed = reached+1, moves+len(steps), needed+want
	}
	if possible < 500 || reached < possible*9/10 || moves > needed*12/10 {
		t.Errorf("%d of %d goals are reached, with %d moves where %d are needed", reached, possible, moves, needed)
	}
}

// large returns a replica of 20,000 segments on 200 nodes.
func large() *problem {
	p := random(rand.New(rand.NewPCG(5, 6)), 200, 20_000, 1_000_000, 1.1, true)
	for i := range p.bins {
		p.bins[i].room = 1e9
	}
	return p
}

func TestLargeReplica(t *testing.T) {
	p := large()
	steps := p.solve()
	if level, fits := outcome(p, steps); level > p.limit*(1+1e-9) || !fits {
		t.Fatalf("%d moves reach %v, not %v", len(steps), level, p.limit)
	}
}
