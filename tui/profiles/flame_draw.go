package profiles

import (
	"math"
	"strings"

	"kitescope/internal/words"
	"kitescope/profile/flame"
	"kitescope/profile/report"
	"kitescope/tui/draw"
)

// flameSigns are the signs of a flame graph. They say what colours say, for eyes and terminals
// without.
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

// flameDrawer writes rows of a graph.
type flameDrawer struct {
	graph   *flameGraph
	palette *flamePalette
	signs   flameSigns
	found   []bool // names that were searched for; nil: nothing was
	active  bool   // the cursor is in this graph
}

// row writes row d into exactly the graph's width.
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

// cell writes a frame: a border, which carries the most important sign, and as much of the
// name as fits.
func (d *flameDrawer) cell(b *strings.Builder, s span, m mood) {
	sign := d.sign(s.frame)
	border := d.signs.border
	switch {
	case m == moodCursor:
		border = d.signs.cursor
	case m == moodMatch:
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

// label writes the name of a frame into exactly so many cells, with its share where that fits.
func (d *flameDrawer) label(b *strings.Builder, frame int32, room int) {
	const least = 3 // a name of fewer cells says nothing
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

// draw.CutName shortens a name and says how wide it is then.
func (d *flameDrawer) cutName(name string, n, room int) (short string, w int) {
	if len(name) == n { // ASCII, as nearly all
		return name[:room-1] + d.signs.cut, room
	}
	short = strings.ReplaceAll(draw.Cut(name, room), "…", d.signs.cut)
	return short, draw.Width(short)
}

// share is a frame's part of the total, before and after.
func (d *flameDrawer) share(frame int32) string {
	t := d.graph.index.tree
	after, before := sides(t, frame)
	if !t.Diff {
		return words.Share(after)
	}
	text := words.Percent(100*before) + " " + d.arrow() + " " + words.Percent(100*after)
	if v := t.Verdict(frame); v == report.More || v == report.Less {
		text += "  " + d.ascii(points(100*(after-before)))
	}
	return text
}

// wholes are what the shares of both sides are of. Where shares are compared each side has its own
// total; where values are, as in the tables, both are shares of the total before. So they are in a
// sandwich, which would else say of its function that it is 100% on both sides.
func wholes(t *flame.Tree) (after, before int64) {
	root := t.Root()
	known := t.SamplesTotal > 0 && t.BaseSamples > 0
	switch {
	case !t.Diff || root.Base == 0:
	case t.Focus != "", !t.Normalized && !(known && t.Hypothesis == report.EqualShares):
		return root.Base, root.Base
	}
	return root.Total, root.Base
}

// sides are the shares of a frame, 0 where there is no total.
func sides(t *flame.Tree, frame int32) (after, before float64) {
	f := &t.Frames[frame]
	a, b := wholes(t)
	return partOf(float64(f.Total), a) / 100, partOf(float64(f.Base), b) / 100
}

func (d *flameDrawer) arrow() string { return d.ascii("→") }

// ascii replaces what a plain terminal does not have.
func (d *flameDrawer) ascii(s string) string {
	if d.signs.border == "|" {
		return strings.NewReplacer("→", "->", "±", "+-", "µ", "u", "·", "|", "≈", "~").Replace(s)
	}
	return s
}

// sign says what happened to a frame between two profiles; "" if nothing did that chance does not explain.
func (d *flameDrawer) sign(frame int32) string {
	t := d.graph.index.tree
	if !t.Diff {
		return ""
	}
	if frame > 0 && gone(&t.Frames[frame]) {
		return d.signs.gone
	}
	switch changeOf(t, frame) {
	case report.More:
		return d.signs.more
	case report.Less:
		return d.signs.less
	default:
	}
	return ""
}

// changeOf is the verdict on a frame. Where nothing is known of events, any change counts.
func changeOf(t *flame.Tree, frame int32) report.Verdict {
	v := t.Verdict(frame)
	if v != report.Undecided {
		return v
	}
	switch after, before := sides(t, frame); {
	case after > before:
		return report.More
	case after < before:
		return report.Less
	}
	return report.Noise
}

// look is how a frame is drawn.
func (d *flameDrawer) look(frame int32) (draw.Style, mood) {
	t := d.graph.index.tree
	f := &t.Frames[frame]
	m := moodPlain
	switch {
	case d.active && frame == d.graph.at:
		m = moodCursor
	case d.found == nil:
	case frame > 0 && d.found[f.Name]:
		m = moodMatch
	default:
		m = moodFaint
	}
	return d.palette.look(d.tint(frame), f.Name*2654435761>>16, m), m
}

// tint is a frame's colour.
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

// From so many points of the total on a change has a stronger colour.
const muchPoints, veryPoints = 2, 10

func (d *flameDrawer) changeTint(frame int32) tint {
	t := d.graph.index.tree
	after, before := sides(t, frame)
	step, level := 100*math.Abs(after-before), tint(0)
	if step >= muchPoints {
		level++
	}
	if step >= veryPoints {
		level++
	}
	switch changeOf(t, frame) {
	case report.More:
		return tintMore + level
	case report.Less:
		return tintLess + level
	default:
	}
	return tintNoise
}
