package balance

import (
	"cmp"
	"fmt"
	"slices"

	"kitescope/inspect/model"
)

// tolerance is the relative rounding error that a limit allows.
const tolerance = 1e-9

// problem is a plan as a packing problem: move few pieces between bins so that no bin exceeds the limit.
type problem struct {
	bins   []bin
	pieces []piece
	mean   float64
	// limit is the maximum load of a bin.
	limit float64
}

type bin struct {
	node model.NodeID
	// fixed is the load that cannot be moved: growing rows, segments of unknown rows, or on two nodes.
	fixed float64
	load  float64
	// room is the number of bytes that may still be added; endless if unknown.
	room   float64
	total  float64 // over all groups, to order bins of equal load
	pieces []int   // its pieces
}

type piece struct {
	item int
	bin  int
	load float64
	size float64
}

// step moves a piece to another bin.
type step struct{ piece, to int }

const unlimited = 1e300

func newProblem(g *Group, items []item, o Options, totals, room map[model.NodeID]float64) *problem {
	p := &problem{}
	at := make(map[model.NodeID]int)
	sum := 0.0
	for _, x := range g.Shares {
		if !x.counts() {
			continue
		}
		load := o.By.share(x)
		sum += load
		if !x.assignable || x.FromMetrics {
			continue
		}
		space, ok := room[x.Node]
		if !ok {
			space = unlimited
		}
		at[x.Node] = len(p.bins)
		p.bins = append(p.bins, bin{node: x.Node, fixed: load, load: load, room: space, total: totals[x.Node]})
	}
	for i := range items {
		b, ok := at[items[i].node]
		if !ok {
			continue
		}
		load := o.By.item(&items[i])
		p.bins[b].fixed -= load
		p.bins[b].pieces = append(p.bins[b].pieces, len(p.pieces))
		p.pieces = append(p.pieces, piece{i, b, load, float64(items[i].size)})
	}
	if len(p.bins) > 0 {
		p.mean = sum / float64(countAssignable(g))
	}
	p.limit = o.Goal * p.mean
	return p
}

// countAssignable counts the shares that Spread divides by.
func countAssignable(g *Group) (n int) {
	for _, x := range g.Shares {
		if x.counts() && x.assignable {
			n++
		}
	}
	return n
}

// minReduction is the relative reduction of the fullest bin that justifies moves if the limit is out of reach.
const minReduction = 0.02

// solve returns few steps that bring all bins under the limit, or steps that reduce the fullest bin as far as
// possible.
func (p *problem) solve() []step {
	l := p.layout()
	most := l.load[l.fullest()]
	if !l.even(p.limit) && l.load[l.fullest()] > most*(1-minReduction) {
		return nil
	}
	return l.steps()
}

// layout is the current position of the pieces during a search.
type layout struct {
	*problem
	load      []float64
	room      []float64
	binOf     []int   // bin of each piece
	binPieces [][]int // pieces of each bin, in no order
}

func (p *problem) layout() *layout {
	l := &layout{problem: p, binOf: make([]int, len(p.pieces)), binPieces: make([][]int, len(p.bins))}
	for i := range p.bins {
		l.load = append(l.load, p.bins[i].load)
		l.room = append(l.room, p.bins[i].room)
		l.binPieces[i] = slices.Clone(p.bins[i].pieces)
	}
	for i := range p.pieces {
		l.binOf[i] = p.pieces[i].bin
	}
	return l
}

// put moves a piece to a bin. When an original piece leaves, the bin gains no room, so that the moves may be
// made in any order.
func (l *layout) put(x, to int) {
	p, from := &l.pieces[x], l.binOf[x]
	l.load[from] -= p.load
	l.load[to] += p.load
	if from != p.bin {
		l.room[from] += p.size
	}
	if to != p.bin {
		l.room[to] -= p.size
	}
	l.binOf[x] = to
	at := slices.Index(l.binPieces[from], x)
	l.binPieces[from] = slices.Delete(l.binPieces[from], at, at+1)
	l.binPieces[to] = append(l.binPieces[to], x)
}

// steps returns the differences from the original positions.
func (l *layout) steps() []step {
	var list []step
	for x, to := range l.binOf {
		if to != l.pieces[x].bin {
			list = append(list, step{x, to})
		}
	}
	return list
}

// maxChanges limits a search. Each change moves one piece or exchanges two.
const maxChanges = 20_000

