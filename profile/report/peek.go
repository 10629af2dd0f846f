package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"kitescope/profile"
)

// NewPeek shows the entries that match an expression with their callers and callees, as `go tool
// pprof -peek` does (google/pprof internal/report: printTree). A call counts once for a sample,
// however often it is on its stack, and recursion directly into itself is no call. It is an
// error if nothing matches.
func NewPeek(p *profile.Profile, rx *regexp.Regexp, o Options) (*Peek, error) {
	v, err := newView(p, o)
	if err != nil {
		return nil, err
	}
	if v.group.frames == nil {
		return nil, &Mismatch{What: fmt.Sprintf("peek by %s: a %s calls nothing", o.By, o.By), Advice: "peek by function, file, package, class or mapping"}
	}
	t := v.tally(nil)
	focus := make([]bool, len(v.group.names))
	var order []uint32
	for _, id := range v.order(t, o.SortCum) {
		if rx.MatchString(v.group.names[id]) {
			focus[id] = true
			order = append(order, id)
		}
	}
	if len(order) == 0 {
		return nil, &Mismatch{
			What:   fmt.Sprintf("peek at %q: no %s with samples matches", rx, o.By),
			Advice: "the expression is matched with whole names as the top table shows them; (?i) ignores case",
		}
	}
	inlined, called := v.inlineMarks()
	edges := v.edges(focus)
	peek := &Peek{Header: v.header}
	for _, id := range order {
		e := PeekEntry{Entry: v.entry(id, &t[id])}
		e.Inlined, e.PartlyInlined = inlined[id] && !called[id], inlined[id] && called[id]
		for _, pair := range edges.of(id, v.group.names) {
			weight := edges.weights[pair]
			if pair.callee == id {
				e.Callers = append(e.Callers, Edge{Function: v.group.names[pair.caller], Value: weight.value, Inlined: weight.inline})
			} else {
				e.Callees = append(e.Callees, Edge{Function: v.group.names[pair.callee], Value: weight.value, Inlined: weight.inline})
			}
		}
		peek.Focus = append(peek.Focus, e)
	}
	return peek, nil
}

type weight struct {
	value  int64
	inline bool
	last   uint32 // the number of the sample that was counted last, plus 1
}

// edges are the calls from and to some entries.
type edges struct {
	weights map[edge]*weight
	touches map[uint32][]edge // by either end
}

// edges adds up all calls with an end in focus.
func (v *view) edges(focus []bool) *edges {
	all := &edges{weights: map[edge]*weight{}, touches: map[uint32][]edge{}}
	for i := range v.p.Len() {
		value, div := v.value(i)
		if value == 0 && div == 0 {
			continue
		}
		caller, isRoot := uint32(0), true
		for _, location := range slices.Backward(v.p.Stack(i)) {
			ids := v.group.frames.Of(location)
			for j, callee := range slices.Backward(ids) {
				if !isRoot && caller != callee && (focus[caller] || focus[callee]) {
					all.add(edge{caller, callee}, uint32(i)+1, value, j != len(ids)-1)
				}
				caller, isRoot = callee, false
			}
		}
	}
	for pair := range all.weights {
		all.touches[pair.caller] = append(all.touches[pair.caller], pair)
		all.touches[pair.callee] = append(all.touches[pair.callee], pair)
	}
	return all
}

func (e *edges) add(pair edge, stamp uint32, value int64, inline bool) {
	w := e.weights[pair]
	switch {
	case w == nil:
		e.weights[pair] = &weight{value: value, inline: inline, last: stamp}
	case w.last != stamp:
		w.last = stamp
		w.value += value
		w.inline = w.inline && inline
	}
}

// of are the calls from and to an entry, largest first, of equal ones by name.
func (e *edges) of(id uint32, names []string) []edge {
	pairs := e.touches[id]
	slices.SortFunc(pairs, func(a, b edge) int {
		return cmp.Or(
			cmp.Compare(abs(e.weights[b].value), abs(e.weights[a].value)),
			cmp.Compare(names[a.caller], names[b.caller]), cmp.Compare(names[a.callee], names[b.callee]),
			cmp.Compare(a.caller, b.caller), cmp.Compare(a.callee, b.callee))
	})
	return pairs
}
