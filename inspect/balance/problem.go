package balance

import (
	"cmp"
	"fmt"
	"slices"

	"kitescope/inspect/model"
)

// tolerance is what rounding may add to a limit.
const tolerance = 1e-9

// problem is a plan as numbers: pieces lie in bins, and as few of them as possible are
// to change their bin so that no bin holds more than the limit.
type problem struct {
	bins   []bin
	pieces []piece
	mean   float64
	// limit is what no bin may exceed.
	limit float64
	// exhausted says that lowest has tried everything: lower than it found there is nothing.
	exhausted bool
}

type bin struct {
	node model.NodeID
	// fixed is what cannot be moved: growing rows, segments of unknown rows, or on two nodes.
	fixed float64
	load  float64
	// room is how many bytes may still come; endless if unknown.
	room  float64
	total float64 // over all groups, to tell equal bins apart
	other float64 // the load by another measure, to tell equal solutions apart
	own   []int   // its pieces, the largest first
}

type piece struct {
	item int
	bin  int
	load float64
	size float64
	// other is the load by another measure.
	other float64
}

// step takes a piece to another bin.
type step struct{ piece, to int }

type solution struct {
	steps   []step
	atLeast int
}

const endless = 1e300

func newProblem(g *Group, items []item, o Options, totals, room map[model.NodeID]float64) *problem {
	p := &problem{}
	at := make(map[model.NodeID]int)
	sum, other := 0.0, o.By.other()
	for _, x := range g.Shares {
		if !x.counts() {
			continue
		}
		load := o.By.share(x)
		sum += load
		if !x.takes || x.FromMetrics {
			continue
		}
		space, ok := room[x.Node]
		if !ok {
			space = endless
		}
		at[x.Node] = len(p.bins)
		p.bins = append(p.bins, bin{node: x.Node, fixed: load, load: load, room: space, total: totals[x.Node], other: other.share(x)})
	}
	for i := range items {
		b, ok := at[items[i].node]
		if !ok {
			continue
		}
		load := o.By.item(&items[i])
		p.bins[b].fixed -= load
		p.bins[b].own = append(p.bins[b].own, len(p.pieces))
		p.pieces = append(p.pieces, piece{i, b, load, float64(items[i].size), other.item(&items[i])})
	}
	p.sortPieces()
	if len(p.bins) > 0 {
		p.mean = sum / float64(countTakers(g))
	}
	p.limit = o.Goal * p.mean
	return p
}

// countTakers counts the shares that Spread divides by.
func countTakers(g *Group) (n int) {
	for _, x := range g.Shares {
		if x.counts() && x.takes {
			n++
		}
	}
	return n
}

func (p *problem) sortPieces() {
	for i := range p.bins {
		slices.SortFunc(p.bins[i].own, func(a, b int) int { return cmp.Or(-cmp.Compare(p.pieces[a].load, p.pieces[b].load), cmp.Compare(a, b)) })
	}
}

// solve finds the fewest steps that bring all bins under the limit, else those that bring the
// fullest as low as possible.
func (p *problem) solve() solution {
	if s, ok := p.fewest(p.limit); ok {
		return s
	}
	low, steps := p.lowest()
	if low > p.fullest()*(1-worthwhile) {
		return solution{}
	}
	if s, ok := p.fewest(low); ok && len(s.steps) <= len(steps) {
		return s
	}
	return solution{steps, 0}
}

// worthwhile is by how much the fullest bin has to become lower where the limit is out of reach: moves
// cost something too.
const worthwhile = 0.02

// smallProblem is the number of pieces up to which the lowest level is searched for exactly.
const smallProblem = 16

// lowest is the lowest level that was found, and how it is reached.
func (p *problem) lowest() (low float64, steps []step) {
	l := p.level(0)
	low, steps = l.load[l.fullest()], l.steps()
	if len(p.pieces) > smallProblem {
		return low, steps
	}
	for range smallProblem {
		better, proven, found := p.exact(low*(1-1e-6), len(p.pieces))
		if !found {
			p.exhausted = proven > len(p.pieces)
			break
		}
		l = p.layout()
		for _, s := range better {
			l.put(s.piece, s.to)
		}
		low, steps = l.load[l.fullest()], better
	}
	return low, steps
}

// fewest looks for the fewest steps that bring all bins under a limit: exactly where that is
// possible within a number of tries, else by a rule of thumb.
func (p *problem) fewest(limit float64) (solution, bool) {
	rough, ok := p.rough(limit)
	most := len(p.pieces)
	if ok {
		most = len(rough)
	}
	if most > fewSteps && (ok || most > manyPieces) {
		return solution{rough, min(most, p.searchFor(limit).bound())}, ok
	}
	steps, proven, found := p.exact(limit, most)
	switch {
	case found:
		return solution{steps, len(steps)}, true
	case ok:
		return solution{rough, min(proven, len(rough))}, true
	}
	return solution{}, false
}

