package profile

import (
	"regexp"
	"slices"
)

// Filter returns the profile with only the samples and frames that f selects. Meaning and order are the same as
// in `go tool pprof`: first Prune, then Focus, Ignore, Hide and Show, then nodes (google/pprof internal/driver:
// applyFocus; profile/filter.go). An expression matches the name or file of a function, or the file of a
// mapping. Samples that have no frames left are dropped, so pprof computes percentages of the unfiltered
// profile's total.
func (p *Profile) Filter(f *Filter) *Profile {
	p = p.Prune()
	if f.Empty() {
		return p
	}
	out := *p
	if f.Focus != nil || f.Ignore != nil || f.Hide != nil || f.Show != nil {
		out.byName(f)
	}
	if f.Nodes != nil {
		out.byNode(f.Nodes)
	}
	return &out
}

// matches holds the functions and mappings that an expression matches.
type matches struct{ functions, mappings []bool }

// match returns the matches of rx, nil if rx is nil.
func (p *Profile) match(rx *regexp.Regexp) *matches {
	if rx == nil {
		return nil
	}
	m := &matches{functions: make([]bool, len(p.Functions)), mappings: make([]bool, len(p.Mappings))}
	for i := range p.Functions {
		m.functions[i] = rx.MatchString(p.Functions[i].Name) || rx.MatchString(p.Functions[i].File)
	}
	for i := range p.Mappings {
		m.mappings[i] = rx.MatchString(p.Mappings[i].File)
	}
	return m
}

// mapping reports whether the mapping of a location matches.
func (m *matches) mapping(l *Location) bool { return l.Mapping != NoMapping && m.mappings[l.Mapping] }

// any reports whether a function or the mapping of a location matches.
func (m *matches) any(l *Location, lines []Line) bool {
	return slices.ContainsFunc(lines, func(line Line) bool { return m.functions[line.Function] }) || m.mapping(l)
}

// byName filters samples and frames as google/pprof's FilterSamplesByName does.
func (p *Profile) byName(f *Filter) {
	focus, ignore, hide, show := p.match(f.Focus), p.match(f.Ignore), p.match(f.Hide), p.match(f.Show)
	focused, ignored, hidden := make([]bool, len(p.Locations)), make([]bool, len(p.Locations)),
		make([]bool, len(p.Locations))
	keeper := lineKeeper{p: p, locations: slices.Clone(p.Locations), lines: slices.Clip(p.Lines)}
	for i := range p.Locations {
		l := &p.Locations[i]
		lines := p.LinesOf(uint32(i))
		ignored[i] = ignore != nil && ignore.any(l, lines)
		focused[i] = !ignored[i] && (focus == nil || focus.any(l, lines))
		if hide != nil && hide.any(l, lines) {
			whole := hide.mapping(l)
			lines = keeper.keep(uint32(i), lines, func(line Line) bool {
				return !whole && !hide.functions[line.Function]
			})
			hidden[i] = len(lines) == 0
		}
		if show != nil {
			whole := show.mapping(l)
			lines = keeper.keep(uint32(i), lines,
				func(line Line) bool { return whole || show.functions[line.Function] })
			hidden[i] = hidden[i] || len(lines) == 0
		}
	}
	p.Locations, p.Lines = keeper.locations, keeper.lines
	var room []uint32
	p.choose(func(_ int, stack []uint32) ([]uint32, bool) {
		some := false
		for _, l := range stack {
			if ignored[l] {
				return nil, false
			}
			some = some || focused[l]
		}
		if !some {
			return nil, false
		}
		room = room[:0]
		for _, l := range stack {
			if !hidden[l] {
				room = append(room, l)
			}
		}
		return room, len(room) > 0
	})
}

// lineKeeper assigns new lines to locations and appends them to the table. The table must be clipped, so that
// the first append copies it.
type lineKeeper struct {
	p         *Profile
	locations []Location
	lines     []Line
}

func (k *lineKeeper) keep(location uint32, lines []Line, wanted func(Line) bool) []Line {
	n := 0
	for _, line := range lines {
		if wanted(line) {
			n++
		}
	}
	if n == len(lines) {
		return lines
	}
	l := &k.locations[location]
	l.FirstLine, l.Lines = uint32(len(k.lines)), uint32(n)
	for _, line := range lines {
		if wanted(line) {
			k.lines = append(k.lines, line)
		}
	}
	return k.lines[l.FirstLine:]
}

// byNode keeps the samples of the given nodes.
func (p *Profile) byNode(nodes []string) {
	keep := make([]bool, len(p.LabelSets))
	for i, set := range p.LabelSets {
		keep[i] = slices.ContainsFunc(set, func(l Label) bool {
			return l.Key == NodeLabel && !l.IsNum && slices.Contains(nodes, l.Str)
		})
	}
	p.choose(func(i int, stack []uint32) ([]uint32, bool) { return stack, p.LabelOf != nil && keep[p.LabelOf[i]] })
}

// choose keeps the samples that pick selects, with a copy of the stack that it returns.
func (p *Profile) choose(pick func(i int, stack []uint32) ([]uint32, bool)) {
	if len(p.Starts) == 0 {
		return
	}
	width := len(p.Types)
	starts, stacks := make([]uint32, 1, len(p.Starts)), make([]uint32, 0, len(p.Stacks)/2)
	var values []int64
	var labels []uint32
	for i := range p.Len() {
		stack, ok := pick(i, p.Stack(i))
		if !ok {
			continue
		}
		stacks = append(stacks, stack...)
		starts = append(starts, uint32(len(stacks)))
		values = append(values, p.Values[i*width:(i+1)*width]...)
		if p.LabelOf != nil {
			labels = append(labels, p.LabelOf[i])
		}
	}
	p.Starts, p.Stacks, p.Values, p.LabelOf = starts, stacks, values, labels
}
