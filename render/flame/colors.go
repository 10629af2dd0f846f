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

// Palette colours the frames of one Tree: by what kind of code they are, or in a difference
// by how they changed.
type Palette struct {
	tree *flame.Tree
	dark bool
	// of are the groups of names, groups their names and colours.
	of     []int
	groups []flameGroup
	most   float64
}

type flameGroup struct {
	name        string
	light, dark color.RGBA
}

// Key is one entry of a legend.
type Key struct {
	Label string
	Color color.RGBA
	// Part is what of the total the group is, without callees; -1 where that says nothing.
	Part float64
}

// NewPalette chooses colours for a Tree.
func NewPalette(t *flame.Tree, dark bool) *Palette {
	p := &Palette{tree: t, dark: dark}
	p.of, p.groups = flameGroups([]*flame.Tree{t})
	p.most = strongest(t)
	return p
}

// Fill is the colour of a frame.
func (p *Palette) Fill(frame int32) color.RGBA {
	c := flameRamps(p.dark)
	switch {
	case frame == 0 && !p.tree.Diff:
		return c.rest
	case !p.tree.Diff:
		return p.groups[p.of[p.tree.Frames[frame].Name]].color(p.dark)
	case p.tree.Verdict(frame) == report.Noise && p.tree.P[frame] >= flame.Level:
		return c.noise
	}
	return p.diverging(min(1, max(-1, changeOf(p.tree, &p.tree.Frames[frame])/p.most)))
}

// Text is the colour in which to write on a fill: black or white, whichever is read better.
func (p *Palette) Text(fill color.RGBA) color.RGBA {
	if luminance(fill) > 0.179 { // there both have a contrast of 4.6
		return color.RGBA{A: 0xff}
	}
	return color.RGBA{0xff, 0xff, 0xff, 0xff}
}

// Mark is "+" of a frame that is new, "−" of one that has vanished, else "".
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

// strongest is the largest change that is no noise: it has the strongest colour.
func strongest(t *flame.Tree) float64 {
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

// diverging is the colour of a change from -1 to 1. Changes of all are drawn by their root, as
// most are small against the largest.
func (p *Palette) diverging(x float64) color.RGBA {
	c := flameRamps(p.dark)
	at := math.Sqrt(math.Abs(x))
	if x > 0 {
		return ramp(c.more, at)
	}
	return ramp(c.less, at)
}

// Legend explains the colours.
func (p *Palette) Legend() []Key {
	if p.tree.Diff {
		return p.diffLegend()
	}
	sums, rest := leafSums(p.tree, p.of, p.groups)
	seen := make([]bool, len(p.groups))
	for i := 1; i < len(p.tree.Frames); i++ {
		seen[p.of[p.tree.Frames[i].Name]] = true
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

// leafSums are what the groups of a tree are worth without callees, and what is in frames that were left out.
func leafSums(t *flame.Tree, of []int, groups []flameGroup) (sums []int64, rest int64) {
	sums = make([]int64, len(groups))
	rest = t.Root().Total
	put := func(group int, value int64) {
		sums[group] += value
		rest -= value
	}
	if t.Leaves == nil {
		for i := 1; i < len(t.Frames); i++ {
			put(of[t.Frames[i].Name], t.Frames[i].Self)
		}
		return sums, rest
	}
	for _, leaf := range t.Leaves {
		put(groupOf(groups, leaf.Class, leaf.Library), leaf.Value)
	}
	return sums, rest
}

// groupOf is the group of a class and a library.
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
			label = profiles.SignedPercent(100*x*p.most) + " of all"
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

// flameGroups are the groups of all names of trees, one after the other: classes of code, and of
// native code the libraries with the most.
func flameGroups(trees []*flame.Tree) (of []int, groups []flameGroup) {
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
	slices.SortFunc(libraries, func(a, b string) int { return cmp.Or(cmp.Compare(worth[b], worth[a]), cmp.Compare(a, b)) })
	groups = classGroups()
	for i, shade := range libraryShades() {
		if i < len(libraries) {
			shade.name = "native " + cutName(libraries[i])
			groups = append(groups, shade)
		}
	}
	for _, t := range trees {
		for i, class := range t.Classes {
			of = append(of, groupOf(groups, class, t.Libraries[i]))
		}
	}
	return of, groups
}

func part64(value, total int64) float64 {
	if total == 0 {
		return 0
	}
	return float64(value) / float64(total)
}
