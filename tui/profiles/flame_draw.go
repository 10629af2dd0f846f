package profiles

import (
	"math"
	"strings"

	"kitescope/internal/words"
	"kitescope/profile/flame"
	"kitescope/profile/report"
	"kitescope/tui/draw"
)

// flameSigns are the signs of a flame graph. They repeat the meaning of colours for terminals without colours and
// colour-blind users.
type flameSigns struct {
	border, cursor, match string
	less, more, gone      string
	cut                   string
}

func newFlameSigns(ascii, mono bool) flameSigns {
	switch {
	case ascii:
		return flameSigns{"|", ">", "*", "-", "+", "x", "~"}
	case mono:
		return flameSigns{"│", "▶", "◆", "-", "+", "×", "…"}
	}
	return flameSigns{"▏", "▶", "◆", "-", "+", "×", "…"}
}

// flameDrawer draws rows of a graph.
type flameDrawer struct {
	graph   *flameGraph
	palette *flamePalette
	signs   flameSigns
	found   []bool // by index of the name, whether it matches the search; nil without a search
	active  bool   // the cursor is in this graph
}

// row writes row depth in exactly the width of the graph.
func (d *flameDrawer) row(b *strings.Builder, depth int) {
	x, open := 0, draw.Style{}
	for _, s := range d.graph.row(depth) {
		if s.x0 > x {
			b.WriteString(open.Close)
			open = draw.Style{}
			b.WriteString(draw.Pad(s.x0 - x))
		}
		look, mood := d.look(s.frame)
		if look != open {
			b.WriteString(open.Close)
			b.WriteString(look.Open)
			open = look
		}
		d.cell(b, s, mood)
		x = s.x1
	}
	b.WriteString(open.Close)
	b.WriteString(draw.Pad(d.graph.w - x))
}

// cell writes a frame: a border, which carries the most important sign, and the name, cut to fit.
func (d *flameDrawer) cell(b *strings.Builder, s span, m emphasis) {
	sign := d.sign(s.frame)
	border := d.signs.border
	switch {
	case m == emphasisCursor:
		border = d.signs.cursor
	case m == emphasisMatch:
		border = d.signs.match
	case s.x1-s.x0 == 1 && sign != "" && d.palette.mono:
		border = sign
	}
	b.WriteString(border)
	room := s.x1 - s.x0 - 1
	if sign != "" && room > 0 {
		b.WriteString(sign)
		room--
	}
	d.label(b, s.frame, room)
}

// label writes the name of a frame in exactly room cells, and its share if both fit.
func (d *flameDrawer) label(b *strings.Builder, frame int32, room int) {
	const least = 3 // a shorter name is not recognizable
	if room < least {
		b.WriteString(draw.Pad(room))
		return
	}
	x := d.graph.index
	name := x.names[x.tree.Frames[frame].Name]
	n := draw.Width(name)
	if n > room {
		name = x.short[x.tree.Frames[frame].Name]
		if n = draw.Width(name); n > room {
			name, n = d.cutName(name, n, room)
		}
	} else if room-n >= least {
		if share := " " + d.share(frame); n+draw.Width(share) <= room {
			name += share
			n += draw.Width(share)
		}
	}
	b.WriteString(name)
	b.WriteString(draw.Pad(room - n))
}

// cutName shortens a name and returns it with its width.
func (d *flameDrawer) cutName(name string, n, room int) (short string, w int) {
	if len(name) == n { // ASCII, as nearly all names are
		return name[:room-1] + d.signs.cut, room
	}
	short = strings.ReplaceAll(draw.Cut(name, room), "…", d.signs.cut)
	return short, draw.Width(short)
}

// share returns the share of a frame in the total: before and after, if the graph is a comparison.
func (d *flameDrawer) share(frame int32) string {
	t := d.graph.index.tree
	after, before := sides(t, frame)
	if !t.Diff {
		return words.Share(after)
	}
	text := words.Percent(100*before) + " " + d.arrow() + " " + words.Percent(100*after)
	if v := t.Verdict(frame); v == report.Increased || v == report.Decreased {
		text += "  " + d.ascii(points(100*(after-before)))
	}
	return text
}

