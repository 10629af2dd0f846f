package balance

import (
	"cmp"
	"slices"
	"sort"
)

// layout is where pieces lie while a rule of thumb moves them.
type layout struct {
	*problem
	load  []float64
	room  []float64
	where []int   // bin of each piece
	own   [][]int // pieces of each bin that have not moved, the largest first
}

func (p *problem) layout() *layout {
	l := &layout{problem: p, where: make([]int, len(p.pieces)), own: make([][]int, len(p.bins))}
	for i := range p.bins {
		l.load = append(l.load, p.bins[i].load)
		l.room = append(l.room, p.bins[i].room)
		l.own[i] = slices.Clone(p.bins[i].own)
	}
	for i := range p.pieces {
		l.where[i] = p.pieces[i].bin
	}
	return l
}

func (l *layout) put(x, to int) {
	p, from := &l.pieces[x], l.where[x]
	l.load[from] -= p.load
	l.room[from] += p.size
	l.load[to] += p.load
	l.room[to] -= p.size
	l.where[x] = to
}

// steps are the differences from how it was.
func (l *layout) steps() []step {
	var list []step
	for x, to := range l.where {
		if to != l.pieces[x].bin {
			list = append(list, step{x, to})
		}
	}
	return list
}

// greedy empties the fullest bin into the emptiest until all are under the limit: each time with
// the smallest piece that does away with the excess, else the largest that fits. ok is
// false if it gets stuck.
func (p *problem) greedy(limit float64) (steps []step, ok bool) {
	l := p.layout()
	limit *= 1 + tolerance
	for {
		from := l.fullest()
		if l.load[from] <= limit {
			break
		}
		if !l.relieve(from, limit) {
			return nil, false
		}
	}
	l.undo(limit)
	l.merge(limit)
	return l.steps(), true
}

func (l *layout) fullest() int {
	most := 0
	for i := range l.load {
		if l.load[i] > l.load[most] {
			most = i
		}
	}
	return most
}

// relieve moves one piece out of a bin.
func (l *layout) relieve(from int, limit float64) bool {
	excess := l.load[from] - limit
	for _, to := range l.emptiest(from) {
		space := limit - l.load[to]
		if space <= 0 {
			return false
		}
		if at := l.pick(from, excess, space, l.room[to]); at >= 0 {
			l.put(l.own[from][at], to)
			l.own[from] = slices.Delete(l.own[from], at, at+1)
			return true
		}
	}
	return false
}

// emptiest are the other bins by load; those that are equally empty by what other replicas put on them.
func (l *layout) emptiest(from int) []int {
	list := make([]int, 0, len(l.bins)-1)
	for i := range l.bins {
		if i != from {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(a, b int) int {
		return cmp.Or(cmp.Compare(l.load[a], l.load[b]), cmp.Compare(l.bins[a].total, l.bins[b].total), cmp.Compare(a, b))
	})
	return list
}

// pick chooses among the pieces of a bin, which are sorted: the smallest that is enough, else the
// largest that fits; -1 if none fits.
func (l *layout) pick(from int, enough, space, room float64) int {
	own := l.own[from]
	first := sort.Search(len(own), func(i int) bool { return l.pieces[own[i]].load <= space }) // the largest that fits
	last := sort.Search(len(own), func(i int) bool { return l.pieces[own[i]].load < enough }) - 1
	for i := last; i >= first; i-- {
		if l.pieces[own[i]].size <= room {
			return i
		}
	}
	for i := max(first, last+1); i < len(own); i++ {
		if p := &l.pieces[own[i]]; p.size <= room && p.load > 0 {
			return i
		}
	}
	return -1
}

// undo takes back steps that turned out not to be needed, the smallest first.
func (l *layout) undo(limit float64) {
	moved := l.steps()
	slices.SortStableFunc(moved, func(a, b step) int { return cmp.Compare(l.pieces[a.piece].load, l.pieces[b.piece].load) })
	for _, s := range moved {
		home := l.pieces[s.piece].bin
		if p := &l.pieces[s.piece]; l.load[home]+p.load <= limit && l.room[home] >= p.size {
			l.put(s.piece, home)
			l.own[home] = append(l.own[home], s.piece)
		}
	}
}

// merge replaces the two smallest pieces that left a bin by a single one, as long as there is one.
func (l *layout) merge(limit float64) {
	for from := range l.bins {
		for l.mergeTwo(from, limit) {
		}
	}
}

func (l *layout) mergeTwo(from int, limit float64) bool {
	var gone []int
	for _, x := range l.bins[from].own {
		if l.where[x] != from {
			gone = append(gone, x)
		}
	}
	if len(gone) < 2 {
		return false
	}
	a, b := gone[len(gone)-1], gone[len(gone)-2]
	toA, toB := l.where[a], l.where[b]
	l.put(a, from)
	l.put(b, from)
	excess := l.load[from] - limit
	to := l.emptiest(from)[0] // a fuller bin takes no larger piece
	for _, x := range l.bins[from].own {
		p := &l.pieces[x]
		if l.where[x] == from && x != a && x != b && p.load >= excess && p.load <= limit-l.load[to] && p.size <= l.room[to] {
			l.put(x, to)
			return true
		}
	}
	l.put(a, toA)
	l.put(b, toB)
	return false
}
