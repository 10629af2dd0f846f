// Package symbol names native frames of pprof profiles from the symbol tables of libraries, and demangles C++ and Rust names.
//
//  1. Apply collects the mappings that have frames without a name, with their build ids.
//  2. It looks for a file with the same build id in the folders (find.go). A file with the same name and another build id is
//     refused, and named in the Report.
//  3. It translates an address into one of the file, by the mapping and the program headers (layout.go), and looks up the
//     function in the symbol table (table.go).
//
// A frame that has a name keeps it. No command is run and nothing is downloaded.
package symbol

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kitescope/profile"
)

// Options of Apply.
type Options struct {
	// Dirs are looked through, with what lies below them.
	Dirs []string
	// Demangle chooses how names are shown.
	Demangle Mode
}

// Library is what became of the frames of a mapped file that had no name.
type Library struct {
	// File is that of the mapping.
	File string
	// Named and Unnamed count locations.
	Named, Unnamed int
	// Problem says why there are frames without a name, "" if nothing can be done about it.
	Problem string
}

// Report is what Apply did, by library, those with most frames first.
type Report struct {
	Libraries []Library
}

// Named and Unnamed are the sums over all libraries.
func (r *Report) Named() (named, unnamed int) {
	for i := range r.Libraries {
		named += r.Libraries[i].Named
		unnamed += r.Libraries[i].Unnamed
	}
	return named, unnamed
}

// Apply names the frames of a profile that have no name, as far as the folders of the Options have their
// libraries. It fails only where a folder cannot be read.
func Apply(ctx context.Context, p *profile.Profile, o Options) (*profile.Profile, Report, error) {
	found, err := search(ctx, o.Dirs)
	if err != nil {
		return nil, Report{}, err
	}
	n := &namer{p: p, mode: o.Demangle, found: found, functions: map[profile.Function]uint32{}}
	wanted := n.wanted()
	var report Report
	for _, key := range wanted {
		if err := ctx.Err(); err != nil {
			return nil, Report{}, err
		}
		library, err := n.library(ctx, key)
		if err != nil {
			return nil, Report{}, err
		}
		report.Libraries = append(report.Libraries, library)
	}
	slices.SortStableFunc(report.Libraries, func(a, b Library) int { return b.Named + b.Unnamed - a.Named - a.Unnamed })
	q := n.profile()
	q.Notes = append(slices.Clone(p.Notes), report.notes()...)
	return q, report, nil
}

// notes tell the report in the profile.
func (r *Report) notes() []profile.Note {
	named, unnamed := r.Named()
	var notes []profile.Note
	if named > 0 {
		notes = append(notes, profile.Note{What: "frames without a name were named from symbols", Count: int64(named)})
	}
	if unnamed > 0 {
		notes = append(notes, profile.Note{What: "frames have no symbol", Count: int64(unnamed)})
	}
	for _, l := range r.Libraries {
		if l.Problem != "" {
			notes = append(notes, profile.Note{What: fmt.Sprintf("%s: %s", l.File, l.Problem), Count: int64(l.Unnamed)})
		}
	}
	return notes
}

// fileKey is a mapped file: mappings that were split have it in common.
type fileKey struct{ file, buildID string }

// namer builds the new tables.
type namer struct {
	p         *profile.Profile
	mode      Mode
	found     *folders
	locations []profile.Location // nil until something was named
	lines     []profile.Line
	list      []profile.Function
	mappings  []profile.Mapping
	functions map[profile.Function]uint32
	of        map[fileKey][]uint32 // locations without a name
}

// nameless reports whether a location has neither a line nor, in files of some writers, a function with a name.
func nameless(p *profile.Profile, location uint32) bool {
	for _, l := range p.LinesOf(location) {
		if l.Function < uint32(len(p.Functions)) && (p.Functions[l.Function].Name != "" || p.Functions[l.Function].SystemName != "") {
			return false
		}
	}
	return true
}

// wanted are the files with frames that have no name, in the order of the mappings.
func (n *namer) wanted() []fileKey {
	n.of = map[fileKey][]uint32{}
	var order []fileKey
	for i := range n.p.Locations {
		at := uint32(i)
		m := n.p.MappingOf(at)
		if m == nil || m.File == "" || n.p.Locations[i].Address == 0 || !nameless(n.p, at) {
			continue
		}
		key := fileKey{m.File, m.BuildID}
		if n.of[key] == nil {
			order = append(order, key)
		}
		n.of[key] = append(n.of[key], at)
	}
	return order
}

// library names the frames of one file.
func (n *namer) library(ctx context.Context, key fileKey) (Library, error) {
	all := n.of[key]
	l := Library{File: key.file, Unnamed: len(all)}
	if strings.HasPrefix(key.file, "[") && key.file != "[vdso]" || strings.HasPrefix(key.file, "//") {
		return l, nil // the kernel, the heap, code compiled just in time: no file has them
	}
	if key.buildID == "" {
		l.Problem = "the profile does not record its build id"
		return l, nil
	}
	files, problem := n.found.of(key.file, key.buildID)
	if len(files) == 0 {
		l.Problem = problem
		return l, nil
	}
	image, err := open(ctx, files)
	if err != nil {
		if ctx.Err() != nil {
			return l, ctx.Err()
		}
		l.Problem = err.Error()
		return l, nil
	}
	first := n.firstOffset(key)
	var lost string
	for _, at := range all {
		address, err := image.layout.address(n.p.MappingOf(at), n.p.Locations[at].Address, first)
		if err != nil {
			lost = err.Error()
			continue
		}
		if f, ok := image.table.find(address); ok {
			n.name(at, f.name)
			l.Named++
		}
	}
	l.Unnamed -= l.Named
	switch {
	case l.Unnamed == 0:
	case lost != "":
		l.Problem = lost
	default:
		l.Problem = image.path + " has no function at some addresses"
	}
	return l, nil
}

// firstOffset is the smallest offset at which a file was mapped.
func (n *namer) firstOffset(key fileKey) uint64 {
	first := ^uint64(0)
	for i := range n.p.Mappings {
		if m := &n.p.Mappings[i]; m.File == key.file && m.BuildID == key.buildID && m.Limit > 0 {
			first = min(first, m.Offset)
		}
	}
	return first
}

// name names one location.
func (n *namer) name(at uint32, system string) {
	if n.locations == nil {
		n.locations = slices.Clone(n.p.Locations)
		n.lines = slices.Clone(n.p.Lines)
		n.list = slices.Clone(n.p.Functions)
		n.mappings = slices.Clone(n.p.Mappings)
		for i, f := range n.list {
			n.functions[f] = uint32(i)
		}
	}
	function := profile.Function{Name: Demangled(system, n.mode), SystemName: system}
	i, ok := n.functions[function]
	if !ok {
		i = uint32(len(n.list))
		n.list = append(n.list, function)
		n.functions[function] = i
	}
	location := &n.locations[at]
	location.FirstLine, location.Lines = uint32(len(n.lines)), 1
	n.lines = append(n.lines, profile.Line{Function: i})
	n.mappings[location.Mapping].HasFunctions = true
}

// profile is the old one with the new tables.
func (n *namer) profile() *profile.Profile {
	q := *n.p
	if n.locations != nil {
		q.Locations, q.Lines, q.Functions, q.Mappings = n.locations, n.lines, n.list, n.mappings
	}
	return &q
}
