package flame

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	"kitescope/profile"
	"kitescope/profile/flame"
	"kitescope/profile/report"
	"kitescope/render/profiles"
)

// Palette assigns colors to the frames of a Tree: by class of code, or in a difference by change.
type Palette struct {
	tree *flame.Tree
	dark bool
	// groupOfName maps name ids to groups; groups are the groups' names and colors.
	groupOfName []int
	groups      []flameGroup
	maxChange   float64
}

type flameGroup struct {
	name        string
	light, dark color.RGBA
}

// Key is an entry of a legend.
type Key struct {
	Label string
	Color color.RGBA
	// Part is the group's share of the total without callees, or -1 if it does not apply.
	Part float64
}

// NewPalette returns the palette of a Tree.
func NewPalette(t *flame.Tree, dark bool) *Palette {
	p := &Palette{tree: t, dark: dark}
	p.groupOfName, p.groups = flameGroups([]*flame.Tree{t})
	p.maxChange = maxChange(t)
	return p
}

// Fill returns the fill color of a frame.
func (p *Palette) Fill(frame int32) color.RGBA {
	c := flameRamps(p.dark)
	switch {
	case frame == 0 && !p.tree.Diff:
		return c.rest
	case !p.tree.Diff:
		return p.groups[p.groupOfName[p.tree.Frames[frame].Name]].color(p.dark)
	case p.tree.Verdict(frame) == report.Noise && p.tree.PValues[frame] >= flame.Level:
		return c.noise
	}
	return p.diverging(min(1, max(-1, changeOf(p.tree, &p.tree.Frames[frame])/p.maxChange)))
}

// Text returns the text color for a fill: black or white, whichever has more contrast.
func (p *Palette) Text(fill color.RGBA) color.RGBA {
	if luminance(fill) > 0.179 { // at this luminance, both have a contrast of 4.6
		return color.RGBA{A: 0xff}
	}
	return color.RGBA{0xff, 0xff, 0xff, 0xff}
}

// Mark returns "+" for a new frame, "−" for a vanished one, and otherwise "".
func (p *Palette) Mark(frame int32) string {
	f := &p.tree.Frames[frame]
	switch {
	case !p.tree.Diff || f.Total == f.Base:
		return ""
	case f.Base == 0:
		return "+"
	case f.Total == 0:
		return "−"
	}
	return ""
}

func changeOf(t *flame.Tree, f *flame.Frame) float64 {
	whole := t.Root().Base
	if whole == 0 {
		whole = t.Root().Total
	}
	if whole == 0 {
		return 0
	}
	return (float64(f.Total) - float64(f.Base)) / float64(whole)
}

// maxChange returns the largest change that is not noise, which gets the strongest color.
func maxChange(t *flame.Tree) float64 {
	var top, most float64
	for i := 1; i < len(t.Frames); i++ {
		d := math.Abs(changeOf(t, &t.Frames[i]))
		most = max(most, d)
		if t.Verdict(int32(i)) != report.Noise {
			top = max(top, d)
		}
	}
	switch {
	case top > 0:
		return top
	case most > 0:
		return most
	}
	return 1
}

// diverging returns the color of a change from -1 to 1. It scales changes by their square root, because most are
// small compared with the largest.
func (p *Palette) diverging(x float64) color.RGBA {
	c := flameRamps(p.dark)
	at := math.Sqrt(math.Abs(x))
	if x > 0 {
		return ramp(c.more, at)
	}
	return ramp(c.less, at)
}

