package replays

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/picture"
	"kitescope/replay/load"
)

// searchParameters tell lines of a sweep apart.
type searchParameters struct{ ef, nprobe, k int }

func parametersOf(p *load.Point) searchParameters { return searchParameters{p.EF, p.NProbe, p.K} }

func (s searchParameters) compare(t searchParameters) int {
	return cmp.Or(cmp.Compare(s.ef, t.ef), cmp.Compare(s.nprobe, t.nprobe), cmp.Compare(s.k, t.k))
}

// text names what differs: k only if there are several.
func (s searchParameters) text(k bool) string {
	text := ""
	if s.ef > 0 {
		text = "ef " + strconv.Itoa(s.ef)
	}
	if s.nprobe > 0 {
		text = join(text, "nprobe "+strconv.Itoa(s.nprobe))
	}
	if k && s.k > 0 {
		text = join(text, "k "+strconv.Itoa(s.k))
	}
	return text
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	if b == "" {
		return a
	}
	return a + ", " + b
}

// parametersIn are those of all results, in order, and whether they differ in k.
func parametersIn(results []Series) (list []searchParameters, k bool) {
	for _, s := range results {
		for i := range s.Result.Points {
			if x := parametersOf(&s.Result.Points[i]); !slices.Contains(list, x) {
				list = append(list, x)
			}
		}
	}
	slices.SortFunc(list, searchParameters.compare)
	return list, slices.ContainsFunc(list, func(x searchParameters) bool { return x.k != list[0].k })
}

// loadAxis is how loads stand on an axis: sessions, or the rate that was asked for.
type loadAxis struct {
	rate, logarithmic bool
	values            []float64
}

// newLoadAxis takes the kind of load of which there are most points.
func newLoadAxis(results []Series) loadAxis {
	closed, rated := 0, 0
	for _, s := range results {
		for i := range s.Result.Points {
			p := &s.Result.Points[i]
			closed, rated = closed+render.BoolInt(!open(p)), rated+render.BoolInt(!p.Timed && p.Rate > 0)
		}
	}
	a := loadAxis{rate: rated > closed}
	for _, s := range results {
		for i := range s.Result.Points {
			if v, ok := a.of(&s.Result.Points[i]); ok && !slices.Contains(a.values, v) {
				a.values = append(a.values, v)
			}
		}
	}
	slices.Sort(a.values)
	if n := len(a.values); n > 2 {
		a.logarithmic = a.values[n-1] >= 8*a.values[0]
	}
	return a
}

// of is where a point stands, false if it has no place.
func (a *loadAxis) of(p *load.Point) (float64, bool) {
	switch {
	case !picture.DrawableRate(p.QPS):
		return 0, false
	case a.rate:
		return p.Rate, !p.Timed && p.Rate > 0 && p.Rate < 1e15
	}
	return float64(p.Sessions), !open(p) && p.Sessions > 0
}

func (a *loadAxis) place(v float64) float64 {
	if a.logarithmic {
		return math.Log2(v)
	}
	return v
}

// mark labels the loads that were measured.
func (a *loadAxis) mark(x *plot.Plot) {
	first, last := a.place(a.values[0]), a.place(a.values[len(a.values)-1])
	width := max(last-first, 1e-3)
	if last == first {
		width = max(1, math.Abs(first))
	}
	x.X.Min, x.X.Max = first-0.05*width, last+0.05*width
	x.X.Label.Text = []string{"concurrent sessions", "target requests per second"}[render.BoolInt(a.rate)]
	var ticks plot.ConstantTicks
	labelled := math.Inf(-1)
	for _, v := range a.values {
		tick := plot.Tick{Value: a.place(v), Label: " "}
		if a.place(v)-labelled >= 0.05*width {
			tick.Label, labelled = words.Setting(v), a.place(v)
		}
		ticks = append(ticks, tick)
	}
	x.X.Tick.Marker = ticks
}

