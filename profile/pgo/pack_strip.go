package pgo

import (
	"cmp"
	"slices"
	"strings"

	"kitescope/profile"
)

// stripper collects the data of samples that the compiler reads, and merges samples in which this data is
// equal. Since go1.20 the compiler reads only the last two locations of a stack (internal/profile: NewGraph).
type stripper struct {
	fold bool
	b    *profile.Builder

	// The current profile, and the index in the result of each of its locations, with address 0 (plain) and
	// with address 1 (recursive).
	p         *profile.Profile
	functions []uint32
	plain     []uint32
	recursive []uint32
	lines     []profile.Line
}

// recursiveAddress is the address of a leaf that the compiler must not confuse with its caller.
//
// The compiler treats two frames as one if function, line and address are equal, and does not count a call between
// them. Addresses are dropped, so that equal calls from different places are merged. If that would turn a function
// that calls itself into a single frame, the leaf gets this artificial address.
const recursiveAddress = 1

func newStripper(kind profile.ValueType, o *PackOptions) *stripper {
	return &stripper{fold: o.FoldPreempt, b: profile.NewBuilder(kind)}
}

// add adds the samples of a profile with the values of one sample type.
func (s *stripper) add(p *profile.Profile, kind int) error {
	if s.fold {
		p = p.FoldPreempt()
	}
	s.p = p
	s.functions, s.plain, s.recursive = unset(s.functions, len(p.Functions)), unset(s.plain, len(p.Locations)),
		unset(s.recursive, len(p.Locations))
	var stack []uint32
	for i := range p.Len() {
		v := p.Value(i, kind)
		if v == 0 {
			continue
		}
		from := p.Stack(i)
		if len(from) > 2 {
			from = from[:2]
		}
		stack = stack[:0]
		for j, l := range from {
			if j == 0 && len(from) > 1 && s.looksLike(l, from[1]) {
				stack = append(stack, s.location(l, s.recursive, recursiveAddress))
				continue
			}
			stack = append(stack, s.location(l, s.plain, 0))
		}
		if err := s.b.Sample(stack, []int64{v}); err != nil {
			return err
		}
	}
	return nil
}

// unset returns a table of n entries, all set to none, and reuses list.
func unset(list []uint32, n int) []uint32 {
	list = slices.Grow(list[:0], n)[:n]
	for i := range list {
		list[i] = none
	}
	return list
}

// frame is a frame as the compiler distinguishes it, without its address.
type frame struct {
	name        string
	start, line int64
}

func (s *stripper) frame(l profile.Line) frame {
	if int64(l.Function) >= int64(len(s.p.Functions)) {
		return frame{}
	}
	f := &s.p.Functions[l.Function]
	return frame{f.Name, f.StartLine, l.Line}
}

// looksLike reports whether a leaf and its caller have a frame in common, addresses aside.
func (s *stripper) looksLike(leaf, caller uint32) bool {
	if s.p.Locations[leaf].Address == s.p.Locations[caller].Address {
		return false // the compiler treats them as one even with their real addresses
	}
	of, by := s.p.LinesOf(leaf), s.p.LinesOf(caller)
	nameless := []profile.Line{{Function: none}}
	if len(of) == 0 {
		of = nameless
	}
	if len(by) == 0 {
		by = nameless
	}
	return slices.ContainsFunc(of, func(a profile.Line) bool {
		f := s.frame(a)
		return slices.ContainsFunc(by, func(b profile.Line) bool { return s.frame(b) == f })
	})
}

// location returns the index in the result of location l.
func (s *stripper) location(l uint32, known []uint32, address uint64) uint32 {
	if known[l] != none {
		return known[l]
	}
	s.lines = s.lines[:0]
	for _, line := range s.p.LinesOf(l) {
		f := s.frame(line)
		s.lines = append(s.lines, profile.Line{
			Function: s.b.Function(profile.Function{Name: f.name, StartLine: f.start}), Line: f.line,
		})
	}
	known[l] = s.b.Location(profile.NoMapping, address, s.lines...)
	return known[l]
}

// profile returns the result in an order that does not depend on the order of the profiles.
func (s *stripper) profile() (*profile.Profile, error) {
	p := s.b.Profile()
	rank := ranks(p)
	samples := make([]int, p.Len())
	for i := range samples {
		samples[i] = i
	}
	slices.SortFunc(samples, func(a, b int) int {
		return slices.CompareFunc(p.Stack(a), p.Stack(b),
			func(l, m uint32) int { return cmp.Compare(rank[l], rank[m]) })
	})
	ordered := profile.NewBuilder(p.Types...)
	to := &stripper{b: ordered, p: p, plain: unset(nil, len(p.Locations))}
	var stack []uint32
	for _, i := range samples {
		stack = stack[:0]
		for _, l := range p.Stack(i) {
			stack = append(stack, to.location(l, to.plain, p.Locations[l].Address))
		}
		if err := ordered.Sample(stack, []int64{p.Value(i, 0)}); err != nil {
			return nil, err
		}
	}
	out := ordered.Profile()
	out.Origin = profile.Origin{Name: DefaultName, Format: "pprof"}
	return out, nil
}

// ranks returns the rank of each location, ordered by its lines and its address.
func ranks(p *profile.Profile) []int {
	order := make([]uint32, len(p.Locations))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		return cmp.Or(
			slices.CompareFunc(p.LinesOf(a), p.LinesOf(b), func(l, m profile.Line) int {
				f, g := &p.Functions[l.Function], &p.Functions[m.Function]
				return cmp.Or(strings.Compare(f.Name, g.Name), cmp.Compare(f.StartLine, g.StartLine),
					cmp.Compare(l.Line, m.Line))
			}),
			cmp.Compare(p.Locations[a].Address, p.Locations[b].Address),
		)
	})
	rank := make([]int, len(order))
	for i, l := range order {
		rank[l] = i
	}
	return rank
}