// totals returns the totals that the shares of both sides refer to. If shares are compared, each side has its own
// total. If values are compared, both refer to the total of the base, as in the tables. A sandwich uses the base
// too, because its function would otherwise be 100% on both sides.
func totals(t *flame.Tree) (after, before int64) {
	root := t.Root()
	known := t.SamplesTotal > 0 && t.BaseSamples > 0
	switch {
	case !t.Diff || root.Base == 0:
	case t.Focus != "", !t.Normalized && !(known && t.Hypothesis == report.EqualShares):
		return root.Base, root.Base
	}
	return root.Total, root.Base
}

// sides returns the shares of a frame on both sides, or 0 if the total is 0.
func sides(t *flame.Tree, frame int32) (after, before float64) {
	f := &t.Frames[frame]
	a, b := totals(t)
	return partOf(float64(f.Total), a) / 100, partOf(float64(f.Base), b) / 100
}

func (d *flameDrawer) arrow() string { return d.ascii("→") }

// ascii replaces characters that an ASCII terminal lacks.
func (d *flameDrawer) ascii(s string) string {
	if d.signs.border == "|" {
		return strings.NewReplacer("→", "->", "±", "+-", "µ", "u", "·", "|", "≈", "~").Replace(s)
	}
	return s
}

// sign returns the sign for the change of a frame between two profiles, or "" if the change may be noise.
func (d *flameDrawer) sign(frame int32) string {
	t := d.graph.index.tree
	if !t.Diff {
		return ""
	}
	if frame > 0 && gone(&t.Frames[frame]) {
		return d.signs.gone
	}
	switch changeOf(t, frame) {
	case report.Increased:
		return d.signs.more
	case report.Decreased:
		return d.signs.less
	default:
	}
	return ""
}

// changeOf returns the verdict on a frame. If the verdict is undecided because no event counts are known, any
// change counts.
func changeOf(t *flame.Tree, frame int32) report.Verdict {
	v := t.Verdict(frame)
	if v != report.Undecided {
		return v
	}
	switch after, before := sides(t, frame); {
	case after > before:
		return report.Increased
	case after < before:
		return report.Decreased
	}
	return report.Noise
}

// look returns the style and the emphasis of a frame.
func (d *flameDrawer) look(frame int32) (draw.Style, emphasis) {
	t := d.graph.index.tree
	f := &t.Frames[frame]
	m := emphasisPlain
	switch {
	case d.active && frame == d.graph.at:
		m = emphasisCursor
	case d.found == nil:
	case frame > 0 && d.found[f.Name]:
		m = emphasisMatch
	default:
		m = emphasisFaint
	}
	return d.palette.look(d.tint(frame), f.Name*2654435761>>16, m), m
}

// tint returns the colour class of a frame.
func (d *flameDrawer) tint(frame int32) tint {
	t := d.graph.index.tree
	f := &t.Frames[frame]
	if t.Diff {
		return d.changeTint(frame)
	}
	if frame == 0 || t.Nodes && f.Depth == 1 {
		return tintGroup
	}
	return tintClass + tint(t.Classes[f.Name])
}

// A change of at least strongPoints percentage points of the total has a stronger colour, one of at least
// strongestPoints the strongest.
const strongPoints, strongestPoints = 2, 10

func (d *flameDrawer) changeTint(frame int32) tint {
	t := d.graph.index.tree
	after, before := sides(t, frame)
	step, level := 100*math.Abs(after-before), tint(0)
	if step >= strongPoints {
		level++
	}
	if step >= strongestPoints {
		level++
	}
	switch changeOf(t, frame) {
	case report.Increased:
		return tintMore + level
	case report.Decreased:
		return tintLess + level
	default:
	}
	return tintNoise
}
