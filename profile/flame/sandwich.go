package flame

import (
	"regexp"
	"slices"

	"kitescope/profile"
)

// Sandwich builds two trees of the stacks with a frame that matches: one of its callers, inverted, and one of
// its callees. The matching frames are at depth 1 of both. If a stack has several, as in recursion, the one
// nearest to the root is used, so that each stack counts once.
func Sandwich(p *profile.Profile, pattern *regexp.Regexp, o Options) (callers, callees *Tree, err error) {
	kind, err := p.KindOf(o.SampleIndex)
	if err != nil {
		return nil, nil, err
	}
	return sandwich(pattern, o, func(o Options) (*builder, error) {
		b, err := newBuilder(p.Types[kind], o)
		if err == nil {
			b.join(p, kind, 1, false)
		}
		return b, err
	})
}

// SandwichDiff is like Sandwich for the difference of two profiles.
func SandwichDiff(base, p *profile.Profile, pattern *regexp.Regexp, o Options) (callers, callees *Tree, err error) {
	return sandwich(pattern, o, func(o Options) (*builder, error) { return newDiffBuilder(base, p, o) })
}

func sandwich(
	pattern *regexp.Regexp, o Options, join func(Options) (*builder, error),
) (callers, callees *Tree, err error) {
	o.Nodes = false
	half := func(inverted bool) (*Tree, error) {
		o.Inverted = false // the match nearest to the root is searched from there
		b, err := join(o)
		if err != nil {
			return nil, err
		}
		b.t.Focus = pattern.String()
		b.seek(pattern)
		if inverted {
			b.reverse()
		}
		return b.tree(), nil
	}
	if callers, err = half(true); err == nil {
		callees, err = half(false)
	}
	return callers, callees, err
}

// seek advances each item to its first matching frame and drops the items without one.
func (b *builder) seek(pattern *regexp.Regexp) {
	matches := make([]bool, len(b.table.names))
	for i, name := range b.table.names {
		matches[i] = pattern.MatchString(name)
	}
	var whole weight
	kept := b.items[:0]
	for i := range b.items {
		it := b.items[i]
		whole.add(&it)
		name, ok := b.next(&it)
		for ok && !matches[name] {
			it.line++
			name, ok = b.next(&it)
		}
		if ok {
			kept = append(kept, it)
		}
	}
	b.items = kept
	b.t.Whole, b.t.WholeBase = whole.value, whole.base
}

// reverse reverses the direction of the items: they continue from their current frame towards the root.
func (b *builder) reverse() {
	for i := range b.items {
		it := &b.items[i]
		s := &b.sides[it.line>>30&1]
		lines := uint32(len(s.frames.IDs(s.stacks[it.at])))
		it.line = it.line&^lineMask | (lines - 1 - it.line&lineMask)
		end, _ := slices.BinarySearchFunc(s.starts, it.at, func(start, at uint32) int {
			if start <= at {
				return -1
			}
			return 1
		})
		it.remaining = s.starts[end] - it.at
	}
	b.o.Inverted, b.t.Inverted, b.step = true, true, 1
}
