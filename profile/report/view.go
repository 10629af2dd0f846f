package report

import (
	"path"
	"slices"

	"kitescope/profile"
)

// view is a profile with Options applied, and the grouping of its samples.
type view struct {
	p      *profile.Profile
	kind   int
	events func(i int) float64
	known  bool // the numbers of events are known
	header Header
	group  *grouping
}

// newView selects the type, filters, and groups the samples. The total covers all samples, including those that
// the filters remove (google/pprof internal/driver: generateRawReport).
func newView(p *profile.Profile, o Options) (*view, error) {
	kind, err := p.KindOf(o.SampleIndex)
	if err != nil {
		return nil, err
	}
	v := &view{kind: kind}
	if o.FoldPreempt {
		p = p.FoldPreempt()
	}
	v.p = p.Filter(&o.Filter)
	v.header = newHeader(p, kind)
	var filtered int64
	v.events, filtered = v.p.Events(kind)
	v.known = filtered >= 0 && v.header.Samples >= 0
	v.group = newGrouping(v.p, o)
	return v, nil
}

// newHeader returns the Header of a profile.
func newHeader(p *profile.Profile, kind int) Header {
	_, samples := p.Events(kind)
	return Header{
		Origin: p.Origin, Type: p.Types[kind], Total: p.Total(kind), Samples: samples,
		Time: p.Time, Duration: p.Duration, BuildIDs: buildIDs(p), Notes: p.Notes,
	}
}

// buildIDs returns the build ids of the main binary. This is the first mapping, but merged profiles may come
// from different builds, so the build ids of all mappings with the same name are included.
func buildIDs(p *profile.Profile) []string {
	if len(p.Mappings) == 0 {
		return nil
	}
	main := path.Base(p.Mappings[0].File)
	var ids []string
	for i := range p.Mappings {
		if m := &p.Mappings[i]; m.BuildID != "" && path.Base(m.File) == main && !slices.Contains(ids, m.BuildID) {
			ids = append(ids, m.BuildID)
		}
	}
	return ids
}

// grouping assigns samples to entries: by their frames, by a property of the whole sample, or both.
type grouping struct {
	names   []string
	classes []profile.Class
	files   []string
	// frames is nil if samples are grouped by sampleIDs only.
	frames *profile.Frames
	// sampleIDs holds the id that each sample's flat value is added to. If nil, it is the id of the leaf.
	sampleIDs []uint32
}

func newGrouping(p *profile.Profile, o Options) *grouping {
	if o.By == profile.ByNode {
		return byNode(p)
	}
	f := p.Frames(o.By)
	g := &grouping{names: f.Names, classes: f.Classes, files: f.Files, frames: f}
	if o.By == profile.ByClass {
		g.sampleIDs = g.sampleKinds(p)
	}
	return g
}

// sampleKinds returns the id of each sample's kind (profile.SampleKinds). It adds kinds that are not the kind of any
// frame.
func (g *grouping) sampleKinds(p *profile.Profile) []uint32 {
	s := p.SampleKinds()
	ids := make([]uint32, len(s.Kinds))
	for i, k := range s.Kinds {
		ids[i] = g.id(k.String(), k.Class)
	}
	for i, k := range s.Index {
		s.Index[i] = ids[k]
	}
	return s.Index
}

// id returns the id of a name, adding it if necessary. It searches linearly because there are few names.
func (g *grouping) id(name string, class profile.Class) uint32 {
	i := slices.Index(g.names, name)
	if i < 0 {
		i = len(g.names)
		g.names = append(g.names, name)
		g.classes = append(g.classes, class)
		g.files = append(g.files, "")
	}
	return uint32(i)
}

// NoNode is the name for samples without a node.
const NoNode = "(none)"

func byNode(p *profile.Profile) *grouping {
	g := &grouping{sampleIDs: make([]uint32, p.Len())}
	ids := map[string]uint32{}
	of := make([]uint32, max(1, len(p.LabelSets)))
	for i := range of {
		name := NoNode
		if i < len(p.LabelSets) {
			if at := slices.IndexFunc(p.LabelSets[i], func(l profile.Label) bool {
				return l.Key == profile.NodeLabel && l.Str != ""
			}); at >= 0 {
				name = p.LabelSets[i][at].Str
			}
		}
		id, ok := ids[name]
		if !ok {
			id = uint32(len(ids))
			ids[name] = id
			g.names, g.classes, g.files = append(g.names, name), append(g.classes, profile.Unknown), append(g.files, "")
		}
		of[i] = id
	}
	for i := range g.sampleIDs {
		set := uint32(0)
		if p.LabelOf != nil {
			set = p.LabelOf[i]
		}
		g.sampleIDs[i] = of[set]
	}
	return g
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}
