package pgo

import (
	"strings"

	"kitescope/profile"
)

// Sight is what is known of calls in a program: which are inlined, which are made.
type Sight struct {
	calls map[Edge]seen
	// starts are the first lines of the functions that are there; of a binary nil if nobody knows.
	starts map[string]int
	// all says that a call which is not there is not inlined, as of a binary that was read as a whole.
	// Of a profile it is unknown.
	all bool
}

// seen says how a call was met. It can be both: the compiler decides anew in each copy of a function that it inlined.
type seen struct{ inlined, made bool }

// SightOfProfile is what the stacks of a profile show. Frames within a location were inlined; between two locations there
// was a call.
func SightOfProfile(p *profile.Profile) *Sight {
	s := &Sight{calls: map[Edge]seen{}, starts: map[string]int{}}
	w := sightWalk{s: s, p: p, within: make([]bool, len(p.Locations)), pairs: map[uint64]bool{}}
	for i := range p.Len() {
		stack := p.Stack(i)
		for j, l := range stack {
			w.location(l)
			if j+1 < len(stack) {
				w.call(stack[j+1], l)
			}
		}
	}
	return s
}

// SightOfBinary is what a binary itself says: all calls that are inlined in it, and the first lines of all its functions,
// nil if these are unknown.
func SightOfBinary(inlined map[Edge]bool, starts map[string]int) *Sight {
	s := &Sight{calls: make(map[Edge]seen, len(inlined)), starts: starts, all: true}
	for e, is := range inlined {
		if is {
			s.calls[e] = seen{inlined: true}
		}
	}
	return s
}

// of is how a call was met, and whether anything is known of it.
func (s *Sight) of(e Edge) (seen, bool) {
	x, ok := s.calls[e]
	if !ok && s.all && s.has(e.Caller) && s.has(e.Callee) {
		return seen{made: true}, true
	}
	return x, ok
}

// has reports whether a program may have a function.
func (s *Sight) has(name string) bool {
	_, ok := s.starts[name]
	return ok || s.starts == nil
}

// moved counts the functions that another program has as well, and those of them that begin on other lines there: then
// it is of other sources, or of another Go.
func (s *Sight) moved(other *Sight) Moved {
	var m Moved
	for name, start := range s.starts {
		if there := other.starts[name]; start != 0 && there != 0 {
			m.Of++
			if there != start {
				m.Functions++
			}
		}
	}
	return m
}

// callSite is the line of a call, which is all that the compiler knows a hot call by (cmd/compile/internal/inline:
// candHotEdgeMap).
type callSite struct {
	caller string
	offset int
}

// hotSites are the lines of hot calls. Those in generic functions are there by their short names as well.
func hotSites(hot []Edge) map[callSite]bool {
	sites := map[callSite]bool{}
	for _, e := range hot {
		sites[callSite{e.Caller, e.Offset}] = true
		if i, j := strings.IndexByte(e.Caller, '['), strings.LastIndexByte(e.Caller, ']'); i >= 0 && i < j {
			sites[callSite{e.Caller[:i] + "[...]" + e.Caller[j+1:], e.Offset}] = true
		}
	}
	return sites
}

// cheap are the functions that are inlined in calls which are not hot: they are small enough for that without PGO, which
// inlines others in hot calls alone.
func (s *Sight) cheap(hot map[callSite]bool) map[string]bool {
	functions := map[string]bool{}
	for e, how := range s.calls {
		if how.inlined && !hot[callSite{e.Caller, e.Offset}] {
			functions[e.Callee] = true
		}
	}
	return functions
}

type sightWalk struct {
	s      *Sight
	p      *profile.Profile
	within []bool
	pairs  map[uint64]bool
}

// location notes what is inlined in one.
func (w *sightWalk) location(l uint32) {
	if w.within[l] {
		return
	}
	w.within[l] = true
	lines := w.p.LinesOf(l)
	for i := 1; i < len(lines); i++ {
		w.note(lines[i], lines[i-1], seen{inlined: true})
	}
}

// call notes that the innermost frame of a location called the outermost of another.
func (w *sightWalk) call(from, to uint32) {
	key := uint64(from)<<32 | uint64(to)
	if w.pairs[key] {
		return
	}
	w.pairs[key] = true
	by, of := w.p.LinesOf(from), w.p.LinesOf(to)
	if len(by) > 0 && len(of) > 0 {
		w.note(by[0], of[len(of)-1], seen{made: true})
	}
}

func (w *sightWalk) note(from, to profile.Line, how seen) {
	e, ok := edgeOf(w.p, from, to)
	if !ok {
		return
	}
	w.s.starts[e.Caller] = int(w.p.Functions[from.Function].StartLine)
	w.s.starts[e.Callee] = int(w.p.Functions[to.Function].StartLine)
	x := w.s.calls[e]
	w.s.calls[e] = seen{inlined: x.inlined || how.inlined, made: x.made || how.made}
}

// edgeOf names a call between two Go functions.
func edgeOf(p *profile.Profile, from, to profile.Line) (Edge, bool) {
	if int64(from.Function) >= int64(len(p.Functions)) || int64(to.Function) >= int64(len(p.Functions)) {
		return Edge{}, false
	}
	caller, callee := &p.Functions[from.Function], &p.Functions[to.Function]
	if caller.Name == "" || callee.Name == "" || caller.StartLine == 0 || callee.StartLine == 0 {
		return Edge{}, false // no Go code: C, or a profile without start lines
	}
	return Edge{Caller: caller.Name, Callee: callee.Name, Offset: int(from.Line) - int(caller.StartLine)}, true
}

// isInterrupt reports whether a function is not called but put upon a stack by the runtime.
func isInterrupt(name string) bool {
	switch strings.TrimSuffix(name, ".abi0") {
	case "runtime.asyncPreempt", "runtime.sigpanic", "runtime.goexit", "runtime.mcall", "runtime.systemstack", "runtime.morestack":
		return true
	}
	return strings.HasPrefix(name, blockedPrefix)
}
