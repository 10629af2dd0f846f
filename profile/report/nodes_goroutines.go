package report

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"kitescope/profile"
	"kitescope/profile/significance"
)

// Growth is how the goroutines of one process became more or fewer over several dumps.
type Growth struct {
	// From and To are when the first and the last dump were taken, zero if they do not tell.
	From, To time.Time
	// Totals are all goroutines, dump by dump.
	Totals []int64
	// Stacks are all that occur, the one that grew most first.
	Stacks []StackGrowth
}

// StackGrowth is one stack of functions. Lines do not count: a loop waits here and there.
type StackGrowth struct {
	// Frames are the functions, innermost first. Function is the innermost that is not of Go's runtime or library, and Entry the outermost.
	Frames          []string
	Function, Entry string
	Counts          []int64
	// P is the chance that the first and the last count differ as much by accident, corrected for the number of stacks. Goroutines are
	// counted whole; the test is of two counts as they vary from moment to moment where requests come and go independently.
	P       float64
	Verdict Verdict
	// Steady: it became more from each dump to the next.
	Steady bool
}

// NewGrowth compares dumps of the goroutines of one process, in order of time if they have times.
func NewGrowth(dumps []*profile.Profile) (*Growth, error) {
	dumps = slices.Clone(dumps)
	slices.SortStableFunc(dumps, func(a, b *profile.Profile) int {
		if a.Time.IsZero() || b.Time.IsZero() {
			return 0
		}
		return a.Time.Compare(b.Time)
	})
	g := &Growth{Totals: make([]int64, len(dumps))}
	stacks := make(map[string]*StackGrowth)
	for i, p := range dumps {
		kind, err := p.KindOf("")
		if err != nil {
			return nil, err
		}
		if t := p.Types[kind]; t.Type != "goroutine" && t.Type != "goroutines" {
			return nil, &Mismatch{What: "a profile of " + t.String() + " where goroutines are counted", Advice: "name goroutine profiles"}
		}
		frames := p.Frames(profile.ByFunction)
		for s := range p.Len() {
			x := stackOf(stacks, p, frames, s, len(dumps))
			x.Counts[i] += p.Value(s, kind)
			g.Totals[i] += p.Value(s, kind)
		}
	}
	if len(dumps) > 0 {
		g.From, g.To = dumps[0].Time, dumps[len(dumps)-1].Time
	}
	g.judge(stacks)
	return g, nil
}

func stackOf(stacks map[string]*StackGrowth, p *profile.Profile, frames *profile.Frames, sample, dumps int) *StackGrowth {
	var names []string
	for _, l := range p.Stack(sample) {
		for _, id := range frames.Of(l) {
			names = append(names, frames.Names[id])
		}
	}
	key := strings.Join(names, "\n")
	x := stacks[key]
	if x == nil {
		x = &StackGrowth{Frames: names, Counts: make([]int64, dumps)}
		if len(names) > 0 {
			x.Function, x.Entry = names[0], names[len(names)-1]
		}
		if i := slices.IndexFunc(names, isProgram); i >= 0 {
			x.Function = names[i]
		}
		stacks[key] = x
	}
	return x
}

// isProgram reports whether a function is of the program or a module, and not of Go's own library: those have no dot
// in the first part of their path. main is the program's.
func isProgram(name string) bool {
	first, _, deep := strings.Cut(name, "/")
	if strings.HasPrefix(name, "main.") {
		return true
	}
	return deep && strings.Contains(first, ".")
}

func (g *Growth) judge(stacks map[string]*StackGrowth) {
	for _, x := range stacks {
		g.Stacks = append(g.Stacks, *x)
	}
	grown := func(x *StackGrowth) int64 { return x.Counts[len(x.Counts)-1] - x.Counts[0] }
	slices.SortFunc(g.Stacks, func(a, b StackGrowth) int {
		return cmp.Or(-cmp.Compare(grown(&a), grown(&b)), slices.Compare(a.Frames, b.Frames))
	})
	ps := make([]float64, len(g.Stacks))
	for i := range g.Stacks {
		x := &g.Stacks[i]
		if ps[i] = math.NaN(); len(x.Counts) > 1 {
			ps[i] = significance.EqualRatesP(max(0, x.Counts[0]), 1, max(0, x.Counts[len(x.Counts)-1]), 1)
			x.Steady = rises(x.Counts)
		}
	}
	for i, p := range significance.Holm(ps) {
		g.Stacks[i].P, g.Stacks[i].Verdict = p, VerdictOf(p, defaultLevel, float64(grown(&g.Stacks[i])))
	}
}

func rises(counts []int64) bool {
	for i := 1; i < len(counts); i++ {
		if counts[i] <= counts[i-1] {
			return false
		}
	}
	return true
}
