package report

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"

	"kitescope/profile"
	"kitescope/profile/significance"
)

// NewShare adds up the samples that have a frame whose name matches, as often as it may stand on the
// stack, and bounds what part of the program's work that is. Frames are named at the granularity of
// Options.By; granularities of whole samples (ByNode, ByLabel) have no frames, and are a Mismatch.
func NewShare(p *profile.Profile, pattern *regexp.Regexp, o Options) (*Share, error) {
	kind, err := p.KindOf(o.SampleIndex)
	if err != nil {
		return nil, err
	}
	if o.By == profile.ByNode || o.By == profile.ByLabel {
		return nil, &Mismatch{
			What:   "a share by " + o.By.String() + ": samples have one, and no frame has",
			Advice: "filter by it instead",
		}
	}
	whole := p
	if o.FoldPreempt {
		p = p.FoldPreempt()
	}
	if !o.Filter.Empty() {
		p = p.Filter(&o.Filter)
	}
	if o.Relative {
		whole = p
	}
	s := &Share{Header: newHeader(whole, kind), Pattern: pattern.String()}
	frames := p.Frames(o.By)
	m := match(frames, len(p.Locations), pattern.MatchString)
	of := m.tally(p, kind)
	s.Value, s.LeafValue = of.value, of.leafValue
	s.Matched, s.LeafMatched = of.events, of.leafEvents
	s.Part, s.Low, s.High = s.bounded(s.Value)
	s.LeafPart, s.LeafLow, s.LeafHigh = s.bounded(s.LeafValue)
	s.Functions = m.largest(p, kind)
	return s, nil
}

// bounded is a value as a part of the total, with bounds. They rest on as many events as the value
// is worth: where samples weigh differently, that is not how many matched.
func (h *Header) bounded(value int64) (part, low, high float64) {
	if h.Total == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	part = float64(value) / float64(h.Total)
	low, high = significance.ShareInterval(int64(math.Round(part*float64(h.Samples))), h.Samples)
	return part, low, high
}

// matching says which names are meant and, of each location, whether one of its frames has such a
// name, and whether its innermost has.
type matching struct {
	frames    *profile.Frames
	names     []bool
	any, leaf []bool
}

// match asks each name once.
func match(frames *profile.Frames, locations int, meant func(name string) bool) *matching {
	m := &matching{
		frames: frames, names: make([]bool, len(frames.Names)),
		any: make([]bool, locations), leaf: make([]bool, locations),
	}
	for i, name := range frames.Names {
		m.names[i] = meant(name)
	}
	for i := range locations {
		for j, id := range frames.Of(uint32(i)) {
			if m.names[id] {
				m.any[i] = true
				m.leaf[i] = m.leaf[i] || j == 0
			}
		}
	}
	return m
}

// onStack reports whether a frame of a stack is meant.
func (m *matching) onStack(stack []uint32) bool {
	return slices.ContainsFunc(stack, func(l uint32) bool { return m.any[l] })
}

// sums are what marked samples add up to; events are -1 if unknown.
type sums struct {
	value, leafValue   int64
	events, leafEvents int64
}

func (m *matching) tally(p *profile.Profile, kind int) sums {
	perSample, total := p.Events(kind)
	var s sums
	var events, leaves float64
	for i := range p.Len() {
		stack := p.Stack(i)
		if !m.onStack(stack) {
			continue
		}
		v, n := p.Value(i, kind), perSample(i)
		s.value += v
		events += n
		if m.leaf[stack[0]] {
			s.leafValue += v
			leaves += n
		}
	}
	s.events, s.leafEvents = int64(math.Round(events)), int64(math.Round(leaves))
	if total < 0 {
		s.events, s.leafEvents = -1, -1
	}
	return s
}

// largest are the names that are meant and stand on stacks, by what they are on the stack for.
func (m *matching) largest(p *profile.Profile, kind int) []string {
	cum := make(map[uint32]int64)
	last := make(map[uint32]int) // the sample that was added last, as a name counts once per stack
	for i := range p.Len() {
		for _, l := range p.Stack(i) {
			if !m.any[l] {
				continue
			}
			for _, id := range m.frames.Of(l) {
				if m.names[id] && last[id] != i+1 {
					last[id] = i + 1
					cum[id] += p.Value(i, kind)
				}
			}
		}
	}
	ids := slices.SortedFunc(maps.Keys(cum), func(a, b uint32) int {
		return cmp.Or(-cmp.Compare(cum[a], cum[b]), cmp.Compare(m.frames.Names[a], m.frames.Names[b]))
	})
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = m.frames.Names[id]
	}
	return list
}
