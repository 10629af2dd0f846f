package pgo

import (
	"cmp"
	"slices"
	"strings"

	"kitescope/profile"
)

// EdgesOf counts the calls of a profile exactly as `go tool preprofile` and the compiler do
// (cmd/internal/pgo: FromPProf, internal/profile: NewGraph):
//
//   - The first sample type that is samples/count or cpu/nanoseconds is taken.
//   - Only the leaf of a stack and its caller count, each with all that is inlined in it: calls further up are
//     rarely made again.
//   - A call counts once per sample, and one from a position to itself not at all.
//   - At least one function must have a StartLine.
//
// A profile without samples has no Edges, as has one whose weights add up to 0: Go takes both, and does nothing
// with them. What Go refuses is an error, with a hint.
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

// kindOf is the sample type that the compiler takes, -1 if there is none (cmd/internal/pgo: FromPProf).
func kindOf(p *profile.Profile) int {
	return slices.IndexFunc(p.Types, func(t profile.ValueType) bool {
		return t == profile.ValueType{Type: "samples", Unit: "count"} || t == profile.ValueType{Type: "cpu", Unit: "nanoseconds"}
	})
}

// refused is why Go does not take a profile with these calls (cmd/internal/pgo: createNamedEdgeMap).
func (c *calls) refused() error {
	if c.p.Len() > 0 && !c.hasStartLine {
		return noStartLines(c.p).err()
	}
	return nil
}

// edges are the calls by name, with their weights.
func (c *calls) edges() *Edges {
	weight := make([]int64, len(c.named))
	total := int64(0)
	for i, l := range c.links {
		if c.counts(l) {
			weight[c.of[i]] += l.weight
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
		if n := c.of[i]; c.counts(l) && !isThere[n] {
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
	return cmp.Or(strings.Compare(a.Caller, b.Caller), strings.Compare(a.Callee, b.Callee), cmp.Compare(a.Offset, b.Offset))
}
