// Package pgo takes CPU profiles to a build of a Go program with profile-guided optimization (PGO).
//
//  1. EdgesOf counts calls as the compiler does, and Edges.Hot selects those it acts on.
//  2. Judge reports whether a build with a set of profiles is worth the trouble.
//  3. NewPack merges them into a default.pgo with a Manifest of its sources; FindModule finds where it belongs.
//  4. Verify reports from the build information of a binary whether it was built with the profile.
//
// The rules are those of go1.26 (cmd/internal/pgo, cmd/compile/internal/{pgoir,inline,devirtualize}); functions that
// follow them name the source.
package pgo

import (
	"time"

	"kitescope/profile"
)

// Edge is a call as the compiler knows it: the names of both functions as the linker has them, and
// how many lines after the caller's first line (Function.StartLine) the call stands. The line, and
// not the column or the number of the call on it, is all there is (cmd/internal/pgo: NamedCallEdge).
type Edge struct {
	Caller, Callee string
	Offset         int
}

// Edges are all calls of a profile with their weight, in the unit of the sample type that was taken.
type Edges struct {
	Weight map[Edge]int64
	// ByWeight has the heaviest first; equal ones by Caller, Callee, Offset.
	ByWeight []Edge
	Total    int64
}

// Input is one profile that is to be judged, or why there is none.
type Input struct {
	// Name is what a person calls it; Node the process it is of, "" if unknown.
	Name, Node string
	// Profile is nil if Err is not.
	Profile *profile.Profile
	// Err is why it cannot be read.
	Err error
	// GoVersion and BuildID are of the program, "" if unknown: see GoVersionOf, and the manifest that the profile lies in.
	GoVersion, BuildID string
	// SHA256 is the hash of the file that it was read from, in hexadecimal; "" if unknown.
	SHA256 string
}

// Verdict is what Judge makes of profiles.
type Verdict uint8

// The verdicts.
const (
	// Unfit: Go refuses or ignores it, or it has too few samples to build with.
	Unfit Verdict = iota
	// LittleToGain: it is good, but the time goes where PGO cannot reach.
	LittleToGain
	// WorthBuilding says that a build and a trial are worth the trouble, not that they will gain anything.
	WorthBuilding
)

var verdictNames = [...]string{"profile unfit", "little to gain", "worth building"}

func (v Verdict) String() string { return verdictNames[v] }

// Judgement is what a set of profiles is worth to a build.
type Judgement struct {
	Verdict Verdict
	// Reason is one sentence for people: "67% of the samples are native code, not compiled by Go".
	Reason string
	// Profiles are the inputs, in their order; Refusals what speaks against all of them together.
	Profiles []Assessed
	Refusals []Refusal
	// Cautions speak against using it without a second look, and do not make it unfit.
	Cautions []Refusal

	// The figures are of the merge of all that could be read.
	Events   int64 // samples taken, -1 if unknown
	CPU      time.Duration
	Duration time.Duration // of all windows together
	// Preempted is the share of samples whose leaf is runtime.asyncPreempt, which are counted for what it interrupted.
	Preempted float64
	Edges     *Edges
	HotEdges  int
	// LeastHot is the weight of the lightest hot edge, and FewHits the share of hot edges with fewer than 5 samples,
	// NaN if the number of samples is unknown.
	LeastHot int64
	FewHits  float64
	Reach    Reach
	// Hot are the hottest edges, as many as were asked for.
	Hot   []HotEdge
	Risks []Risk
	// Thresholds are what the figures were held against.
	Thresholds Thresholds
}

// Thresholds are the least figures with which a profile is worth a build.
type Thresholds struct {
	Events  int64
	Ceiling float64
}

// Assessed is one profile on its own.
type Assessed struct {
	Input    *Input
	Events   int64 // -1 if unknown
	CPU      time.Duration
	Duration time.Duration
	Reach    Reach
	Refusals []Refusal
}

// Refusal is something that speaks against a profile.
type Refusal struct {
	// ID is a word for scripts: "no-start-lines"; Message is for people, Hint says what to do, "" if nothing helps.
	ID, Message, Hint string
}

// Reach is where the time goes, of the leaves of all samples after folding asyncPreempt, as shares of 1.
type Reach struct {
	Go, Runtime, GC, Assembly, Syscall, Native, Unknown float64
	// Total is what compiled Go code has, runtime and garbage collector included.
	Total float64
	// Ceiling is the most that PGO may gain of CPU time: 0.14 of Total, as 14% is the top of what Go's
	// documentation reports (go.dev/doc/pgo). There is no lower bound: PGO can make a program slower.
	Ceiling float64
}

// HotEdge is a call that the compiler takes for hot.
type HotEdge struct {
	Edge
	// Share is of the weight of all edges; Hits the samples, -1 if unknown.
	Share float64
	Hits  int64
	// Inlined says that the profiled program had it inlined already.
	Inlined bool
}

// Risk is a known way in which PGO has hurt programs that this profile shows.
type Risk struct {
	ID, Message, Source string // Source is where it was reported
	Function            string
	// Block is what `pgo pack --block` takes to avoid it.
	Block string
}