// even moves pieces from the fullest bin to the emptiest until all bins are under a limit, and reports
// whether it succeeded. It takes the smallest piece that removes the excess, or else the largest that fits,
// or else the move or exchange that minimizes the fuller of two bins.
func (l *layout) even(limit float64) bool {
	limit *= 1 + tolerance
	for range maxChanges {
		from := l.fullest()
		if l.load[from] <= limit {
			l.undo(limit)
			return true
		}
		if !l.relieve(from, limit) && !l.lower(from) {
			break
		}
	}
	l.undo(l.load[l.fullest()])
	return false
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

// relieve moves a piece from a bin to another bin that stays under the limit. It reports whether it found
// one.
func (l *layout) relieve(from int, limit float64) bool {
	excess := l.load[from] - limit
	for _, to := range l.emptiest(from) {
		space, best := limit-l.load[to], -1
		for _, x := range l.binPieces[from] {
			p := &l.pieces[x]
			if p.load <= 0 || p.load > space || p.size > l.room[to] {
				continue
			}
			enough, had := p.load >= excess, best >= 0 && l.pieces[best].load >= excess
			if best < 0 || enough && !had ||
				enough == had && (p.load < l.pieces[best].load) == enough && p.load != l.pieces[best].load {
				best = x
			}
		}
		if best >= 0 {
			l.put(best, to)
			return true
		}
	}
	return false
}

// emptiest returns the other bins by load. Bins of equal load are sorted by their total over all replicas.
func (l *layout) emptiest(from int) []int {
	list := make([]int, 0, len(l.bins)-1)
	for i := range l.bins {
		if i != from {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(a, b int) int {
		return cmp.Or(cmp.Compare(l.load[a], l.load[b]), cmp.Compare(l.bins[a].total, l.bins[b].total),
			cmp.Compare(a, b))
	})
	return list
}

// lower makes the move or exchange that minimizes the fuller of two bins: a move out of the fullest bin, or
// an exchange with one of the emptiest bins. It returns false if no move or exchange lowers the fullest bin.
func (l *layout) lower(from int) bool {
	best := l.load[from] * (1 - tolerance)
	x, to, back := -1, -1, -1
	consider := func(a, target, b int) {
		move := l.pieces[a].load
		if b >= 0 {
			move -= l.pieces[b].load
		}
		if move <= 0 || l.pieces[a].size > l.room[target] || b >= 0 && l.pieces[b].size > l.room[from] {
			return
		}
		if level := max(l.load[from]-move, l.load[target]+move); level < best {
			best, x, to, back = level, a, target, b
		}
	}
	const few = 8 // exchanges with fuller bins gain less and less
	for i, target := range l.emptiest(from) {
		for _, a := range l.binPieces[from] {
			consider(a, target, -1)
		}
		if i == 0 && x >= 0 {
			break
		}
		if i >= few {
			continue
		}
		for _, a := range l.binPieces[from] {
			for _, b := range l.binPieces[target] {
				consider(a, target, b)
			}
		}
	}
	if x < 0 {
		return false
	}
	l.put(x, to)
	if back >= 0 {
		l.put(back, from)
	}
	return true
}

// undo reverts unnecessary steps, smallest first.
func (l *layout) undo(limit float64) {
	moved := l.steps()
	slices.SortStableFunc(moved, func(a, b step) int {
		return cmp.Compare(l.pieces[a.piece].load, l.pieces[b.piece].load)
	})
	for _, s := range moved {
		home := l.pieces[s.piece].bin
		if p := &l.pieces[s.piece]; l.load[home]+p.load <= limit {
			l.put(s.piece, home)
		}
	}
}

// why returns the reason why a goal is out of reach.
func (p *problem) why() string {
	worst := slices.MaxFunc(p.bins, func(a, b bin) int { return cmp.Compare(a.fixed, b.fixed) })
	largest, least := 0.0, unlimited
	for i := range p.pieces {
		largest = max(largest, p.pieces[i].load)
	}
	for i := range p.bins {
		least = min(least, p.bins[i].fixed)
	}
	share := func(load float64) string { return fmt.Sprintf("%.2f", load/p.mean) }
	switch {
	case worst.fixed > p.limit:
		return fmt.Sprintf("unmovable growing rows alone are %s times the mean on querynode-%d", share(worst.fixed),
			worst.node)
	case len(p.pieces) == 0:
		return "it has no movable sealed segment"
	case len(p.pieces) == 1:
		return fmt.Sprintf("1 segment cannot be spread over %d nodes", len(p.bins))
	case len(p.pieces) < len(p.bins):
		return fmt.Sprintf("%d segments cannot be spread over %d nodes", len(p.pieces), len(p.bins))
	case largest+max(0, least) > p.limit:
		return fmt.Sprintf("its largest segment alone is %s times the mean", share(largest))
	}
	return "no better split of its segments within the memory of its nodes"
}

// Reachable returns approximately the lowest ratio of the largest share to the mean that moving segments can
// achieve. It stops at the goal. It returns 0 if a node did not report its segments, if fewer than two nodes
// take segments, or if the load is 0.
func (s *Survey) Reachable(g *Group, o Options) float64 {
	for _, x := range g.Shares {
		if x.assignable && (!x.Known || x.FromMetrics) {
			return 0
		}
	}
	p := newProblem(g, s.items()[g], o, nil, nil)
	if len(p.bins) < 2 || p.mean <= 0 {
		return 0
	}
	l := p.layout()
	l.even(p.limit)
	return l.load[l.fullest()] / p.mean
}
