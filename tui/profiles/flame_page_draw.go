package profiles

import (
	"cmp"
	"slices"
	"strings"

	"kitescope/internal/words"
	"kitescope/profile"
	"kitescope/profile/flame"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// Numbers of lines around the graph, and the column of its left edge.
const (
	flameHead   = 1 // the profile and the legend
	flameDetail = 2 // the frame under the cursor
	flameLeft   = 1
)

func (p *flamePage) Body(m *tui.Model, w, h int) []string {
	if text := p.placeholder(m); text != "" {
		p.lines = p.lines[:0]
		return append([]string{""}, draw.Sentence(m.Styles, text, w)...)
	}
	if p.palette == nil || p.palette.styles != m.Styles { // the theme has changed
		p.palette = newFlamePalette(m.Styles)
	}
	signs := newFlameSigns(m.Config.ASCII, p.palette.mono)
	d := flameDrawer{palette: p.palette, signs: signs}
	rows := h - flameHead - flameDetail
	p.place(w-2*flameLeft, rows)
	out := make([]string, 0, h)
	out = append(out, p.head(m, &d, w))
	var b strings.Builder
	for _, l := range p.lines {
		if l.depth < 0 {
			out = append(out, "")
			continue
		}
		d.graph, d.active, d.found = p.graphs[l.half], p.half == l.half, p.searches[l.half].found
		b.Reset()
		b.WriteString(draw.Pad(flameLeft))
		d.row(&b, l.depth)
		out = append(out, b.String())
	}
	d.graph = p.graph()
	return append(out, p.detail(m, &d, w)...)
}

// placeholder returns the text to show in place of a missing graph, or "" if the graph exists.
func (p *flamePage) placeholder(m *tui.Model) string {
	g := p.graph()
	switch {
	case p.err != nil:
		return profileTrouble(p.err)
	case g == nil && p.subject.loaded == nil:
		return "reading " + p.subject.label + "…"
	case g == nil:
		return "…"
	case p.shown.focus != "" && g.index.tree.Focus != "" && len(g.index.tree.Frames) < 2:
		return "no stack of " + kindText(g.index.tree.Type) + " goes through " + words.Sanitize(p.shown.focus) + "; " +
			tui.KeyOf(m, tui.ActKind) + " shows another sample type"
	case g.index.widths.size[0] <= 0:
		return "the profile has no samples of " + kindText(g.index.tree.Type) + ", or the filter removes all; " +
			tui.KeyOf(m, tui.ActKind) + " shows another sample type"
	}
	return ""
}

// place assigns rows of the graphs to the lines of the screen.
func (p *flamePage) place(w, rows int) {
	for _, g := range p.graphs {
		if g != nil {
			g.resize(w)
		}
	}
	p.lines = p.lines[:0]
	if callers := p.graphs[callersHalf]; callers != nil {
		callees := p.graphs[calleesHalf]
		above, below := callers.depth(rows), callees.depth(rows)
		if above+below > rows {
			above = min(above, max(rows/2, rows-below))
			below = rows - above
		}
		p.column(callersHalf, above)
		p.column(calleesHalf, below)
		if p.half == callersHalf && callers.at == callers.base { // all callers became too narrow
			p.half = calleesHalf
		}
	} else {
		p.column(calleesHalf, rows)
	}
	for len(p.lines) < rows {
		p.lines = append(p.lines, flameLine{0, -1})
	}
}

// depth returns the number of rows of the graph, but at most limit.
func (g *flameGraph) depth(limit int) int {
	n := 0
	for n < limit && len(g.row(g.low+n)) > 0 {
		n++
	}
	return n
}

// column appends the lines of a graph.
func (p *flamePage) column(half, rows int) {
	g := p.graphs[half]
	g.height = rows
	g.scroll()
	for i := range rows {
		depth := g.top + i
		if p.drawnUpwards(half) {
			depth = g.top + rows - 1 - i
		}
		if len(g.row(depth)) == 0 {
			depth = -1
		}
		p.lines = append(p.lines, flameLine{half, depth})
	}
}

// head returns the line with the sample type and totals of the graph, and the legend.
func (p *flamePage) head(m *tui.Model, d *flameDrawer, w int) string {
	t := p.graph().index.tree
	unit := t.Type.Unit
	var parts []string
	if t.Diff {
		if t.Normalized {
			parts = append(parts, kindText(t.Type)+" "+amount(t.Root().Base, unit), "normalized")
		} else {
			parts = append(parts,
				kindText(t.Type)+" "+amount(t.Root().Base, unit)+d.arrow()+amount(t.Root().Total, unit))
		}
		if t.SamplesTotal >= 0 && t.BaseSamples >= 0 {
			parts = append(parts, words.Number(t.BaseSamples)+d.arrow()+words.Number(t.SamplesTotal)+" samples")
		}
	} else {
		parts = append(parts, kindText(t.Type)+" "+amount(t.Root().Total, unit))
		if t.SamplesTotal >= 0 && t.Focus == "" && !countsSamples(t) {
			parts = append(parts, words.Number(t.SamplesTotal)+" samples")
		}
	}
	if t.By != profile.ByFunction {
		parts = append(parts, "by "+t.By.String())
	}
	if t.Nodes {
		parts = append(parts, "split by node"+p.hiddenNodes())
	}
	switch {
	case t.Focus != "":
		parts = append(parts, "callers above, callees below")
	case t.Inverted:
		parts = append(parts, "inverted")
	}
	if p.busy {
		parts = append(parts, "…")
	}
	// A legend is more important than the number of samples, so numbers are dropped first.
	const keep, few = 2, 24
	legend := draw.Width(p.legend(d, w))
	for t.Diff && len(parts) > keep && draw.Width(strings.Join(parts, " · "))+legend+4 > w {
		parts = parts[:len(parts)-1]
	}
	if i := slices.IndexFunc(parts, func(s string) bool { return strings.HasSuffix(s, " samples") }); !t.Diff &&
		i > 0 && draw.Width(strings.Join(parts, " · "))+min(few, legend)+4 > w {
		parts = slices.Delete(parts, i, i+1)
	}
	left := " " + d.ascii(strings.Join(parts, " · "))
	return draw.Justify(m.Styles.Dim.On(draw.Cut(left, w)), p.legend(d, w-draw.Width(left)-4)+" ", w)
}

// countsSamples reports whether the values are numbers of samples, which then need not be repeated.
func countsSamples(t *flame.Tree) bool {
	return t.Type.Type == "samples" && t.Root().Total == t.SamplesTotal
}

// hiddenNodes names the nodes whose frames are too narrow to be drawn, because these nodes are idle.
func (p *flamePage) hiddenNodes() string {
	g := p.graph()
	if g.zoom != g.base {
		return ""
	}
	const most = 4
	var names []string
	for _, kid := range g.index.kidsOf(0) {
		if _, ok := g.find(kid); !ok {
			names = append(names, g.index.names[g.index.tree.Frames[kid].Name])
		}
	}
	switch n := len(names); {
	case n == 0:
		return ""
	case n > most:
		names = append(names[:most-1], words.Number(n-most+1)+" more")
	}
	return "; " + strings.Join(names, ", ") + " " + words.Agree(len(names), "is", "are") + " idle"
}

// legend names the colours on the page, as many as fit into w cells.
func (p *flamePage) legend(d *flameDrawer, w int) string {
	t := p.graph().index.tree
	var b strings.Builder
	used := 0
	add := func(of tint, sign, word string) {
		n := draw.Width(sign) + 1 + draw.Width(word) + draw.Gap
		if used+n-draw.Gap > w {
			return
		}
		if used > 0 {
			b.WriteString(draw.Pad(draw.Gap))
		}
		used += n
		if !d.palette.mono {
			sign = d.palette.look(of, 0, emphasisPlain).On(sign)
		}
		b.WriteString(sign + " " + word)
	}
	if t.Diff {
		add(tintLess3, d.signs.less, "less")
		add(tintMore3, d.signs.more, "more")
		if d.palette.mono {
			add(tintNoise, "unmarked", "noise")
		} else {
			add(tintNoise, " ", "noise")
		}
		add(tintLess2, d.signs.gone, "gone")
		return b.String()
	}
	if d.palette.mono {
		return ""
	}
	for _, c := range p.classes() {
		add(tintClass+tint(c), " ", c.String())
	}
	return b.String()
}

// classes returns the classes of the frames, the largest first, because the last ones may not fit.
func (p *flamePage) classes() []profile.Class {
	var list []profile.Class
	worth := make([]int64, len(profile.Classes()))
	for _, x := range p.indexes() {
		if x == nil {
			continue
		}
		for c, is := range x.classes {
			if class := profile.Class(c); is && !slices.Contains(list, class) {
				list = append(list, class)
			}
			worth[c] += x.classFlat[c]
		}
	}
	slices.SortFunc(list, func(a, b profile.Class) int {
		return cmp.Or(cmp.Compare(worth[b], worth[a]), cmp.Compare(a, b))
	})
	return list
}

// detail returns two lines about the frame under the cursor: its name and its figures.
func (p *flamePage) detail(m *tui.Model, d *flameDrawer, w int) []string {
	g := d.graph
	x, t := g.index, g.index.tree
	f := &t.Frames[g.at]
	right := ""
	if g.at > 0 && (!t.Nodes || f.Depth > 1) {
		right = t.Classes[f.Name].String()
		if lib := t.Libraries[f.Name]; lib != "" && !strings.Contains(x.names[f.Name], lib) {
			right += " in " + words.Sanitize(lib)
		} else if file := t.Files[f.Name]; file != "" && w >= 100 {
			right += " · " + draw.CutPath(words.Sanitize(file), w/3)
		}
	}
	name := draw.CutName(x.names[f.Name], max(8, w-draw.Width(right)-5))
	first := draw.Justify(" "+m.Styles.Strong.On(d.signs.cursor+" "+name), m.Styles.Dim.On(d.ascii(right))+" ", w)
	var line strings.Builder
	line.WriteString("  ")
	used := 2
	for i, text := range p.figures(d) {
		text = d.ascii(text)
		if i > 0 && used+3+draw.Width(text) > w {
			break
		}
		line.WriteString(draw.Pad(min(1+2*i, 3)) + text)
		used += min(1+2*i, 3) + draw.Width(text)
	}
	return []string{first, draw.Cut(line.String(), w)}
}

// figures returns the figures of a frame, the most important first.
func (p *flamePage) figures(d *flameDrawer) []string {
	g := d.graph
	x, t := g.index, g.index.tree
	f, unit := &t.Frames[g.at], t.Type.Unit
	after, before := sides(t, g.at)
	if t.Diff {
		change := points(100*(after-before)) + " points"
		list := []string{
			words.Percent(100*before) + " → " + words.Percent(100*after), change, verdictText(t, g.at),
			"cum " + amount(f.Base, unit) + " → " + amount(f.Total, unit) + "  " + relativeText(f.Base, f.Total),
		}
		if f.Self != 0 || f.BaseSelf != 0 {
			list = append(list,
				"flat "+amount(f.BaseSelf, unit)+" → "+amount(f.Self, unit)+"  "+relativeText(f.BaseSelf, f.Self))
		}
		return list
	}
	return p.frameFigures(x, g.at)
}

// frameFigures returns the figures of a frame in a flame graph of one profile. In an inverted tree the value of a
// frame is the value of the function at the start of its path, for calls through the frame.
func (p *flamePage) frameFigures(x *flameIndex, frame int32) []string {
	t := x.tree
	f, unit, root := &t.Frames[frame], t.Type.Unit, t.Root().Total
	here := amount(f.Total, unit) + "  " + words.Percent(percentOf(f.Total, root))
	var list []string
	outermost := int32(1) // the depth of frames without a caller
	if t.Nodes {
		outermost++
	}
	switch first := f.Depth <= outermost; {
	case t.Inverted && t.Focus != "":
		list = append(list, "calls for "+here)
	case t.Inverted && first:
		list = append(list, "flat "+here)
	case t.Inverted:
		list = append(list, "on this path "+here)
	default:
		list = append(list, "cum "+here, "flat "+amount(f.Self, unit)+"  "+words.Percent(percentOf(f.Self, root)))
	}
	if f.Depth > outermost {
		list = append(list,
			words.Percent(percentOf(f.Total, t.Frames[f.Parent].Total))+" of its "+
				map[bool]string{false: "caller", true: "callee"}[t.Inverted])
	}
	if t.SamplesTotal > 0 && root > 0 && t.Focus == "" && !countsSamples(t) {
		after, _ := t.Share(frame)
		list = append(list, "≈ "+words.Plural(int(after*float64(t.SamplesTotal)+0.5), "sample"))
	}
	if c := x.cum[f.Name]; c != f.Total && frame > 0 && !t.Inverted {
		list = append(list, "on all paths cum "+amount(c, unit)+"  "+words.Percent(percentOf(c, root)))
	}
	return list
}

func percentOf(part, total int64) float64 { return partOf(float64(part), total) }

// verdictText returns the p-value and the verdict on a change.
func verdictText(t *flame.Tree, frame int32) string {
	text := pValueText(changeP(t, frame)) + ", " + t.Verdict(frame).String()
	switch f := &t.Frames[frame]; {
	case gone(f):
		text += ", gone"
	case f.Base == 0 && f.Total != 0:
		text += ", new"
	}
	return text
}

// frameText returns a frame as text: its path and figures.
func (p *flamePage) frameText(g *flameGraph) string {
	d := flameDrawer{graph: g, signs: newFlameSigns(false, false)}
	path := g.index.tree.Path(g.at)
	for i := range path {
		path[i] = words.Sanitize(path[i])
	}
	return strings.Join(path, ";") + "\n" + strings.Join(p.figures(&d), "  ") + "\n"
}