// qps has a line for each result and parameters, with the intervals of means as bands.
func (p *replayPicture) qps(results []Series) error {
	axis := newLoadAxis(results)
	if len(axis.values) == 0 {
		return picture.Nothing("no point has a number of sessions or a rate", "")
	}
	x := p.panel("")
	axis.mark(x)
	x.Y.Label.Text = "queries per second"
	x.Y.Min, x.Y.Tick.Marker = 0, numberTicks{}
	p.grid(x, true, true)
	all, k := parametersIn(results)
	top, left := 0.0, 0
	var bands, lines []plot.Plotter
	for r, s := range results {
		for i, params := range all {
			points, others := axis.placed(s.Result.Points, params)
			left += others
			if len(points) == 0 {
				continue
			}
			style := draw.LineStyle{Color: p.theme.colour(i), Width: vg.Points(1.6), Dashes: seriesDash(r, len(results))}
			glyph := draw.GlyphStyle{Color: p.theme.colour(i), Radius: vg.Points(3), Shape: plotMark(i)}
			band, line := qpsLines(&axis, points)
			for _, at := range slices.Concat(band, line) {
				top = max(top, at.Y)
			}
			bands = append(bands, &plotter.Polygon{XYs: []plotter.XYs{band}, Color: faint(style.Color)})
			if len(line) == 1 { // of which a band is nothing
				lines = append(lines, picture.Whiskers{List: [][3]float64{{line[0].X, band[0].Y, band[1].Y}}, Style: func(int) draw.LineStyle { return picture.HalfStyle(style.Color) }})
			}
			lines = append(lines, &plotter.Line{XYs: line, LineStyle: style}, &plotter.Scatter{XYs: line, GlyphStyle: glyph})
			name := params.text(k)
			if len(results) > 1 {
				name = join(s.name(r), name)
			}
			if name != "" {
				p.legend = append(p.legend, lineMark(name, style, glyph))
			}
		}
	}
	x.Add(bands...)
	x.Add(lines...)
	x.Y.Max = 1.05 * max(top, 1e-9)
	p.heads = append(p.heads, p.circumstances(results)...)
	p.qpsNotes(results, left)
	return nil
}

// placed are the points with parameters that have a place on the axis, in its order, and how many have none.
func (a *loadAxis) placed(points []load.Point, params searchParameters) (list []*load.Point, others int) {
	for i := range points {
		q := &points[i]
		if parametersOf(q) != params {
			continue
		}
		if _, ok := a.of(q); !ok {
			others++
			continue
		}
		list = append(list, q)
	}
	slices.SortStableFunc(list, func(x, y *load.Point) int {
		vx, _ := a.of(x)
		vy, _ := a.of(y)
		return cmp.Compare(vx, vy)
	})
	return list, others
}

// qpsLines are a line of means, and around it the band of their intervals.
func qpsLines(axis *loadAxis, points []*load.Point) (band, line plotter.XYs) {
	var high plotter.XYs
	for _, q := range points {
		v, _ := axis.of(q)
		at := axis.place(v)
		line = append(line, plotter.XY{X: at, Y: q.QPS})
		low, up := q.QPS, q.QPS
		if hasInterval(q) && picture.DrawableRate(q.QPSLow) && picture.DrawableRate(q.QPSHigh) {
			low, up = q.QPSLow, q.QPSHigh
		}
		band, high = append(band, plotter.XY{X: at, Y: low}), append(high, plotter.XY{X: at, Y: up})
	}
	slices.Reverse(high)
	return append(band, high...), line
}

func (p *replayPicture) qpsNotes(results []Series, left int) {
	intervals, failed := false, 0
	for _, s := range results {
		for i := range s.Result.Points {
			q := &s.Result.Points[i]
			intervals = intervals || hasInterval(q)
			failed += render.BoolInt(q.Failed > 0)
		}
	}
	if intervals {
		p.notes = append(p.notes, "bands and bars: 95% CI of the mean over rounds")
	} else {
		p.notes = append(p.notes, "one round each: no intervals")
	}
	if failed > 0 {
		p.notes = append(p.notes, words.Count(int64(failed), "point has", "points have")+" failed requests, not counted")
	}
	if left > 0 {
		p.notes = append(p.notes, words.Count(int64(left), "point has", "points have")+" another kind of load and cannot be shown here")
	}
}

// circumstances are what figures depend on, a line for each that differs.
func (p *replayPicture) circumstances(results []Series) []string {
	o := &render.ReportOptions{}
	var lines []string
	for i := range results {
		r := results[i].Result
		text := words.Count(int64(r.Setup.Queries), "query", "queries")
		if c := &r.Cover; c.Loaded < c.Segments || c.RowsUnknown > 0 {
			text += ", rows " + coverageText(c)
		}
		if setup := setupText(&r.Setup, o); setup != "" {
			text += " · " + setup
		}
		if r.Stopped != "" {
			text += " · stopped: " + render.Harmless(r.Stopped)
		}
		if !slices.Contains(lines, text) {
			lines = append(lines, text)
		}
	}
	if len(lines) > 3 {
		lines = append(lines[:3], "and others")
	}
	return lines
}
