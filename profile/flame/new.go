package flame

import (
	"fmt"
	"path"
	"slices"

	"kitescope/internal/hints"
	"kitescope/profile"
	"kitescope/profile/report"
)

// New joins the stacks of a Profile. It returns an error if the profile has no stacks or no such sample type.
func New(p *profile.Profile, o Options) (*Tree, error) {
	if err := checkStacks(p); err != nil {
		return nil, err
	}
	kind, err := p.KindOf(o.SampleIndex)
	if err != nil {
		return nil, err
	}
	b, err := newBuilder(p.Types[kind], o)
	if err != nil {
		return nil, err
	}
	b.join(p, kind, 1, false)
	return b.tree(), nil
}

// NewDiff joins the stacks of two Profiles of the same kind. It returns a report.Mismatch if their sample
// types differ.
func NewDiff(base, p *profile.Profile, o Options) (*Tree, error) {
	b, err := newDiffBuilder(base, p, o)
	if err != nil {
		return nil, err
	}
	return b.tree(), nil
}

// checkStacks returns an error for a table without stacks, whose flame graph would be a row of leaves.
func checkStacks(p *profile.Profile) error {
	if !p.Origin.Flat {
		return nil
	}
	return hints.Errorf("record with perf record -b and read the output of perf script; profile top and profile "+
		"diff read tables",
		"%s is a table without stacks: it cannot be drawn as a flame graph", p.Origin.Name)
}

func newDiffBuilder(base, p *profile.Profile, o Options) (*builder, error) {
	for _, side := range []*profile.Profile{base, p} {
		if err := checkStacks(side); err != nil {
			return nil, err
		}
	}
	baseKind, err := base.KindOf(o.SampleIndex)
	if err != nil {
		return nil, fmt.Errorf("base: %w", err)
	}
	kind, err := p.KindOf(o.SampleIndex)
	if err != nil {
		return nil, err
	}
	if was, is := base.Types[baseKind], p.Types[kind]; was != is {
		return nil, &report.Mismatch{
			What:   fmt.Sprintf("the base profile has %s, the new one %s", was, is),
			Advice: "compare profiles of one kind, or name a sample type that both have",
		}
	}
	b, err := newBuilder(p.Types[kind], o)
	if err != nil {
		return nil, err
	}
	b.t.Diff = true
	if o.Normalize {
		if b.t.Factor, err = factor(base, baseKind, p, kind); err != nil {
			return nil, err
		}
		b.t.Normalized = true
	}
	b.join(base, baseKind, 1, true)
	b.join(p, kind, b.t.Factor, false)
	return b, nil
}

// factor returns the factor that pprof applies to the new values under -normalize (google/pprof
// profile/merge.go: Normalize). It refers to the whole profiles because pprof filters later.
func factor(base *profile.Profile, baseKind int, p *profile.Profile, kind int) (float64, error) {
	var was, is int64
	for i := range base.Len() {
		was += base.Value(i, baseKind)
	}
	for i := range p.Len() {
		is += p.Value(i, kind)
	}
	if was <= 0 || is <= 0 {
		return 0, &report.Mismatch{
			What: fmt.Sprintf("cannot normalize: the total of %s is %d in the base and %d in the new profile",
				p.Types[kind], was, is),
			Advice: "compare without normalizing, or take another sample type",
		}
	}
	return float64(was) / float64(is), nil
}

func newBuilder(kind profile.ValueType, o Options) (*builder, error) {
	if o.By > profile.ByClass {
		return nil, fmt.Errorf("a flame graph shows frames, not a %s", o.By)
	}
	if o.MaxFrames <= 0 || o.MaxFrames > defaultMaxFrames {
		o.MaxFrames = defaultMaxFrames
	}
	b := &builder{
		o: o, t: &Tree{Type: kind, By: o.By, Inverted: o.Inverted, Nodes: o.Nodes, Factor: 1}, step: ^uint32(0),
	}
	if o.Inverted {
		b.step = 1
	}
	switch o.By {
	case profile.ByFile, profile.ByPackage, profile.ByMapping, profile.ByClass:
		b.collapse = true
	default:
	}
	return b, nil
}

// nameTable holds the names of all sides.
type nameTable struct {
	names     []string
	classes   []profile.Class
	files     []string
	libraries []string
}

// addFrames adds the names of a side. It returns their indexes in the table, or nil if these are unchanged.
func (n *nameTable) addFrames(f *profile.Frames, libraries []string) []uint32 {
	if n.names == nil {
		// Clipped so that appended names do not end up in the Profile's tables.
		n.names, n.classes, n.files = slices.Clip(f.Names), slices.Clip(f.Classes), slices.Clip(f.Files)
		n.libraries = libraries
		return nil
	}
	known := make(map[string]uint32, len(n.names))
	for i, name := range n.names {
		known[name] = uint32(i)
	}
	ids := make([]uint32, len(f.Names))
	for i, name := range f.Names {
		id, ok := known[name]
		if !ok {
			id = n.add(name, f.Classes[i], f.Files[i], libraries[i])
		}
		ids[i] = id
	}
	return ids
}

func (n *nameTable) add(name string, class profile.Class, file, library string) uint32 {
	n.names, n.classes = append(n.names, name), append(n.classes, class)
	n.files, n.libraries = append(n.files, file), append(n.libraries, library)
	return uint32(len(n.names) - 1)
}

// librariesOf returns, for each name, the base name of the file that its locations are mapped from. It is ""
// if there are several.
func librariesOf(p *profile.Profile, f *profile.Frames) []string {
	files := make([]string, len(p.Mappings))
	for i := range p.Mappings {
		if file := p.Mappings[i].File; file != "" {
			files[i] = path.Base(file)
		}
	}
	libraries := make([]string, len(f.Names))
	seen := make([]bool, len(f.Names))
	for i := range p.Locations {
		file := ""
		if m := p.Locations[i].Mapping; m != profile.NoMapping {
			file = files[m]
		}
		for _, id := range f.IDs(uint32(i)) {
			if !seen[id] {
				seen[id], libraries[id] = true, file
			} else if libraries[id] != file {
				libraries[id] = ""
			}
		}
	}
	return libraries
}