// rough finds steps by rules of thumb.
func (p *problem) rough(limit float64) (steps []step, ok bool) {
	if steps, ok = p.greedy(limit); ok {
		return steps, true
	}
	limit *= 1 + tolerance
	l := p.level(limit)
	if l.load[l.fullest()] > limit {
		return nil, false
	}
	l.undo(limit)
	return l.steps(), true
}

// Where the exact search has a chance: up to fewSteps steps, or where the rule of thumb found
// nothing, up to manyPieces pieces.
const (
	fewSteps   = 12
	manyPieces = 200
)

func (p *problem) fullest() (most float64) {
	for i := range p.bins {
		most = max(most, p.bins[i].load)
	}
	return most
}

// lightest is the bin with the least of some loads but a node's own, -1 if there is none.
func (p *problem) lightest(loads map[model.NodeID]float64, not model.NodeID) int {
	best := -1
	for i := range p.bins {
		if n := p.bins[i].node; n != not && (best < 0 || loads[n] < loads[p.bins[best].node]) {
			best = i
		}
	}
	return best
}

// inOrder puts steps in an order in which each finds the room it needs, as far as possible.
func (p *problem) inOrder(steps []step) []step {
	rest := slices.Clone(steps)
	slices.SortFunc(rest, func(a, b step) int { return cmp.Compare(p.pieces[a.piece].item, p.pieces[b.piece].item) })
	room := make([]float64, len(p.bins))
	for i := range p.bins {
		room[i] = p.bins[i].room
	}
	ordered := make([]step, 0, len(rest))
	for len(rest) > 0 {
		next := max(0, slices.IndexFunc(rest, func(s step) bool { return p.pieces[s.piece].size <= room[s.to] }))
		s := rest[next]
		room[s.to] -= p.pieces[s.piece].size
		room[p.pieces[s.piece].bin] += p.pieces[s.piece].size
		ordered = append(ordered, s)
		rest = slices.Delete(rest, next, next+1)
	}
	return ordered
}

// why says why a goal is out of reach.
func (p *problem) why() string {
	worst := slices.MaxFunc(p.bins, func(a, b bin) int { return cmp.Compare(a.fixed, b.fixed) })
	largest, least := 0.0, endless
	for i := range p.pieces {
		largest = max(largest, p.pieces[i].load)
	}
	for i := range p.bins {
		least = min(least, p.bins[i].fixed)
	}
	share := func(load float64) string { return fmt.Sprintf("%.2f", load/p.mean) }
	switch {
	case worst.fixed > p.limit:
		return fmt.Sprintf("unmovable growing rows alone are %s times the mean on querynode-%d", share(worst.fixed), worst.node)
	case len(p.pieces) == 0:
		return "it has no movable sealed segment"
	case len(p.pieces) == 1:
		return fmt.Sprintf("1 segment cannot be spread over %d nodes", len(p.bins))
	case len(p.pieces) < len(p.bins):
		return fmt.Sprintf("%d segments cannot be spread over %d nodes", len(p.pieces), len(p.bins))
	case largest+max(0, least) > p.limit:
		return fmt.Sprintf("its largest segment alone is %s times the mean", share(largest))
	case p.short():
		return "the other nodes have no memory for more"
	case p.exhausted:
		return fmt.Sprintf("already as even as %d segments on %d nodes can be", len(p.pieces), len(p.bins))
	}
	return "no better split of its segments found"
}

// short reports whether memory stands in the way: with endless room the goal would be reached.
func (p *problem) short() bool {
	free := *p
	free.bins = slices.Clone(p.bins)
	bounded := false
	for i := range free.bins {
		bounded = bounded || free.bins[i].room < endless
		free.bins[i].room = endless
	}
	if !bounded {
		return false
	}
	_, ok := free.fewest(p.limit)
	return ok
}

// Reachable is about how low a group's largest share over the mean can be brought by moving segments; it looks no
// further than a goal. 0: unknown, since nobody said which segments there are.
func (s *Survey) Reachable(g *Group, o Options) float64 {
	for _, x := range g.Shares {
		if x.takes && (!x.Known || x.FromMetrics) {
			return 0
		}
	}
	p := newProblem(g, s.items()[g], o, nil, nil)
	if len(p.bins) < 2 || p.mean <= 0 {
		return 0
	}
	l := p.level(p.limit)
	return l.load[l.fullest()] / p.mean
}
