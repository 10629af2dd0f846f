package report

import (
	"math"

	"kitescope/profile"
)

// entrySums are what one entry adds up to.
type entrySums struct {
	flat, cum, flatDiv, cumDiv int64
	flatEvents, cumEvents      float64
	// last is the number of the sample that was counted last, plus 1: a function counts once for
	// a stack, however often it is on it.
	last uint32
}

// mean is a value divided by the divisor's, where there is one.
func mean(value, div int64) int64 {
	if div == 0 {
		return value
	}
	return value / div
}

// tally adds up the samples that pick wants, nil for all, by id. Empty stacks count for no frame.
func (v *view) tally(pick func(i int) bool) []entrySums {
	t := make([]entrySums, len(v.group.names))
	frames, own := v.group.frames, v.group.own
	for i := range v.p.Len() {
		if pick != nil && !pick(i) {
			continue
		}
		value, div := v.value(i)
		called := v.called(i, value)
		if value == 0 && div == 0 && called == 0 {
			continue
		}
		events := 0.0
		if v.known {
			events = v.events(i)
		}
		stamp := uint32(i) + 1
		stack := v.p.Stack(i)
		leaf := uint32(math.MaxUint32)
		if own != nil {
			leaf = own[i]
			t[leaf].addCum(stamp, value, div, events)
		} else if len(stack) > 0 {
			leaf = frames.Of(stack[0])[0]
		}
		if frames != nil {
			cumEvents := events
			if called != value && v.header.Total != 0 {
				cumEvents = float64(called) / float64(v.header.Total) * float64(v.header.Samples)
			}
			for _, location := range stack {
				for _, id := range frames.Of(location) {
					t[id].addCum(stamp, called, div, cumEvents)
				}
			}
		}
		if leaf != math.MaxUint32 {
			s := &t[leaf]
			s.flat += value
			s.flatDiv += div
			s.flatEvents += events
		}
	}
	if v.children >= 0 { // rows of one name may be of the same samples
		for i := range t {
			t[i].cum = min(t[i].cum, v.header.Total)
			t[i].cumEvents = min(t[i].cumEvents, float64(v.header.Samples))
		}
	}
	return t
}

func (s *entrySums) addCum(stamp uint32, value, div int64, events float64) {
	if s.last != stamp {
		s.last = stamp
		s.cum += value
		s.cumDiv += div
		s.cumEvents += events
	}
}

// called is what sample i has with what it called, where that is no matter of stacks; else its value.
func (v *view) called(i int, value int64) int64 {
	if v.children < 0 {
		return value
	}
	return v.p.Value(i, v.children)
}

// value is that of sample i, and what to divide it by.
func (v *view) value(i int) (value, div int64) {
	if v.divisor >= 0 {
		div = v.p.Value(i, v.divisor)
	}
	return v.p.Value(i, v.kind), div
}

// entry is that of an id.
func (v *view) entry(id uint32, s *entrySums) Entry {
	e := Entry{
		Function: v.group.names[id], File: v.group.files[id], Class: v.group.classes[id],
		Flat: mean(s.flat, s.flatDiv), Cum: mean(s.cum, s.cumDiv), FlatSamples: -1, CumSamples: -1,
	}
	if v.known {
		e.FlatSamples, e.CumSamples = int64(math.Round(s.flatEvents)), int64(math.Round(s.cumEvents))
	}
	return e
}

// inlining finds how calls of functions were made: "(inline)" and "(partial-inline)" of pprof,
// which asks the edges of its graph (google/pprof internal/graph: newGraph, internal/report:
// TextItems). An edge is inline if it never was anything else in a sample where it was met first
// from the root; an entry is inline if an edge to it is, and partly if another is not.
type inlining struct {
	v      *view
	frames *profile.Frames
	// inlined are the edges within locations of samples that count, called those between locations.
	inlined, called map[edge]bool
	// target are entries that inlined edges lead to; others need not be looked at.
	target []bool
}

type edge struct{ caller, callee uint32 }

// inlineMarks says of each entry whether some of its edges are inline, and whether some are not.
func (v *view) inlineMarks() (inlined, called []bool) {
	inlined, called = make([]bool, len(v.group.names)), make([]bool, len(v.group.names))
	if v.group.frames == nil || v.group.own != nil {
		return inlined, called
	}
	in := &inlining{v: v, frames: v.group.frames, inlined: map[edge]bool{}, called: map[edge]bool{}, target: make([]bool, len(v.group.names))}
	if !in.within() {
		return inlined, called
	}
	in.between()
	for e := range in.inlined {
		if !in.called[e] {
			inlined[e.callee] = true
		}
	}
	for e := range in.called {
		called[e.callee] = true
	}
	return inlined, called
}

// within collects the edges inside of locations; it is false if there are none.
func (in *inlining) within() bool {
	several := make([]bool, len(in.v.p.Locations))
	some := false
	for i := range several {
		several[i] = len(in.frames.Of(uint32(i))) > 1
		some = some || several[i]
	}
	if !some {
		return false
	}
	for i := range in.v.p.Len() {
		if value, div := in.v.value(i); value == 0 && div == 0 {
			continue
		}
		for _, location := range in.v.p.Stack(i) {
			if !several[location] {
				continue
			}
			several[location] = false
			ids := in.frames.Of(location)
			for j := len(ids) - 2; j >= 0; j-- {
				if ids[j] != ids[j+1] {
					in.inlined[edge{ids[j+1], ids[j]}] = true
					in.target[ids[j]] = true
				}
			}
		}
	}
	return true
}

// between collects the edges between locations that lead to targets.
func (in *inlining) between() {
	last := make([]uint32, len(in.target)) // the caller that was seen last, plus 1: mostly the same again
	for i := range in.v.p.Len() {
		if value, div := in.v.value(i); value == 0 && div == 0 {
			continue
		}
		stack := in.v.p.Stack(i)
		for j := 0; j+1 < len(stack); j++ {
			ids := in.frames.Of(stack[j])
			e := edge{in.frames.Of(stack[j+1])[0], ids[len(ids)-1]}
			if !in.target[e.callee] || e.caller == e.callee || last[e.callee] == e.caller+1 || in.called[e] {
				continue
			}
			if in.inlined[e] && in.inlinedAbove(e, stack[j+1:]) {
				continue
			}
			in.called[e] = true
			last[e.callee] = e.caller + 1
		}
	}
}

// inlinedAbove reports whether an edge was met inside of a location nearer to the root.
func (in *inlining) inlinedAbove(e edge, callers []uint32) bool {
	for _, location := range callers {
		ids := in.frames.Of(location)
		for j := 0; j+1 < len(ids); j++ {
			if ids[j] == e.callee && ids[j+1] == e.caller {
				return true
			}
		}
	}
	return false
}
