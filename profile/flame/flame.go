// Package flame builds the trees that flame graphs are drawn from, in a deterministic order. Package render/flame
// writes them to files, and tui/profiles draws them in the terminal.
//
//  1. New joins the stacks of one Profile to a Tree. NewDiff joins a base and a new Profile to one Tree. Its frames
//     have the values of both sides, and a Verdict that tells changes from noise, by the rules of profile/report.
//  2. Sandwich and SandwichDiff join the stacks through a function: its callers and its callees.
//  3. A Tree grows from the largest frames, so that frames too small to be seen cost nothing.
//  4. Tree.Layout computes the positions of the frames below one frame.
//  5. Tree.Prune returns a smaller Tree, for pictures with a limit.
package flame

import (
	"math"

	"kitescope/profile"
	"kitescope/profile/report"
)

// Tree holds all stacks of a Profile, joined by their common prefixes. Frames[0] is the root.
type Tree struct {
	Type profile.ValueType
	// By is the granularity of frames, e.g. functions or packages.
	By profile.Granularity
	// Names, Classes, Files and Libraries are indexed by Frame.Name. A library is the base name of the file
	// that holds native code. It is "" for other code, or if it is unknown or ambiguous.
	Names     []string
	Classes   []profile.Class
	Files     []string
	Libraries []string
	// Frames are in depth-first order, callers before callees. Siblings are sorted by name.
	Frames []Frame
	Depth  int
	// Diff reports whether Base values are set. A profile with negative values, i.e. a saved difference, also
	// becomes a difference: its negative values belong to the base.
	Diff bool
	// Normalized reports whether the values of the new side were multiplied by Factor, which makes their
	// total equal to the base's.
	Normalized bool
	Factor     float64
	// Inverted reports whether the children of a frame are its callers.
	Inverted bool
	// Nodes reports whether the frames at depth 1 are nodes (profile.NodeLabel).
	Nodes bool
	// Focus is the pattern of a Sandwich, "" for other trees.
	Focus string
	// Leaves holds the values of the innermost frames by kind, largest first, including frames that were
	// pruned. It is nil for a Sandwich.
	Leaves []Leaf
	// Whole and WholeBase are the totals of all stacks. They are set for a Sandwich, whose root covers only
	// the stacks that matched.
	Whole, WholeBase int64
	// Pruned is the number of frames that were omitted for being small, without their descendants. Each frame
	// that was kept has at least the share PrunedMin of the total, 0 to 1.
	Pruned    int
	PrunedMin float64
	// SamplesTotal and BaseSamples are the numbers of sampled events on each side, -1 if unknown.
	SamplesTotal, BaseSamples int64
	// PValues holds the p-value of each frame's difference under Hypothesis, corrected for the number of frames.
	// Verdicts holds the conclusion at Level. They are NaN and Undecided if unknown, and nil if the Tree is
	// not a difference. Before and After are the exposures of the test: seconds, or the total number of
	// events.
	PValues       []float64
	Verdicts      []report.Verdict
	Hypothesis    report.Hypothesis
	Before, After float64
}

// Frame is a function on one path from the root.
type Frame struct {
	Name   uint32
	Parent int32 // index in Frames, -1 for the root
	// Next is the index after the last frame of the subtree: Frames[i+1:Next] are the descendants.
	Next  int32
	Depth int32
	// Total includes descendants and Self does not. Both are in the unit of Tree.Type. In a difference they
	// belong to the new side, after normalization if any, and Base and BaseSelf to the base.
	Total, Self    int64
	Base, BaseSelf int64
}

// Leaf is a kind of code with the self value of each side.
type Leaf struct {
	Class profile.Class
	// Library is the library of native code, "" if unknown and for other classes.
	Library     string
	Value, Base int64
}

// Root returns the root frame.
func (t *Tree) Root() *Frame { return &t.Frames[0] }

// NameOf returns the name of a frame.
func (t *Tree) NameOf(f *Frame) string { return t.Names[f.Name] }

// Share returns the fraction of the total that a frame has on each side, 0 if the total is 0.
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

// add returns a+b, limited to math.MaxInt64, because the values in a file are arbitrary.
func add(a, b int64) int64 {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}

// Options configures how stacks are joined.
type Options struct {
	// SampleIndex and Filter have the same meaning as in report.Options.
	SampleIndex string
	// By is at most profile.ByClass. Consecutive equal frames are merged, except for functions, lines and
	// addresses, where that would hide recursion.
	By     profile.Granularity
	Filter profile.Filter
	// Nodes adds a frame for each node (profile.NodeLabel) below the root.
	Nodes bool
	// Inverted joins stacks from their leaves.
	Inverted bool
	// Normalize scales the new side to the total of the base.
	Normalize bool
	// MinShare omits frames whose share of the total is below this on both sides, 0 to 1.
	MinShare float64
	// MaxFrames is the maximum number of frames. The largest are kept. 0 means a million.
	MaxFrames int
}

// defaultMaxFrames limits the memory of a Tree without a limit of its own, at up to 64 bytes per frame.
const defaultMaxFrames = 1_000_000
