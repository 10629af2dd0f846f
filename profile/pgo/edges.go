package pgo

import (
	"cmp"
	"slices"
	"strings"

	"kitescope/profile"
)

// EdgesOf counts the calls of a profile exactly as `go tool preprofile` and the compiler do (cmd/internal/pgo:
// FromPProf, internal/profile: NewGraph):
//
//   - It selects the first sample type that is samples/count or cpu/nanoseconds.
//   - Only the leaf of a stack and its caller count, each with all functions inlined into it, because the
//     calls further up are rarely repeated.
//   - A call counts once per sample. A call from a position to itself does not count.
//   - At least one function must have a StartLine.
//
// The result has no edges if the profile has no samples, or if its weights add up to 0: Go accepts and ignores
// such profiles. EdgesOf returns an error with a hint if Go refuses the profile.
func EdgesOf(p *profile.Profile) (*Edges, error) {
	c, err := callsOf(p)
	if err != nil {
		return nil, err
	}
	if err := c.refused(); err != nil {
		return nil, err
	}
	return c.edges(), nil
}

// kindOf returns the index of the sample type that the compiler selects, -1 if none matches (cmd/internal/pgo:
// FromPProf).
func kindOf(p *profile.Profile) int {
	return slices.IndexFunc(p.Types, func(t profile.ValueType) bool {
		return t == profile.ValueType{Type: "samples", Unit: "count"} ||
			t == profile.ValueType{Type: "cpu", Unit: "nanoseconds"}
	})
}

// refused returns an error if Go refuses a profile with these calls (cmd/internal/pgo: createNamedEdgeMap).
func (c *calls) refused() error {
	if c.p.Len() > 0 && !c.hasStartLine {
		return noStartLines(c.p).err()
	}
	return nil
}

// edges returns the calls by name, with their weights.
func (c *calls) edges() *Edges {
	weight := make([]int64, len(c.named))
	total := int64(0)
	for i, l := range c.links {
		if c.counts(l) {
			weight[c.edgeOf[i]] += l.weight
			total += l.weight
		}
	}
	if total == 0 {
		return &Edges{Weight: map[Edge]int64{}}
	}
	e := &Edges{Weight: make(map[Edge]int64, len(c.named)), ByWeight: make([]Edge, 0, len(c.named)), Total: total}
	order := make([]uint32, 0, len(c.named))
	isThere := make([]bool, len(c.named))
	for i, l := range c.links {
		if n := c.edgeOf[i]; c.counts(l) && !isThere[n] {
			isThere[n] = true
			order = append(order, n)
			e.Weight[c.named[n]] = weight[n]
		}
	}
	slices.SortFunc(order, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(weight[b], weight[a]), compareEdges(c.named[a], c.named[b]))
	})
	for _, n := range order {
		e.ByWeight = append(e.ByWeight, c.named[n])
	}
	return e
}

// compareEdges orders edges of equal weight (cmd/internal/pgo: sortByWeight).
func compareEdges(a, b Edge) int {
	return cmp.Or(strings.Compare(a.Caller, b.Caller), strings.Compare(a.Callee, b.Callee),
		cmp.Compare(a.Offset, b.Offset))
}
