package balance

import (
	"math/rand/v2"
	"testing"
)

// random makes a problem of whole numbers, so that nothing rounds.
func random(r *rand.Rand, bins, pieces, largest int, goal float64, tight bool) *problem {
	p := &problem{}
	sum := 0.0
	for i := range bins {
		fixed := 0.0
		if r.IntN(3) == 0 {
			fixed = float64(r.IntN(largest))
		}
		p.bins = append(p.bins, bin{fixed: fixed, load: fixed, room: endless, total: float64(r.IntN(100))})
		if tight {
			p.bins[i].room = float64(r.IntN(2 * largest))
		}
		sum += fixed
	}
	for i := range pieces {
		b, load := r.IntN(1+r.IntN(bins)), float64(1+r.IntN(largest))
		p.pieces = append(p.pieces, piece{i, b, load, load, float64(r.IntN(largest))})
		p.bins[b].own = append(p.bins[b].own, i)
		p.bins[b].load += load
		sum += load
	}
	p.sortPieces()
	p.mean = sum / float64(bins)
	p.limit = goal * p.mean
	return p
}

// outcome is the final state of some steps.
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

// brute tries every place for every piece: the fewest steps under the limit (-1: none), and the lowest level there is.
func brute(p *problem) (fewest int, lowest float64) {
	fewest, lowest = -1, endless
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

func TestFewestMovesAgainstTryingAll(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	reached, missed := 0, 0
	for range 3000 {
		p := random(r, 2+r.IntN(3), 1+r.IntN(8), 1+r.IntN(12), 1+r.Float64()/2, r.IntN(3) == 0)
		want, lowest := brute(p)
		got := p.solve()
		level, fits := outcome(p, got.steps)
		if !fits {
			t.Fatalf("%+v: %v does not fit into the memory", p, got.steps)
		}
		if want < 0 {
			missed++
			if level > lowest*(1+1e-9) && (len(got.steps) > 0 || lowest < level*(1-worthwhile)) {
				t.Errorf("%+v: the goal is out of reach; the best is %v, not %v", p, lowest, level)
			}
			continue
		}
		reached++
		if level > p.limit*(1+1e-9) || len(got.steps) != want || got.atLeast != want {
			t.Errorf("%+v: %d moves (at least %d) to %v, want %d to %v", p, len(got.steps), got.atLeast, level, want, p.limit)
		}
	}
	if reached < 500 || missed < 500 {
		t.Errorf("only %d reach the goal and %d do not: this tests too little", reached, missed)
	}
}

// TestRuleOfThumb holds the rule for large replicas near the proven bound.
func TestRuleOfThumb(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		p := random(r, 3+r.IntN(20), 50+r.IntN(200), 1000, 1.1, false)
		steps, ok := p.greedy(p.limit)
		if !ok {
			continue
		}
		if level, _ := outcome(p, steps); level > p.limit*(1+1e-9) {
			t.Errorf("the rule of thumb leaves %v over %v", level, p.limit)
		}
		if bound := p.searchFor(p.limit).bound(); len(steps) > bound+bound/5+2 {
			t.Errorf("%d moves where %d are needed at least", len(steps), bound)
		}
	}
}

// large is a replica of 20,000 segments on 200 nodes.
func large() *problem {
	p := random(rand.New(rand.NewPCG(5, 6)), 200, 20_000, 1_000_000, 1.1, true)
	for i := range p.bins {
		p.bins[i].room = 1e9
	}
	return p
}

func TestLargeReplica(t *testing.T) {
	p := large()
	s := p.solve()
	if level, fits := outcome(p, s.steps); level > p.limit*(1+1e-9) || !fits || s.atLeast != len(s.steps) {
		t.Fatalf("%d moves, at least %d, reach %v, not %v", len(s.steps), s.atLeast, level, p.limit)
	}
}

// BenchmarkLargeReplica took 0.13 s on a quiet machine.
func BenchmarkLargeReplica(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		p := large()
		b.StartTimer()
		p.solve()
	}
}
