package flame

import (
	"math"

	"kitescope/internal/words"
	"kitescope/profile/flame"
	"kitescope/profile/report"
)

// flameData is what the page's script reads. Go writes it with <, > and & escaped, so that no name
// can end the element that it is in.
type flameData struct {
	Diff       bool                 `json:"diff"`
	Normalized bool                 `json:"normalized"`
	Level      float64              `json:"level"`
	Groups     []string             `json:"groups"`
	Palette    map[string]flameInks `json:"palette"`
	// Names are of the frames of all trees; NameGroups and File say of each its group and its file.
	Names      []string    `json:"names"`
	NameGroups []int       `json:"name_groups"`
	File       []int       `json:"file"`
	Files      []string    `json:"files"`
	Trees      []flameTree `json:"trees"`

	names map[flameName]int
	files map[string]int
}

// flameName tells names that are written alike apart.
type flameName struct {
	name, file string
	group      int
}

type flameInks struct {
	Groups []string `json:"groups"`
	Rest   string   `json:"rest"`
	Noise  string   `json:"noise"`
	Edge   string   `json:"edge"`
	More   []string `json:"more"`
	Less   []string `json:"less"`
}

// flameTree is a Tree. Values are in units of Scale.
type flameTree struct {
	Label       string  `json:"label"`
	Unit        string  `json:"unit"`
	Scale       int64   `json:"scale"`
	Nodes       bool    `json:"nodes"`
	Inverted    bool    `json:"inverted"`
	Pruned      int     `json:"pruned"`
	Min         float64 `json:"min"`
	Samples     int64   `json:"samples"`
	BaseSamples int64   `json:"base_samples"`
	// Before and After are the seconds of both sides, if rates were tested.
	Before float64 `json:"before,omitempty"`
	After  float64 `json:"after,omitempty"`
	// Leaves are what stacks end in, by group: what was left out counts here.
	Leaves []int64     `json:"leaves"`
	Frames flameFrames `json:"frames"`
}

// flameFrames are the columns of frames, in depth-first order. P are p values in tenths of a
// decade: 13 is 10^-1.3; -1 is unknown.
type flameFrames struct {
	Name     []int   `json:"name"`
	Depth    []int32 `json:"depth"`
	Total    []int64 `json:"total"`
	Self     []int64 `json:"self"`
	Base     []int64 `json:"base,omitempty"`
	BaseSelf []int64 `json:"base_self,omitempty"`
	P        []int   `json:"p,omitempty"`
}

func newFlameData(trees []*flame.Tree) *flameData {
	of, groups := flameGroups(trees)
	d := &flameData{
		Level:   flame.Level,
		Palette: map[string]flameInks{"light": newFlameInks(groups, false), "dark": newFlameInks(groups, true)},
	}
	for i := range groups {
		d.Groups = append(d.Groups, groups[i].name)
	}
	d.names, d.files, d.Files = map[flameName]int{}, map[string]int{"": 0}, []string{""}
	for _, t := range trees {
		d.Diff = d.Diff || t.Diff
		d.Normalized = d.Normalized || t.Normalized
		d.Trees = append(d.Trees, d.tree(t, of[:len(t.Names)], groups))
		of = of[len(t.Names):]
	}
	return d
}

func newFlameInks(groups []flameGroup, dark bool) flameInks {
	c := flameRamps(dark)
	inks := flameInks{Rest: hexText(c.rest), Noise: hexText(c.noise), Edge: hexText(c.edge)}
	for i := range groups {
		inks.Groups = append(inks.Groups, hexText(groups[i].color(dark)))
	}
	for i := range c.more {
		inks.More, inks.Less = append(inks.More, hexText(c.more[i])), append(inks.Less, hexText(c.less[i]))
	}
	return inks
}

func (d *flameData) tree(t *flame.Tree, of []int, groups []flameGroup) flameTree {
	out := flameTree{
		Label: words.Harmless(t.Type.String()), Unit: words.Harmless(t.Type.Unit), Scale: flameDivisor(t), Nodes: t.Nodes, Inverted: t.Inverted,
		Pruned: t.Pruned, Min: t.PrunedMin, Samples: t.SamplesTotal, BaseSamples: t.BaseSamples,
	}
	if t.Diff && t.Hypothesis == report.EqualRates {
		out.Before, out.After = t.Before, t.After
	}
	out.Leaves, _ = leafSums(t, of, groups)
	for i := range out.Leaves {
		out.Leaves[i] /= out.Scale
	}
	ids := make([]int, len(t.Names))
	f := &out.Frames
	for i := range t.Frames {
		frame := &t.Frames[i]
		if ids[frame.Name] == 0 {
			ids[frame.Name] = 1 + d.name(cutName(t.Names[frame.Name]), cutName(t.Files[frame.Name]), of[frame.Name])
		}
		f.Name, f.Depth = append(f.Name, ids[frame.Name]-1), append(f.Depth, frame.Depth)
		f.Total, f.Self = append(f.Total, frame.Total/out.Scale), append(f.Self, frame.Self/out.Scale)
		if t.Diff {
			f.Base, f.BaseSelf = append(f.Base, frame.Base/out.Scale), append(f.BaseSelf, frame.BaseSelf/out.Scale)
			f.P = append(f.P, tenths(t.P[i]))
		}
	}
	return out
}

// name is the index of a name, which is kept once for all trees.
func (d *flameData) name(name, file string, group int) int {
	key := flameName{name, file, group}
	id, ok := d.names[key]
	if ok {
		return id
	}
	id = len(d.Names)
	d.names[key] = id
	at, ok := d.files[file]
	if !ok {
		at = len(d.Files)
		d.files[file], d.Files = at, append(d.Files, file)
	}
	d.Names, d.NameGroups, d.File = append(d.Names, name), append(d.NameGroups, group), append(d.File, at)
	return id
}

// flameDivisor is what all values of a tree can be divided by: the period, of a profile that was sampled.
func flameDivisor(t *flame.Tree) int64 {
	var d int64
	for i := range t.Frames {
		f := &t.Frames[i]
		for _, v := range []int64{f.Total, f.Self, f.Base, f.BaseSelf} {
			for v != 0 {
				d, v = v, d%v
			}
		}
		if d == 1 {
			break
		}
	}
	return max(d, 1)
}

func tenths(p float64) int {
	if math.IsNaN(p) {
		return -1
	}
	return int(math.Round(min(999, -10*math.Log10(max(p, 1e-99)))))
}
