package flame

import (
	"regexp"
	"slices"

	"kitescope/profile"
)

// Sandwich makes two trees of the stacks with a frame that matches: what calls it, inverted, and
// what it calls. The frames that matched are those at depth 1 of both. Of a stack with several,
// as in recursion, the one nearest to the root counts, so that each stack counts once.
func Sandwich(p *profile.Profile, pattern *regexp.Regexp, o Options) (callers, callees *Tree, err error) {
	kind, err := p.KindOf(o.SampleIndex)
	if err != nil {
		return nil, nil, err
	}
	return sandwich(pattern, o, func(o Options) (*grower, error) {
		g, err := newGrower(p.Types[kind], o)
		if err == nil {
			g.join(p, kind, 1, false)
		}
		return g, err
	})
}

// SandwichDiff is Sandwich of a difference.
func SandwichDiff(base, p *profile.Profile, pattern *regexp.Regexp, o Options) (callers, callees *Tree, err error) {
	return sandwich(pattern, o, func(o Options) (*grower, error) { return newDiffGrower(base, p, o) })
}

func sandwich(pattern *regexp.Regexp, o Options, join func(Options) (*grower, error)) (callers, callees *Tree, err error) {
	o.Nodes = false
	half := func(inverted bool) (*Tree, error) {
		o.Inverted = false // the nearest to the root is sought from there
		g, err := join(o)
		if err != nil {
			return nil, err
		}
		g.t.Focus = pattern.String()
		g.seek(pattern)
		if inverted {
			g.turn()
		}
		return g.tree(), nil
	}
	if callers, err = half(true); err == nil {
		callees, err = half(false)
	}
	return callers, callees, err
}

// seek moves each item on to the first frame that matches, and drops those without.
func (g *grower) seek(pattern *regexp.Regexp) {
	matches := make([]bool, len(g.table.names))
	for i, name := range g.table.names {
		matches[i] = pattern.MatchString(name)
	}
	var whole worth
	kept := g.items[:0]
	for i := range g.items {
		it := g.items[i]
		whole.add(&it)
		name, ok := g.next(&it)
		for ok && !matches[name] {
			it.line++
			name, ok = g.next(&it)
		}
		if ok {
			kept = append(kept, it)
		}
	}
	g.items = kept
	g.t.Whole, g.t.WholeBase = whole.value, whole.base
}

// turn makes items go on towards the root, from the frame that they are at.
func (g *grower) turn() {
	for i := range g.items {
		it := &g.items[i]
		s := &g.sides[it.line>>30&1]
		lines := uint32(len(s.frames.Of(s.stacks[it.at])))
		it.line = it.line&^lineMask | (lines - 1 - it.line&lineMask)
		end, _ := slices.BinarySearchFunc(s.starts, it.at, func(start, at uint32) int {
			if start <= at {
				return -1
			}
			return 1
		})
		it.left = s.starts[end] - it.at
	}
	g.o.Inverted, g.t.Inverted, g.step = true, true, 1
}
