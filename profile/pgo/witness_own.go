package pgo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kitescope/profile"
)

// BeyondBudget is a function that was inlined though it is too large for that without PGO.
type BeyondBudget struct {
	Function string
	// Calls is how many different lines of it make calls where it is inlined, Lines how many others were met.
	Calls int `doc:"lines_with_calls"`
	Lines int `doc:"other_lines"`
	// Cost is the least that the compiler can have reckoned for it.
	Cost int `doc:"least_cost"`
}

// Without PGO a function is inlined up to this cost; a call in it that is not inlined itself costs 57, or 17 where
// it is of a parameter, which a profile does not tell; any other line at least 1 (go1.26 cmd/compile/internal/inline/inl.go:
// inlineMaxBudget, inlineExtraCallCost, inlineParamCallCost).
const (
	inlineBudget  = 80
	leastCallCost = 17
)

// BeyondBudgetOf finds functions that only PGO can have inlined, by a profile of the program alone. Five different lines
// of an inlined function that make calls are more than the budget that all functions have: only a hot call has
// a larger one (2,000). `-gcflags=-l=4` lifts it too, which nobody is told to use.
//
// Most functions that PGO inlined are not among them; that there are none says nothing.
func BeyondBudgetOf(p *profile.Profile) []BeyondBudget {
	b := budgets{p: p, at: map[bodyLine]bool{}}
	isKnown := map[uint64]bool{}
	for i := range p.Len() {
		below := uint32(none)
		for _, l := range p.Stack(i) {
			if key := uint64(l)<<32 | uint64(below); !isKnown[key] {
				isKnown[key] = true
				b.location(l, below)
			}
			below = l
		}
	}
	return b.list()
}

type bodyLine struct {
	function string
	line     int64
}

type budgets struct {
	p *profile.Profile
	// at are lines of inlined functions, and whether they make calls.
	at map[bodyLine]bool
}

// location looks at what is inlined in one, which called another, or none.
func (b *budgets) location(l, callee uint32) {
	lines := b.p.LinesOf(l)
	for i := range max(0, len(lines)-1) {
		if int64(lines[i].Function) >= int64(len(b.p.Functions)) {
			return
		}
		f := &b.p.Functions[lines[i].Function]
		if f.StartLine == 0 || f.Name == "" || isClosure(f.Name) {
			continue
		}
		at := bodyLine{f.Name, lines[i].Line}
		isCall := i == 0 && callee != none && b.costs(lines, callee)
		b.at[at] = b.at[at] || isCall
	}
}

// costs reports whether a location calls another with a call that stands in the source, of a function that is not
// one of its own frames: a cycle is not inlined, however little it costs.
func (b *budgets) costs(lines []profile.Line, callee uint32) bool {
	of := b.p.LinesOf(callee)
	if len(of) == 0 || int64(of[len(of)-1].Function) >= int64(len(b.p.Functions)) {
		return false
	}
	f := &b.p.Functions[of[len(of)-1].Function]
	if f.StartLine == 0 || isImplicit(f.Name) {
		return false
	}
	return !slices.ContainsFunc(lines, func(l profile.Line) bool {
		return int64(l.Function) < int64(len(b.p.Functions)) && b.p.Functions[l.Function].Name == f.Name
	})
}

// isClosure reports whether a function is a literal: one that is called in one place only has a larger budget
// (inlineClosureCalledOnceCost).
func isClosure(name string) bool {
	last := name[strings.LastIndexByte(name, '/')+1:]
	for _, part := range []string{".func", "-range", ".gowrap", ".deferwrap"} {
		if i := strings.LastIndex(last, part); i >= 0 && i+len(part) < len(last) && last[i+len(part)] >= '0' && last[i+len(part)] <= '9' {
			return true
		}
	}
	return false
}

// isImplicit reports whether the compiler makes calls of a function by itself, or has an instruction for it.
func isImplicit(name string) bool {
	if !strings.Contains(name, ".") || isInterrupt(name) {
		return true // assembly: memeqbody
	}
	return slices.ContainsFunc([]string{"runtime.", "internal/", "type:", "type..", "go:", "sync/atomic.", "math.", "math/bits.", "reflect."}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// list are those beyond the budget, the largest first.
func (b *budgets) list() []BeyondBudget {
	all := map[string]*BeyondBudget{}
	for at, isCall := range b.at {
		f := all[at.function]
		if f == nil {
			f = &BeyondBudget{Function: at.function}
			all[at.function] = f
		}
		if isCall {
			f.Calls++
			f.Cost += leastCallCost
		} else {
			f.Lines++
			f.Cost++
		}
	}
	var list []BeyondBudget
	for _, f := range all {
		if f.Cost > inlineBudget {
			list = append(list, *f)
		}
	}
	slices.SortFunc(list, func(a, b BeyondBudget) int {
		return cmp.Or(cmp.Compare(b.Cost, a.Cost), strings.Compare(a.Function, b.Function))
	})
	return list
}

func ownReason(own []BeyondBudget) string {
	first := own[0]
	return fmt.Sprintf("%s is inlined, with calls on %d of its lines: it costs at least %d, and without PGO functions up to %d are inlined",
		first.Function, first.Calls, first.Cost, inlineBudget)
}
