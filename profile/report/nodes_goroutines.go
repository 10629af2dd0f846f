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

// Growth describes how the number of a process's goroutines grew over several dumps.
type Growth struct {
	// From and To are the times of the first and the last dump, zero if unknown.
	From, To time.Time
	// Totals are the numbers of all goroutines, one per dump.
	Totals []int64
	// Stacks are all distinct stacks, sorted by growth, largest first.
	Stacks []StackGrowth
}

// StackGrowth is the growth of a stack of functions. Line numbers are ignored because a loop may wait in
// several places.
type StackGrowth struct {
	// Frames are the functions, innermost first. Function is the innermost one outside of Go's runtime and
	// standard library, and Entry is the outermost.
	Frames          []string
	Function, Entry string
	Counts          []int64
	// P is the probability that the first and the last count differ at least as much by chance, corrected for
	// the number of stacks. Goroutines are counted completely rather than sampled. The test treats the two
	// counts as varying from moment to moment, because requests come and go independently.
	P       float64
	Verdict Verdict
	// Steady reports whether the count grew from each dump to the next.
	Steady bool
}

// NewGrowth compares goroutine dumps of a process, in chronological order if they have times. It returns a
// Mismatch if a profile does not count goroutines.
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
			return nil,
				&Mismatch{
					What:   "a profile of " + t.String() + " where goroutines are counted",
					Advice: "name goroutine profiles",
				}
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

func stackOf(
	stacks map[string]*StackGrowth, p *profile.Profile, frames *profile.Frames, sample, dumps int,
) *StackGrowth {
	var names []string
	for _, l := range p.Stack(sample) {
		for _, id := range frames.IDs(l) {
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

// isProgram reports whether a function belongs to package main, or to a package whose path begins with a
// domain. Packages of Go's standard library have no dot in the first element of their path.
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
			x.Steady = isIncreasing(x.Counts)
		}
	}
	for i, p := range significance.Holm(ps) {
		g.Stacks[i].P, g.Stacks[i].Verdict = p, VerdictOf(p, defaultLevel, float64(grown(&g.Stacks[i])))
	}
}

func isIncreasing(counts []int64) bool {
	for i := 1; i < len(counts); i++ {
		if counts[i] <= counts[i-1] {
			return false
		}
	}
	return true
}
