// Package pgo prepares CPU profiles for a build of a Go program with profile-guided optimization (PGO).
//
//  1. EdgesOf counts calls as the compiler does, and Edges.Hot selects the calls that the compiler treats as
//     hot.
//  2. Judge reports whether a build with a set of profiles is worth the trouble.
//  3. NewPack merges the profiles into a default.pgo with a Manifest of its sources. FindModule finds the
//     module to build.
//  4. Verify reports from the build information of a binary whether it was built with the profile.
//
// The rules are those of go1.26 (cmd/internal/pgo, cmd/compile/internal/{pgoir,inline,devirtualize}). Functions
// that follow these rules name the source.
package pgo

import (
	"time"

	"kitescope/profile"
)

// Edge identifies a call as the compiler does: by the linker's names of both functions and by the offset, in lines,
// of the call from the caller's first line (Function.StartLine). Several calls on one line share an Edge, because
// profiles have neither the column nor an index (cmd/internal/pgo: NamedCallEdge).
type Edge struct {
	Caller, Callee string
	Offset         int
}

// Edges holds all calls of a profile with their weights, in the unit of the selected sample type.
type Edges struct {
	Weight map[Edge]int64
	// ByWeight is sorted by descending weight, then by Caller, Callee and Offset.
	ByWeight []Edge
	Total    int64
}

// Input is a profile to judge, or the error that prevented reading it.
type Input struct {
	// Name is the display name. Node is the process that was profiled, "" if unknown.
	Name, Node string
	// Profile is nil if Err is not.
	Profile *profile.Profile
	// Err is the reason why the profile cannot be read.
	Err error
	// GoVersion and BuildID describe the profiled program, "" if unknown. See GoVersionOf and the manifest of the
	// bundle that holds the profile.
	GoVersion, BuildID string
	// SHA256 is the hash of the profile's file, in hexadecimal; "" if unknown.
	SHA256 string
}

// Verdict is the result of Judge.
type Verdict uint8

// The verdicts.
const (
	// Unfit: Go refuses or ignores the profile, or it has too few samples to build with.
	Unfit Verdict = iota
	// LittleToGain: the profile is good, but most of the time is spent where PGO has no effect.
	LittleToGain
	// WorthBuilding means that a build and a trial are worth the trouble. It does not promise a gain.
	WorthBuilding
)

var verdictNames = [...]string{"profile unfit", "little to gain", "worth building"}

func (v Verdict) String() string { return verdictNames[v] }

// Judgement is the assessment of a set of profiles for a PGO build.
type Judgement struct {
	Verdict Verdict
	// Reason is one sentence for users, e.g. "67% of the samples are native code, not compiled by Go".
	Reason string
	// Profiles holds the inputs in their order. Refusals holds the objections to all inputs together.
	Profiles []Assessment
	Refusals []Refusal
	// Cautions are objections that call for a second look but do not make the profiles unfit.
	Cautions []Refusal

	// The fields below describe the merge of the profiles that Go accepts, without duplicates.
	Events   int64 // number of samples, -1 if unknown
	CPU      time.Duration
	Duration time.Duration // total of all windows
	// Preempted is the share of samples whose leaf is runtime.asyncPreempt. These samples count for the
	// interrupted function.
	Preempted float64
	Edges     *Edges
	HotEdges  int
	// LeastHot is the weight of the lightest hot edge. FewHits is the share of hot edges with fewer than 5 samples,
	// NaN if the number of samples is unknown.
	LeastHot int64
	FewHits  float64
	Reach    Reach
	// Hot holds the hottest edges, at most JudgeOptions.Hot.
	Hot   []HotEdge
	Risks []Risk
	// Thresholds are the minimums that the figures were compared with.
	Thresholds Thresholds
}

// Thresholds are the minimum number of samples and the minimum ceiling for a profile to be worth a build.
type Thresholds struct {
	Events  int64
	Ceiling float64
}

// Assessment is the assessment of a single profile.
type Assessment struct {
	Input    *Input
	Events   int64 // -1 if unknown
	CPU      time.Duration
	Duration time.Duration
	Reach    Reach
	Refusals []Refusal
}

// Refusal is an objection to a profile.
type Refusal struct {
	// ID is a word for scripts, e.g. "no-start-lines". Message is for users. Hint is an instruction to fix the
	// problem, "" if nothing helps.
	ID, Message, Hint string
}

// Reach is the distribution of time over kinds of code, by the leaves of all samples after folding asyncPreempt, as
// shares of 1.
type Reach struct {
	Go, Runtime, GC, Assembly, Syscall, Native, Unknown float64
	// Total is the share of code that Go compiles, including the runtime and the garbage collector.
	Total float64
	// Ceiling is the maximum possible gain, as a share of CPU time: 0.14 of Total, because 14% is the top of
	// the range that Go's documentation reports (go.dev/doc/pgo). It has no lower bound, because PGO can make a
	// program slower.
	Ceiling float64
}

// HotEdge is a call that the compiler treats as hot.
type HotEdge struct {
	Edge
	// Share is the share of the weight of all edges. Hits is the number of samples, -1 if unknown.
	Share float64
	Hits  int64
	// Inlined reports that the profiled program had already inlined the call.
	Inlined bool
}

// Risk is a problem that PGO is known to cause in programs with a call that this profile has.
type Risk struct {
	ID, Message, Source string // Source is the URL of the report
	Function            string
	// Block is the argument for `pgo pack --block` that avoids the problem.
	Block string
}
