package builds

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"kitescope/profile/bench"
	"kitescope/render"
	"kitescope/render/picture"
)

// recallPoint is what one setting of one side reached: medians of its runs.
type recallPoint struct {
	recall, rate float64
	// label are the settings, without what the panel is of.
	label string
}

// recallPanel is what was searched, such as a case of a benchmark, with the settings of either side. The sides need no setting in
// common: that is what curves are for.
type recallPanel struct {
	of     string
	points [2][]recallPoint
}

// rateName are names of the figure that is drawn against recall.
var rateName = regexp.MustCompile(`(?i)\b(qps|queries|requests|searches|throughput)\b`)

// recallPanels gathers the points of a comparison, in the order of the lines.
func recallPanels(c *bench.Comparison) []*recallPanel {
	type figures struct {
		recall, rate *bench.Line
	}
	var order []string
	of := map[string]*figures{}
	for i := range c.Lines {
		l := &c.Lines[i]
		f := of[l.Of]
		if f == nil {
			f = &figures{}
			of[l.Of] = f
			order = append(order, l.Of)
		}
		switch {
		case strings.EqualFold(l.Name, "recall"):
			f.recall = l
		case strings.HasSuffix(l.Unit, "/s") && l.Better != bench.LowerIsBetter && rateName.MatchString(l.Name):
			// The figure of no certain concurrency is the best one where there are several.
			if f.rate == nil || l.Concurrency == 0 && f.rate.Concurrency > 0 || l.Concurrency > f.rate.Concurrency && f.rate.Concurrency > 0 {
				f.rate = l
			}
		}
	}
	var panels []*recallPanel
	at := map[string]*recallPanel{}
	for _, name := range order {
		f := of[name]
		if f.recall == nil || f.rate == nil {
			continue
		}
		what, settings := splitSettings(name)
		p := at[what]
		if p == nil {
			p = &recallPanel{of: what}
			at[what] = p
			panels = append(panels, p)
		}
		for side := range 2 {
			recalls, rates := drawable([][]float64{f.recall.A, f.recall.B}[side]), drawable([][]float64{f.rate.A, f.rate.B}[side])
			if len(recalls) == 0 || len(rates) == 0 {
				continue
			}
			slices.Sort(recalls)
			slices.Sort(rates)
			q := recallPoint{recall: quantile(recalls, 0.5), rate: quantile(rates, 0.5), label: settings}
			if q.recall >= 0 && q.recall <= 1 && q.rate > 0 && picture.DrawableRate(q.rate) {
				p.points[side] = append(p.points[side], q)
			}
		}
	}
	return slices.DeleteFunc(panels, func(p *recallPanel) bool { return len(p.points[0])+len(p.points[1]) == 0 })
}

// splitSettings tells what was searched from its settings: "case 5" and "M=16 ef=100".
func splitSettings(name string) (what, settings string) {
	words := strings.Fields(name)
	i := slices.IndexFunc(words, func(w string) bool { return strings.Contains(w, "=") })
	if i < 0 {
		return name, ""
	}
	return strings.Join(words[:i], " "), strings.Join(words[i:], " ")
}

// recallPicture has a panel for each thing that was searched, with a curve for either side.
func recallPicture(c *bench.Comparison) (*comparisonPicture, error) {
	panels := recallPanels(c)
	if len(panels) == 0 {
		return nil, picture.Nothing("nothing has both a recall and a rate of queries", "results of VectorDBBench and ann-benchmarks have")
	}
	p := &comparisonPicture{c: c, columns: 2, width: widePanelWidth, height: widePanelHeight}
	for _, r := range panels {
		p.panels = append(p.panels, r.panel())
	}
	colours := sideColours()
	for side, s := range []*bench.Set{c.A, c.B} {
		p.legend = append(p.legend, picture.Mark{Text: sideLabel(s, side) + ", medians of each setting", Draw: func(dc draw.Canvas, at vg.Point) {
			dc.StrokeLine2(sideLine(side), at.X-picture.LegendSample/2, at.Y, at.X+picture.LegendSample/2, at.Y)
			dc.DrawGlyph(sideGlyph(side, colours[side]), at)
		}})
	}
	return p, nil
}

// panel draws both curves, by recall.
func (r *recallPanel) panel() comparisonPanel {
	panel := newPanel(nil, cmp.Or(render.Harmless(r.of), "recall and queries per second"))
	x := panel.plot
	var recalls []float64
	most := 0.0
	for _, points := range r.points {
		for _, q := range points {
			recalls, most = append(recalls, q.recall), math.Max(most, q.rate)
		}
	}
	axis := picture.NewRecallAxis(recalls)
	axis.Mark(x, recalls)
	x.Y.Label.Text = "queries per second"
	x.Y.Min, x.Y.Max, x.Y.Tick.Marker = 0, 1.12*most, picture.ValueTicks{}
	for side, points := range r.points {
		if len(points) == 0 {
			continue
		}
		slices.SortStableFunc(points, func(a, b recallPoint) int {
			return cmp.Or(cmp.Compare(a.recall, b.recall), cmp.Compare(b.rate, a.rate))
		})
		labels := plotter.XYLabels{}
		for _, q := range points {
			labels.XYs = append(labels.XYs, plotter.XY{X: axis.Place(q.recall), Y: q.rate})
			labels.Labels = append(labels.Labels, render.ShortenMiddle(render.Harmless(q.label), mostLabel, "..."))
		}
		x.Add(&plotter.Line{XYs: labels.XYs, LineStyle: sideLine(side)}, &plotter.Scatter{XYs: labels.XYs, GlyphStyle: sideGlyph(side, sideColours()[side])})
		if texts, err := plotter.NewLabels(labels); err == nil {
			texts.Offset = vg.Point{X: 2, Y: 3}
			for i := range texts.TextStyle {
				texts.TextStyle[i].Font = picture.Sans(texts.TextStyle[i].Font, 7)
				texts.TextStyle[i].Color = sideColours()[side]
			}
			x.Add(texts)
		}
	}
	return panel
}

// mostLabel is how long the label of a point may be, in characters.
const mostLabel = 28