// Legend returns the entries of the legend.
func (p *Palette) Legend() []Key {
	if p.tree.Diff {
		return p.diffLegend()
	}
	sums, rest := leafSums(p.tree, p.groupOfName, p.groups)
	seen := make([]bool, len(p.groups))
	for i := 1; i < len(p.tree.Frames); i++ {
		seen[p.groupOfName[p.tree.Frames[i].Name]] = true
	}
	var keys []Key
	total := p.tree.Root().Total
	for i, sum := range sums {
		if sum > 0 || seen[i] {
			keys = append(keys, Key{p.groups[i].name, p.groups[i].color(p.dark), part64(sum, total)})
		}
	}
	slices.SortStableFunc(keys, func(a, b Key) int { return cmp.Compare(b.Part, a.Part) })
	if part64(rest, total) > 0.0005 {
		return append(keys, Key{restName, flameRamps(p.dark).rest, part64(rest, total)})
	}
	return append(keys, Key{restName, flameRamps(p.dark).rest, -1})
}

// leafSums returns the values of a tree's groups without callees, and the value of omitted frames.
func leafSums(t *flame.Tree, groupOfName []int, groups []flameGroup) (sums []int64, rest int64) {
	sums = make([]int64, len(groups))
	rest = t.Root().Total
	put := func(group int, value int64) {
		sums[group] += value
		rest -= value
	}
	if t.Leaves == nil {
		for i := 1; i < len(t.Frames); i++ {
			put(groupOfName[t.Frames[i].Name], t.Frames[i].Self)
		}
		return sums, rest
	}
	for _, leaf := range t.Leaves {
		put(groupOf(groups, leaf.Class, leaf.Library), leaf.Value)
	}
	return sums, rest
}

// groupOf returns the group of a class and library.
func groupOf(groups []flameGroup, class profile.Class, library string) int {
	if class == profile.Native && library != "" {
		name := "native " + cutName(library)
		for i := len(profile.Classes()); i < len(groups); i++ {
			if groups[i].name == name {
				return i
			}
		}
	}
	return int(class)
}

func (p *Palette) diffLegend() []Key {
	var keys []Key
	for _, x := range []float64{-1, -0.25, 0, 0.25, 1} {
		label := "unchanged"
		if x != 0 {
			label = profiles.SignedPercent(100*x*p.maxChange) + " of total"
		}
		keys = append(keys, Key{label, p.diverging(x), -1})
	}
	keys = append(keys, Key{"noise", flameRamps(p.dark).noise, -1}, Key{"+ new", p.diverging(1), -1})
	return append(keys, Key{"− vanished", p.diverging(-1), -1})
}

func (g *flameGroup) color(dark bool) color.RGBA {
	if dark {
		return g.dark
	}
	return g.light
}

// flameGroups returns the group of each name, for all trees in order, and the groups: the classes of code, and
// the native libraries with the largest values.
func flameGroups(trees []*flame.Tree) (groupOfName []int, groups []flameGroup) {
	worth := map[string]float64{}
	for _, t := range trees {
		for _, leaf := range t.Leaves {
			if leaf.Class == profile.Native && leaf.Library != "" {
				worth[leaf.Library] += part64(leaf.Value, t.Root().Total) + part64(leaf.Base, t.Root().Base)
			}
		}
		if t.Leaves != nil {
			continue
		}
		for i := range t.Frames {
			f := &t.Frames[i]
			if library := t.Libraries[f.Name]; t.Classes[f.Name] == profile.Native && library != "" {
				worth[library] += part64(f.Self, t.Root().Total) + part64(f.BaseSelf, t.Root().Base)
			}
		}
	}
	libraries := make([]string, 0, len(worth))
	for library := range worth {
		libraries = append(libraries, library)
	}
	slices.SortFunc(libraries, func(a, b string) int {
		return cmp.Or(cmp.Compare(worth[b], worth[a]), cmp.Compare(a, b))
	})
	groups = classGroups()
	for i, shade := range libraryShades() {
		if i < len(libraries) {
			shade.name = "native " + cutName(libraries[i])
			groups = append(groups, shade)
		}
	}
	for _, t := range trees {
		for i, class := range t.Classes {
			groupOfName = append(groupOfName, groupOf(groups, class, t.Libraries[i]))
		}
	}
	return groupOfName, groups
}

func part64(value, total int64) float64 {
	if total == 0 {
		return 0
	}
	return float64(value) / float64(total)
}
