package flame

import (
	"math"

	"kitescope/internal/words"
	"kitescope/profile/flame"
	"kitescope/profile/report"
)

// flameData is the input of the page's script. Package encoding/json escapes <, > and &, so that no name can end
// the element that contains the data.
type flameData struct {
	Diff       bool                 `json:"diff"`
	Normalized bool                 `json:"normalized"`
	Level      float64              `json:"level"`
	Groups     []string             `json:"groups"`
	Palette    map[string]flameInks `json:"palette"`
	// Names are the names of frames in all trees. NameGroups and File hold the group and file index of each name.
	Names      []string    `json:"names"`
	NameGroups []int       `json:"name_groups"`
	File       []int       `json:"file"`
	Files      []string    `json:"files"`
	Trees      []flameTree `json:"trees"`

	names map[flameName]int
	files map[string]int
}

// flameName distinguishes functions with the same name.
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

// flameTree is a Tree with values in units of Scale.
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
	// Before and After are the durations of both sides in seconds, if rates were tested.
	Before float64 `json:"before,omitempty"`
	After  float64 `json:"after,omitempty"`
	// Leaves are the values of leaf frames by group, including omitted frames.
	Leaves []int64     `json:"leaves"`
	Frames flameFrames `json:"frames"`
}

// flameFrames holds the columns of frames in depth-first order. P are p-values in tenths of a decade, e.g. 13 for
// 10^-1.3, or -1 if unknown.
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

func (d *flameData) tree(t *flame.Tree, groupOfName []int, groups []flameGroup) flameTree {
	out := flameTree{
		Label: words.Sanitize(t.Type.String()), Unit: words.Sanitize(t.Type.Unit), Scale: flameDivisor(t),
		Nodes: t.Nodes, Inverted: t.Inverted,
		Pruned: t.Pruned, Min: t.PrunedMin, Samples: t.SamplesTotal, BaseSamples: t.BaseSamples,
	}
	if t.Diff && t.Hypothesis == report.EqualRates {
		out.Before, out.After = t.Before, t.After
	}
	out.Leaves, _ = leafSums(t, groupOfName, groups)
	for i := range out.Leaves {
		out.Leaves[i] /= out.Scale
	}
	ids := make([]int, len(t.Names))
	f := &out.Frames
	for i := range t.Frames {
		frame := &t.Frames[i]
		if ids[frame.Name] == 0 {
			ids[frame.Name] = 1 +
				d.name(cutName(t.Names[frame.Name]), cutName(t.Files[frame.Name]), groupOfName[frame.Name])
		}
		f.Name, f.Depth = append(f.Name, ids[frame.Name]-1), append(f.Depth, frame.Depth)
		f.Total, f.Self = append(f.Total, frame.Total/out.Scale), append(f.Self, frame.Self/out.Scale)
		if t.Diff {
			f.Base, f.BaseSelf = append(f.Base, frame.Base/out.Scale), append(f.BaseSelf, frame.BaseSelf/out.Scale)
			f.P = append(f.P, tenths(t.PValues[i]))
		}
	}
	return out
}

// name returns the index of a name. Each name is stored once for all trees.
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

// flameDivisor returns the greatest common divisor of all values of a tree, which is the period in sampled
// profiles.
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
