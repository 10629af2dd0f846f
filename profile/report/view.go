package report

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"kitescope/profile"
)

// view is a profile as Options show it, and what its samples are added up by.
type view struct {
	p    *profile.Profile
	kind int
	// divisor is the index of the type that values are divided by, -1 for none.
	divisor int
	// children is the index of the type of values with what was called, of a table without stacks; -1 for none.
	children int
	events   func(i int) float64
	known    bool // events are known
	header   Header
	group    *grouping
}

// newView chooses the type, filters, and finds what samples are added up by. The total is that
// of all samples unless it is to be relative to what the filter leaves (google/pprof
// internal/driver: generateRawReport).
func newView(p *profile.Profile, o Options) (*view, error) {
	kind, err := p.KindOf(o.SampleIndex)
	if err != nil {
		return nil, err
	}
	v := &view{kind: kind, divisor: -1, children: -1}
	if o.By == profile.ByFunction { // what rows have called overlaps, and so adds up to nothing larger
		v.children = p.Children(kind)
	}
	if o.Mean {
		v.divisor = 0
	}
	if o.FoldPreempt {
		p = p.FoldPreempt()
	}
	v.p = p.Filter(&o.Filter)
	whole := p
	if o.Relative {
		whole = v.p
	}
	v.header = newHeader(whole, kind)
	if o.Mean {
		v.header.Total, v.header.Mean = meanTotal(whole, kind), true
	}
	var filtered int64
	v.events, filtered = v.p.Events(kind)
	v.known = filtered >= 0 && v.header.Samples >= 0
	v.group = newGrouping(v.p, o)
	return v, nil
}

// newHeader says what a table of a profile is of.
func newHeader(p *profile.Profile, kind int) Header {
	_, samples := p.Events(kind)
	return Header{
		Origin: p.Origin, Type: p.Types[kind], Total: p.Total(kind), Samples: samples,
		Time: p.Time, Duration: p.Duration, BuildIDs: buildIDs(p), Notes: p.Notes,
	}
}

// buildIDs are those of the main binary, which is the first mapping, and of all others of its
// name: merged profiles may be of different builds.
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

// meanTotal is the total with pprof's -mean: a quotient of sums (google/pprof internal/report: computeTotal).
func meanTotal(p *profile.Profile, kind int) int64 {
	var total, div, baseTotal, baseDiv int64
	isBase := make([]bool, len(p.LabelSets))
	for i, set := range p.LabelSets {
		isBase[i] = slices.ContainsFunc(set, isBaseLabel)
	}
	for i := range p.Len() {
		value, d := abs(p.Value(i, kind)), p.Value(i, 0)
		total, div = total+value, div+d
		if p.LabelOf != nil && isBase[p.LabelOf[i]] {
			baseTotal, baseDiv = baseTotal+value, baseDiv+d
		}
	}
	if baseTotal > 0 {
		total, div = baseTotal, baseDiv
	}
	if div != 0 {
		return total / div
	}
	return total
}

// grouping is what samples are added up by: frames, or what a sample is as a whole, or both.
type grouping struct {
	names   []string
	classes []profile.Class
	files   []string
	// frames are nil where only own counts.
	frames *profile.Frames
	// own is an id for each sample, which its flat value goes to; nil: that of the leaf.
	own []uint32
}

func newGrouping(p *profile.Profile, o Options) *grouping {
	if o.By == profile.ByNode {
		return byLabel(p, profile.NodeLabel)
	}
	if o.By == profile.ByLabel {
		return byLabel(p, o.Label)
	}
	f := p.Frames(o.By)
	g := &grouping{names: f.Names, classes: f.Classes, files: f.Files, frames: f}
	if o.By == profile.ByClass {
		g.own = g.spent(p)
	}
	return g
}

// spent makes ids of what samples were spent on, of which some are no frame's.
func (g *grouping) spent(p *profile.Profile) []uint32 {
	s := p.Spent()
	ids := make([]uint32, len(s.Kinds))
	for i, k := range s.Kinds {
		ids[i] = g.id(k.String(), k.Class)
	}
	for i, k := range s.Of {
		s.Of[i] = ids[k]
	}
	return s.Of
}

// id is that of a name; there are few.
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

// NoLabel is what samples without the label that they are added up by are called.
const NoLabel = "(none)"

func byLabel(p *profile.Profile, key string) *grouping {
	g := &grouping{own: make([]uint32, p.Len())}
	ids := map[string]uint32{}
	of := make([]uint32, max(1, len(p.LabelSets)))
	for i := range of {
		name := NoLabel
		if i < len(p.LabelSets) {
			name = labelText(p.LabelSets[i], key)
		}
		id, ok := ids[name]
		if !ok {
			id = uint32(len(ids))
			ids[name] = id
			g.names, g.classes, g.files = append(g.names, name), append(g.classes, profile.Unknown), append(g.files, "")
		}
		of[i] = id
	}
	for i := range g.own {
		set := uint32(0)
		if p.LabelOf != nil {
			set = p.LabelOf[i]
		}
		g.own[i] = of[set]
	}
	return g
}

// labelText is a label's value for people; several of one key are joined.
func labelText(set []profile.Label, key string) string {
	text := ""
	for _, l := range set {
		if l.Key != key {
			continue
		}
		if text != "" {
			text += ","
		}
		text += labelValue(l)
	}
	if text == "" {
		return NoLabel
	}
	return text
}

func labelValue(l profile.Label) string {
	if l.IsNum {
		return strings.TrimSpace(strconv.FormatInt(l.Num, 10) + " " + l.Unit)
	}
	return l.Str
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}
