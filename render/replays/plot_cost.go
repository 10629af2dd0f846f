package replays

import (
	"cmp"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/picture"
	"kitescope/replay"
)

// mostNodeBars is how many nodes a picture holds.
const mostNodeBars = 40

// nodeBar is one node with what each of its segments takes of a query, by state, the dearest first.
type nodeBar struct {
	name     string
	all      float64 // milliseconds a query
	segments []segmentBar
}

type segmentBar struct {
	state replay.State
	took  float64
}

// cost has a bar for each node, which is made of its segments: as long as what they take of an average query.
func (p *replayPicture) cost(results []Series) error {
	most, rows := 0.0, 0
	bars := make([][]nodeBar, len(results))
	for i, s := range results {
		bars[i] = nodeBars(s.Result.Costs)
		for _, b := range bars[i] {
			most = max(most, b.all)
		}
		if n := len(bars[i]); n > mostNodeBars {
			bars[i] = bars[i][:mostNodeBars]
			p.notes = append(p.notes, words.Plural(n-mostNodeBars, "node")+" with less work not shown")
		}
		rows = max(rows, len(bars[i]))
	}
	if most <= 0 {
		return picture.Nothing("no result has segment costs", "only the engine measures them, not a live target")
	}
	for i, s := range results {
		if len(bars[i]) == 0 {
			p.notes = append(p.notes, s.name(i)+" has no segment costs")
			continue
		}
		name := ""
		if len(results) > 1 {
			name = s.name(i)
		}
		p.costPanel(name, bars[i], most)
	}
	p.height = vg.Length(min(max(rows, 2), 24))*0.42*vg.Inch + 0.9*vg.Inch
	for state := replay.Growing; state <= replay.Indexed; state++ {
		p.legend = append(p.legend, stateMark(&p.theme, state))
	}
	p.legend = append(p.legend, lineMark("even share", p.evenStyle(), draw.GlyphStyle{}))
	p.heads = append(p.heads, p.circumstances(results)...)
	p.notes = append(p.notes, "each piece of a bar is a segment; nodes search in parallel: a query waits at least for the longest bar")
	return nil
}

func (p *replayPicture) evenStyle() draw.LineStyle {
	return draw.LineStyle{Color: p.theme.ink, Width: vg.Points(1), Dashes: []vg.Length{4, 2}}
}

func nodeBars(c *replay.Costs) []nodeBar {
	if c == nil || c.Queries <= 0 {
		return nil
	}
	var list []nodeBar
	at := map[string]int{}
	for i := range c.Segments {
		s := &c.Segments[i]
		name := CostNode(s)
		j, ok := at[name]
		if !ok {
			j = len(list)
			at[name] = j
			list = append(list, nodeBar{name: name})
		}
		took := float64(max(0, s.Time)) / float64(c.Queries) / float64(time.Millisecond)
		list[j].all += took
		list[j].segments = append(list[j].segments, segmentBar{s.State, took})
	}
	for i := range list {
		slices.SortStableFunc(list[i].segments, func(a, b segmentBar) int {
			return cmp.Or(cmp.Compare(a.state, b.state), cmp.Compare(b.took, a.took))
		})
	}
	slices.SortStableFunc(list, func(a, b nodeBar) int { return cmp.Or(cmp.Compare(b.all, a.all), cmp.Compare(a.name, b.name)) })
	return list
}

func (p *replayPicture) costPanel(name string, bars []nodeBar, most float64) {
	x := p.panel(name)
	x.X.Min, x.X.Max = 0, 1.22*most // the figure stands behind the bar
	x.X.Label.Text = "ms per average query, segments of the node in sequence"
	x.X.Tick.Marker = numberTicks{}
	var ticks plot.ConstantTicks
	even := 0.0
	for i, b := range bars {
		ticks = append(ticks, plot.Tick{Value: float64(len(bars) - 1 - i), Label: render.ShortenMiddle(b.name, 28, "…")})
		even += b.all / float64(len(bars))
	}
	x.Y.Tick.Marker = ticks
	x.Y.Tick.Length = 0
	x.Y.Min, x.Y.Max = -0.6, float64(len(bars))-0.4
	p.grid(x, true, false)
	x.Add(plotted(func(dc draw.Canvas, x *plot.Plot) {
		toX, toY := x.Transforms(&dc)
		text := p.text(9)
		text.YAlign = -0.5
		for i, b := range bars {
			y := float64(len(bars) - 1 - i)
			low, high, sum := toY(y-0.36), toY(y+0.36), 0.0
			for _, s := range b.segments {
				from, to := toX(sum), toX(sum+s.took)
				sum += s.took
				if to-from > 1.5 { // between pieces, where they are wide enough
					to -= 0.5
				}
				hatched(dc, &p.theme, s.state, vg.Rectangle{Min: vg.Point{X: from, Y: low}, Max: vg.Point{X: to, Y: high}})
			}
		}
		if len(bars) > 1 {
			dc.StrokeLine2(p.evenStyle(), toX(even), dc.Min.Y, toX(even), dc.Max.Y)
		}
		for i, b := range bars {
			at := vg.Point{X: toX(b.all) + 4, Y: toY(float64(len(bars) - 1 - i))}
			p.textOn(dc, &text, at, words.ThreeDigits(b.all)+" ms in "+words.Plural(len(b.segments), "segment"))
		}
	}))
}
