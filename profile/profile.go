// Package profile represents profiles of programs: tables of samples over interned stacks. A Profile is immutable.
//
//  1. Decode reads a pprof file. A Builder collects the samples that profile/read parses from other formats.
//  2. Merge joins several Profiles. With MergeOptions.Nodes, it labels each sample with its node.
//  3. Filter and Scale make a new Profile. Align prepares two for a comparison by package report; package flame
//     compares two Profiles itself.
//  4. Frames names the frames of all locations at one granularity, for packages report and flame.
//  5. Encode writes a pprof file.
//
// Numbers and names are those of `go tool pprof` (github.com/google/pprof). Each function cites the source
// that it follows.
package profile

import (
	"slices"
	"time"
)

// ValueType is the type and unit of a sample value, e.g. cpu in nanoseconds.
type ValueType struct{ Type, Unit string }

// String returns the usual notation, e.g. "cpu/nanoseconds".
func (v ValueType) String() string { return v.Type + "/" + v.Unit }

// Mapping is an address range that a file was mapped to.
type Mapping struct {
	Start, Limit, Offset uint64
	// File is the binary or library. BuildID is its build id in hexadecimal, "" if unknown.
	File, BuildID string
	// These report which symbol information was available when the profile was written.
	HasFunctions, HasFilenames, HasLineNumbers, HasInlineFrames bool
}

// Function is a source function.
type Function struct {
	// Name is the readable name. SystemName is the linker's, e.g. a mangled C++ name.
	Name, SystemName string
	File             string
	// StartLine is 0 if unknown. PGO requires it.
	StartLine int64
}

// Line is a source line within a Function.
type Line struct {
	Function     uint32 // index in Profile.Functions
	Line, Column int64
}

// Location is an instruction address, or a frame without a known address.
type Location struct {
	Mapping int32 // index in Profile.Mappings, or NoMapping
	Address uint64
	// Lines[FirstLine:FirstLine+Lines] of the Profile are the source lines, innermost first. All but the last
	// belong to inlined functions. The range may be empty.
	FirstLine, Lines uint32
	// Folded reports whether the linker merged several functions with identical code.
	Folded bool
}

// NoMapping is the Mapping of a location outside all mappings.
const NoMapping = -1

// Label is a property of a sample: a string, or a number with a unit.
type Label struct {
	Key, Str string
	Num      int64
	Unit     string
	// IsNum reports whether the value is Num rather than Str.
	IsNum bool
}

// Labels that Merge and importers set.
const (
	// NodeLabel is the process that a sample comes from, e.g. "querynode-7".
	NodeLabel = "node"
	// BaseLabel marks the samples of the base in a difference, as `go tool pprof -diff_base` does.
	BaseLabel = "pprof::base"
	// ThreadLabel and CommandLabel are the thread and the program name in formats such as perf's.
	ThreadLabel  = "thread"
	CommandLabel = "command"
)

// Origin describes the source of a Profile.
type Origin struct {
	// Name is the display name: a path, a URL, or a process such as "querynode-7".
	Name string
	// Format is the name of the input format: "pprof", "folded", "perf script".
	Format string
	// Node and Role identify the process, "" if unknown.
	Node, Role string
	// Flat reports whether the source was a table without stacks. No graph can be drawn of such a profile.
	Flat bool
	// Merged is the number of profiles that were merged, whose durations were added up. It is 0 for a profile
	// as read.
	Merged int
}

// Note counts an irregularity that a reader tolerated, so that none is ignored silently.
type Note struct {
	// What describes the irregularity, e.g. "samples without a period, counted as 1 each".
	What  string
	Count int64
}

// Profile is a table of samples. It is immutable: all functions return new Profiles, which may share tables
// with the old one. The zero Profile has no samples.
type Profile struct {
	// Types are the types of each sample's values, in order. There is at least one unless the Profile is
	// empty.
	Types []ValueType
	// DefaultType is the Type to show by default, "" if the writer set none.
	DefaultType string
	// Period is the number of units of PeriodType between two samples, 0 if unknown.
	PeriodType ValueType
	Period     int64
	// Time is the start of sampling and Duration its length. Both are zero if unknown.
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

	// Sample i has the stack Stacks[Starts[i]:Starts[i+1]], which holds indexes of Locations, leaf first. Its
	// values are Values[i*len(Types):][:len(Types)] and its labels are LabelSets[LabelOf[i]]. LabelSets[0] is
	// empty. LabelOf is nil if no sample has labels.
	Starts  []uint32
	Stacks  []uint32
	Values  []int64
	LabelOf []uint32

	Origin Origin
	Notes  []Note
}

// Len returns the number of samples.
func (p *Profile) Len() int { return max(0, len(p.Starts)-1) }

// Stack returns the stack of sample i: indexes of Locations, leaf first.
func (p *Profile) Stack(i int) []uint32 { return p.Stacks[p.Starts[i]:p.Starts[i+1]] }

// Value returns the value of sample i for the type with index kind.
func (p *Profile) Value(i, kind int) int64 { return p.Values[i*len(p.Types)+kind] }

// Labels returns the labels of sample i.
func (p *Profile) Labels(i int) []Label {
	if p.LabelOf == nil {
		return nil
	}
	return p.LabelSets[p.LabelOf[i]]
}

// LinesOf returns the source lines of a location, innermost first.
func (p *Profile) LinesOf(location uint32) []Line {
	l := &p.Locations[location]
	return p.Lines[l.FirstLine : l.FirstLine+l.Lines]
}

// MappingOf returns the mapping of a location, nil if it has none.
func (p *Profile) MappingOf(location uint32) *Mapping {
	if m := p.Locations[location].Mapping; m != NoMapping {
		return &p.Mappings[m]
	}
	return nil
}

// Total returns the sum of the absolute values of a type, which percentages refer to. If a difference has
// samples of its base labelled with BaseLabel, only those count (google/pprof internal/report: computeTotal).
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
