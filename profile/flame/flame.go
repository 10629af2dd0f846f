// Package flame makes the trees that flame graphs are drawn from.
//
// What enters is a Profile, or two; what leaves is a Tree of frames with what each is worth,
// in an order that does not depend on chance. Colours are the business of whoever draws.
//
//  1. New joins the stacks of one Profile, NewDiff those of two, Sandwich those through a function.
//     The largest frames are made first, so that what is too small to be seen costs nothing.
//  2. Tree.Layout lays out what is below one frame.
//  3. Tree.Prune makes a smaller Tree, for pictures with a limit.
package flame

import (
	"math"

	"kitescope/profile"
	"kitescope/profile/report"
)

// Tree is all stacks of a Profile, joined where they begin alike. Frames[0] is the root.
type Tree struct {
	Type profile.ValueType
	// By is what a frame is: a function, a package.
	By profile.By
	// Names, Classes, Files and Libraries are of the names that frames refer to. A library is the
	// base name of the file that native code lies in, "" if unknown or more than one.
	Names     []string
	Classes   []profile.Class
	Files     []string
	Libraries []string
	// Frames are in depth-first order, callers before callees; the children of one are in order of their names.
	Frames []Frame
	Depth  int
	// Diff: Base values are set. A profile with negative values, which is a difference that was
	// saved, becomes one as well: what is negative is the base's.
	Diff bool
	// Normalized: the new side's values were multiplied by Factor, to have the base's total.
	Normalized bool
	Factor     float64
	// Inverted: children are callers.
	Inverted bool
	// Nodes: the frames at depth 1 are nodes (profile.NodeLabel).
	Nodes bool
	// Focus is the pattern of a Sandwich, "" for other trees.
	Focus string
	// Leaves are what stacks end in, whether their frames were kept or not, largest first; nil of
	// a Sandwich.
	Leaves []Leaf
	// Whole and WholeBase are what all stacks are worth, of a Sandwich, whose root is what matched.
	Whole, WholeBase int64
	// Pruned frames were left out for being small, those below them not counted; each frame that
	// was kept is worth PrunedMin of the total or more, 0 to 1.
	Pruned    int
	PrunedMin float64
	// SamplesTotal and BaseSamples are how many events were sampled on each side; -1: unknown.
	SamplesTotal, BaseSamples int64
	// P are the chances of a frame's difference under Hypothesis, corrected for the number of
	// frames, and Verdicts what follows at Level; NaN and Undecided: unknown. nil if this is no
	// difference. Before and After are what was tested against: seconds, or events in all.
	P             []float64
	Verdicts      []report.Verdict
	Hypothesis    report.Hypothesis
	Before, After float64
}

// Frame is a function on one path from the root.
type Frame struct {
	Name   uint32
	Parent int32 // index of Frames, -1 for the root
	// Next is the index after the last frame of its subtree: Frames[i+1:Next] are below it.
	Next  int32
	Depth int32
	// Total is with all below, Self without, in the unit of Tree.Type. In a difference they are
	// the new side's (after normalizing, where asked for) and Base, BaseSelf the base's.
	Total, Self    int64
	Base, BaseSelf int64
}

// Leaf is a kind of code, and what of each side is spent in it, without callees.
type Leaf struct {
	Class profile.Class
	// Library is that of native code, "" for other classes and if unknown.
	Library     string
	Value, Base int64
}

// Root is the frame of everything.
func (t *Tree) Root() *Frame { return &t.Frames[0] }

// NameOf is a frame's name.
func (t *Tree) NameOf(f *Frame) string { return t.Names[f.Name] }

// Share is what part of the total a frame is, on each side; 0 where the total is 0.
func (t *Tree) Share(frame int32) (share, base float64) {
	f, root := &t.Frames[frame], t.Root()
	return part(f.Total, root.Total), part(f.Base, root.Base)
}

func part(value, total int64) float64 {
	if total == 0 {
		return 0
	}
	return float64(value) / float64(total)
}

// add is a sum that stops at the largest number: values in a file may be anything.
func add(a, b int64) int64 {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}

// Options say how stacks are joined.
type Options struct {
	// SampleIndex and Filter are as in report.Options.
	SampleIndex string
	// By is up to profile.ByClass. Equal frames in a row become one, unless they are functions,
	// lines or addresses, where that would hide recursion.
	By     profile.By
	Filter profile.Filter
	// Nodes puts a frame for each node (profile.NodeLabel) below the root.
	Nodes bool
	// Inverted starts with the leaves.
	Inverted bool
	// Normalize scales the new side to the base's total.
	Normalize bool
	// MinShare drops frames worth less than this part of the total, 0 to 1, in both sides.
	MinShare float64
	// MaxFrames keeps the largest so many frames; 0 is a million.
	MaxFrames int
}

// mostFrames bounds the memory of a Tree for which no limit was asked: 64 bytes a frame.
const mostFrames = 1_000_000
