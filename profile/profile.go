// Package profile holds profiles of programs: what was sampled, on which stacks, how much.
//
// What enters is the bytes of a pprof file, or what an importer in profile/read tells a Builder;
// what leaves is a Profile, a table of samples over interned stacks that is never changed.
//
//  1. Decode reads a pprof file; a Builder takes samples of other formats.
//  2. Merge joins several Profiles, each sample labelled with the node that it comes from.
//  3. Filter, Align and Scale make new Profiles of one or two.
//  4. Frames names the frames of all locations at one granularity, for packages report and flame.
//  5. Encode writes a pprof file again.
//
// The numbers and names are those of `go tool pprof` (github.com/google/pprof), which each
// function names where it follows it.
package profile

import (
	"slices"
	"time"
)

// ValueType says what one value of a sample counts and in which unit: cpu in nanoseconds.
type ValueType struct{ Type, Unit string }

// String is the usual notation, "cpu/nanoseconds".
func (v ValueType) String() string { return v.Type + "/" + v.Unit }

// Mapping is a range of addresses that a file was mapped to.
type Mapping struct {
	Start, Limit, Offset uint64
	// File is the binary or library; BuildID its build id in hexadecimal, "" if unknown.
	File, BuildID string
	// What was known of it when the profile was written.
	HasFunctions, HasFilenames, HasLineNumbers, HasInlineFrames bool
}

// Function is where code was written.
type Function struct {
	// Name is for people, SystemName what the linker knows: a mangled C++ name.
	Name, SystemName string
	File             string
	// StartLine is 0 if unknown. PGO needs it.
	StartLine int64
}

// Line is a position in a Function.
type Line struct {
	Function     uint32 // index of Profile.Functions
	Line, Column int64
}

// Location is an instruction, or a frame where no address is known.
type Location struct {
	Mapping int32 // index of Profile.Mappings, or NoMapping
	Address uint64
	// Lines[FirstLine:FirstLine+Lines] of the Profile are its source lines, innermost first:
	// all but the last are of functions that were inlined. There may be none.
	FirstLine, Lines uint32
	// Folded says that several functions with the same code were merged by the linker.
	Folded bool
}

// NoMapping is the Mapping of a location that lies in none.
const NoMapping = -1

// Label is something that is known of a sample: a string, or a number with a unit.
type Label struct {
	Key, Str string
	Num      int64
	Unit     string
	// IsNum tells a number from a string.
	IsNum bool
}

// Labels that Merge and importers set.
const (
	// NodeLabel is the process that a sample comes from: "querynode-7".
	NodeLabel = "node"
	// BaseLabel marks the samples of the base in a difference, as `go tool pprof -diff_base` does.
	BaseLabel = "pprof::base"
	// ThreadLabel and CommandLabel are the thread and the program's name of perf and the like.
	ThreadLabel  = "thread"
	CommandLabel = "command"
)

// Origin is where a Profile comes from.
type Origin struct {
	// Name is what a person calls it: a path, a URL, "querynode-7".
	Name string
	// Format is the reader's word: "pprof", "folded", "perf script".
	Format string
	// Node and Role are of the process, "" if unknown.
	Node, Role string
	// Flat says that it was a table without stacks: of such a profile no graph can be drawn.
	Flat bool
	// Merged is how many profiles it was made of, whose durations were added up; 0 of one as it was read.
	Merged int
}

// Note is something odd that a reader saw and went on: counted, never silent.
type Note struct {
	// What happened, for people: "samples without a period, counted as 1 each".
	What  string
	Count int64
}

// Profile is a table of samples. It is immutable: all functions return new ones, which may
// share tables with it. The zero Profile has no samples.
type Profile struct {
	// Types says what the values of each sample are, in order. There is at least one, unless the Profile is empty.
	Types []ValueType
	// DefaultType is the Type that its writer meant to be shown, "" if it did not say.
	DefaultType string
	// Period is how many units of PeriodType lie between two samples; 0 if unknown.
	PeriodType ValueType
	Period     int64
	// Time is when sampling began and Duration how long it went on; zero if unknown.
	Time     time.Time
	Duration time.Duration

	Comments               []string
	DocURL                 string
	DropFrames, KeepFrames string

	Mappings  []Mapping
	Functions []Function
	Lines     []Line
	Locations []Location
	LabelSets [][]Label

	// Sample i has the stack Stacks[Starts[i]:Starts[i+1]] of indexes of Locations, leaf first,
	// the values Values[i*len(Types):][:len(Types)], and the labels LabelSets[LabelOf[i]].
	// LabelSets[0] is empty; LabelOf is nil if no sample has labels.
	Starts  []uint32
	Stacks  []uint32
	Values  []int64
	LabelOf []uint32

	Origin Origin
	Notes  []Note
}

// Len is the number of samples.
func (p *Profile) Len() int { return max(0, len(p.Starts)-1) }

// Stack is the stack of sample i: indexes of Locations, leaf first.
func (p *Profile) Stack(i int) []uint32 { return p.Stacks[p.Starts[i]:p.Starts[i+1]] }

// Value is the value of sample i of a type, by its index.
func (p *Profile) Value(i, kind int) int64 { return p.Values[i*len(p.Types)+kind] }

// Labels are those of sample i.
func (p *Profile) Labels(i int) []Label {
	if p.LabelOf == nil {
		return nil
	}
	return p.LabelSets[p.LabelOf[i]]
}

// LinesOf are the source lines of a location, innermost first.
func (p *Profile) LinesOf(location uint32) []Line {
	l := &p.Locations[location]
	return p.Lines[l.FirstLine : l.FirstLine+l.Lines]
}

// MappingOf is the mapping of a location, nil if it has none.
func (p *Profile) MappingOf(location uint32) *Mapping {
	if m := p.Locations[location].Mapping; m != NoMapping {
		return &p.Mappings[m]
	}
	return nil
}

// Total is the sum of the absolute values of a type, which percentages refer to. In a
// difference against a base that is labelled (BaseLabel) it is the base's alone
// (google/pprof internal/report: computeTotal).
func (p *Profile) Total(kind int) int64 {
	isBase := make([]bool, len(p.LabelSets))
	for i, set := range p.LabelSets {
		isBase[i] = slices.ContainsFunc(set, func(l Label) bool { return l.Key == BaseLabel && l.Str == "true" })
	}
	var all, base int64
	for i := range p.Len() {
		v := p.Value(i, kind)
		if v < 0 {
			v = -v
		}
		all += v
		if p.LabelOf != nil && isBase[p.LabelOf[i]] {
			base += v
		}
	}
	if base > 0 {
		return base
	}
	return all
}
