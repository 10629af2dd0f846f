package pgo

import (
	"context"
	"hash/fnv"
	"slices"
	"strconv"

	"kitescope/profile"
)

// stackCalls are the calls between functions of Go in whole stacks, and which samples have them. What the compiler
// counts (calls) is only the end of each stack: too little to tell two loads apart, as many functions share their ends.
type stackCalls struct {
	ids   map[Edge]uint32
	edges []Edge
	// hashes are of the edges, and the same in all profiles.
	hashes []uint64
	// Samples with the same calls are one group: those of group i are steps[starts[i]:starts[i+1]], each once.
	steps, starts []uint32
	// keys are the sums of the hashes of the calls of each group, by which groups of several profiles are the same.
	keys  []uint64
	group map[uint64]uint32
	// weights are how many samples each group has; if not counted, as nothing tells that, their values.
	weights []float64
	counted bool
}

// mostFrames bounds how many frames are looked at. Of a larger profile each second, third, ... sample is taken,
// which are enough to tell loads apart.
const mostFrames = 8_000_000

// checkEvery is after how many samples a long loop looks whether it should end.
const checkEvery = 1 << 14

// stackWalk is the way through the stacks of one profile.
type stackWalk struct {
	*stackCalls
	p     *profile.Profile
	pairs map[uint64]uint32 // the call between two lines of the profile
	seen  []uint32          // the last sample that had a call
	own   []uint32          // the calls of the sample under way
	key   uint64
}

// stackCallsOf finds the calls of a profile. The error is that of the context.
func stackCallsOf(ctx context.Context, p *profile.Profile) (*stackCalls, error) {
	s := &stackCalls{ids: map[Edge]uint32{}, starts: []uint32{0}, group: map[uint64]uint32{}}
	kind := kindOf(p)
	if kind < 0 {
		return s, nil
	}
	events, total := p.Events(kind)
	s.counted = total >= 0
	stride := 1 + len(p.Stacks)/mostFrames
	w := &stackWalk{stackCalls: s, p: p, pairs: map[uint64]uint32{}}
	for i := 0; i < p.Len(); i += stride {
		if i/stride%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		n := events(i)
		if !s.counted {
			n = float64(p.Value(i, kind))
		}
		if n > 0 {
			w.take(p.Stack(i), uint32(i)+1)
			s.add(w.key, w.own, n)
		}
	}
	return s, nil
}

// take finds the calls of a stack.
func (w *stackWalk) take(stack []uint32, stamp uint32) {
	w.own, w.key = w.own[:0], 0
	parent := uint32(none)
	for _, location := range slices.Backward(stack) {
		l := &w.p.Locations[location]
		for line := l.FirstLine + l.Lines; line > l.FirstLine; line-- {
			child := line - 1
			if w.p.Functions[w.p.Lines[child].Function].StartLine == 0 {
				child = none // native code
			}
			if parent != none && child != none && parent != child {
				w.call(parent, child, stamp)
			}
			parent = child
		}
		if l.Lines == 0 {
			parent = none
		}
	}
}

// call counts the call between two lines, once in each sample.
func (w *stackWalk) call(parent, child, stamp uint32) {
	pair := uint64(parent)<<32 | uint64(child)
	id, ok := w.pairs[pair]
	if !ok {
		caller, callee := &w.p.Functions[w.p.Lines[parent].Function], &w.p.Functions[w.p.Lines[child].Function]
		id = w.id(Edge{Caller: caller.Name, Callee: callee.Name, Offset: int(w.p.Lines[parent].Line - caller.StartLine)})
		w.pairs[pair] = id
	}
	for len(w.seen) <= int(id) {
		w.seen = append(w.seen, 0)
	}
	if w.seen[id] != stamp {
		w.seen[id] = stamp
		w.own = append(w.own, id)
		w.key += w.hashes[id]
	}
}

// id is the number of a call.
func (s *stackCalls) id(e Edge) uint32 {
	id, ok := s.ids[e]
	if !ok {
		id = uint32(len(s.edges))
		s.ids[e], s.edges = id, append(s.edges, e)
		h := fnv.New64a()
		_, _ = h.Write([]byte(e.Caller + "\x00" + e.Callee + "\x00" + strconv.Itoa(e.Offset)))
		s.hashes = append(s.hashes, h.Sum64())
	}
	return id
}

// add adds samples with the same calls, and gives their group.
func (s *stackCalls) add(key uint64, steps []uint32, weight float64) uint32 {
	at, ok := s.group[key]
	if !ok {
		at = uint32(len(s.keys))
		s.group[key] = at
		s.keys = append(s.keys, key)
		s.steps = append(s.steps, steps...)
		s.starts = append(s.starts, uint32(len(s.steps)))
		s.weights = append(s.weights, 0)
	}
	s.weights[at] += weight
	return at
}

// shares are what each call has of all calls, where groups have these weights; nil if there are no calls.
func (s *stackCalls) shares(weights []float64) []float64 {
	share, total := make([]float64, len(s.edges)), 0.0
	for i, n := range weights {
		if n == 0 {
			continue
		}
		for _, id := range s.steps[s.starts[i]:s.starts[i+1]] {
			share[id] += n
			total += n
		}
	}
	if total == 0 {
		return nil
	}
	for i := range share {
		share[i] /= total
	}
	return share
}
