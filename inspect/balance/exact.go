package balance

import (
	"cmp"
	"slices"
)

// tries is how many positions the exact search looks at before it gives up: about a tenth of a
// second. With many pieces and bins each of them takes longer.
const tries = 100_000

// search looks for the fewest steps, depth by depth. In every solution some piece has to leave
// the fullest of the bins that are over the limit, and no piece has to move twice, so that
// trying each of its pieces in each other bin misses nothing. A piece that was tried is left
// where it is in what follows: solutions with it were all seen.
type search struct {
	*problem
	load   []float64
	room   []float64
	other  []float64
	stays  []bool // by piece: moved already, or tried
	path   []step
	limit  float64
	budget int
	// best is the best solution of the present depth: that with the lowest fullest bin; of such, the
	// one with the lowest fullest bin by the other measure, which bestOther is.
	best      []step
	bestOther float64
}

// exact returns the fewest steps, at most most, that bring all bins under the limit. proven is the
// number of steps that any solution needs at least, as far as the search came.
func (p *problem) exact(limit float64, most int) (steps []step, proven int, found bool) {
	s := p.searchFor(limit)
	bound := s.bound()
	if bound > len(p.pieces) {
		return nil, bound, false
	}
	for depth := bound; depth <= most; depth++ {
		s.dive(depth)
		if s.best != nil {
			return s.best, depth, true
		}
		if s.budget <= 0 {
			return nil, depth, false
		}
	}
	return nil, most + 1, false
}

func (p *problem) searchFor(limit float64) *search {
	const usual = 64 // pieces and bins
	s := &search{problem: p, limit: limit * (1 + tolerance), stays: make([]bool, len(p.pieces))}
	s.budget = tries * usual / max(usual, len(p.pieces)+len(p.bins)*len(p.bins)/4)
	for i := range p.bins {
		s.load = append(s.load, p.bins[i].load)
		s.room = append(s.room, p.bins[i].room)
		s.other = append(s.other, p.bins[i].other)
	}
	return s
}

// bound is how many steps are needed at least: for each bin over the limit, as many of its
// largest pieces as the excess takes. More than there are pieces: there is no solution.
func (s *search) bound() int {
	sum := 0
	for i := range s.bins {
		excess := max(s.load[i]-s.limit, 0)
		short := s.room[i] < 0
		for _, x := range s.bins[i].own {
			if excess <= 0 {
				break
			}
			if !s.stays[x] {
				excess -= s.pieces[x].load
				sum++
			}
		}
		switch {
		case excess > 0:
			return len(s.pieces) + 1
		case short && s.load[i] <= s.limit:
			sum++
		}
	}
	return sum
}

// worst is the bin that some piece has to leave, -1 if there is none: all is well.
func (s *search) worst() int {
	worst := -1
	for i := range s.bins {
		if s.load[i] > s.limit && (worst < 0 || s.load[i] > s.load[worst]) {
			worst = i
		}
	}
	if worst < 0 {
		worst = slices.IndexFunc(s.room, func(room float64) bool { return room < 0 })
	}
	return worst
}

// dive tries all solutions of at most left more steps.
func (s *search) dive(left int) {
	if s.budget <= 0 {
		return
	}
	s.budget--
	from := s.worst()
	if from < 0 {
		s.keep()
		return
	}
	if left == 0 || s.bound() > left {
		return
	}
	var tried []int
	for _, x := range s.bins[from].own {
		if s.stays[x] || s.twin(x, tried) {
			continue
		}
		s.stays[x] = true
		tried = append(tried, x)
		for _, to := range s.targets(from) {
			s.move(x, from, to)
			s.dive(left - 1)
			s.move(x, to, from)
			s.path = s.path[:len(s.path)-2]
		}
	}
	for _, x := range tried {
		s.stays[x] = false
	}
}

// twin reports whether a piece like this one was just tried: moving it instead is the same.
func (s *search) twin(x int, tried []int) bool {
	if len(tried) == 0 {
		return false
	}
	last := &s.pieces[tried[len(tried)-1]]
	return last.load == s.pieces[x].load && last.size == s.pieces[x].size && last.other == s.pieces[x].other
}

// targets are the other bins, the emptiest first; of empty ones that are alike, one.
func (s *search) targets(from int) []int {
	list := make([]int, 0, len(s.bins)-1)
	for i := range s.bins {
		if i != from {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(a, b int) int {
		return cmp.Or(cmp.Compare(s.load[a], s.load[b]), cmp.Compare(s.bins[a].total, s.bins[b].total), cmp.Compare(a, b))
	})
	alike := func(a, b int) bool {
		return len(s.bins[a].own) == 0 && len(s.bins[b].own) == 0 && s.load[a] == s.load[b] && s.room[a] == s.room[b]
	}
	return slices.CompactFunc(list, alike)
}

func (s *search) move(x, from, to int) {
	p := &s.pieces[x]
	s.load[from] -= p.load
	s.load[to] += p.load
	s.room[from] += p.size
	s.room[to] -= p.size
	s.other[from] -= p.other
	s.other[to] += p.other
	s.path = append(s.path, step{x, to})
}

// keep takes a solution if it is better than the best. From the first on, there are fewer tries left
// for those that are as short.
func (s *search) keep() {
	fullest, other := slices.Max(s.load), slices.Max(s.other)
	if s.best == nil {
		s.budget = min(s.budget, tries/10)
	} else if fullest >= s.limit*(1-2*tolerance) && other >= s.bestOther {
		return
	}
	s.best, s.bestOther = slices.Clone(s.path), other
	s.limit = min(s.limit, fullest*(1+tolerance))
}
