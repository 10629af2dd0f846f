package picture

import (
	"bytes"
	"image/color"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"kitescope/inspect/view"
	"kitescope/render"
)

// Chart is a picture with a title, lines below it, panels from left to right and top to bottom, a legend of all
// named series, and notes.
type Chart struct {
	Title  string
	Heads  []string
	Panels []Panel
	// Columns is the number of columns of panels; 0 means 1. PanelHeight is in inches; 0 means automatic.
	Columns     int
	PanelHeight float64
	Notes       []string
	// Dark selects colors for dark backgrounds.
	Dark bool
	// Width and Height are in CSS pixels, with 96 pixels per inch, and in pixels of a PNG. 0 means a width of
	// 1056 and an automatic height.
	Width, Height int
}

// Panel is a plot with series of points, or with bars.
type Panel struct {
	// Name is written above the panel, and Remark below Name in the color RemarkColour.
	Name, Remark string
	RemarkColour Colour
	X, Y         Axis
	Series       []Series
	// Bars are drawn from top to bottom. The Y axis has their names, and the X axis their values.
	Bars []Bar
}

// Series is a series of points. It is in the legend unless its name is empty.
type Series struct {
	Name   string
	Look   Look
	Points []Point
}

// Point is a point of a series. The line is interrupted where Y is NaN. Low and High are an interval of Y if Low
// < High.
type Point struct {
	X, Y, Low, High float64
	Label           string
}

// Bar is a stacked bar with a text at its end. Low and High are an interval of its length if Low < High.
type Bar struct {
	Name, Text string
	Pieces     []Piece
	Low, High  float64
}

// Piece is a part of a bar. Kind is its name in the legend.
type Piece struct {
	Kind  string
	Look  Look
	Value float64
}

// Axis is an axis of a panel.
type Axis struct {
	Label string
	// From and To are the range of the axis. If they are equal, the range fits the values, and the Y axis starts
	// at 0 unless it is Free.
	From, To float64
	Free     bool
	// Log makes the axis logarithmic if all values are positive. Clock indicates that values are seconds since
	// 1970.
	Log, Clock bool
	// Ticks replace the ticks at round numbers. Guides are lines across the panel.
	Ticks, Guides []Tick
}

// Tick is a position on an axis with its label.
type Tick struct {
	At   float64
	Text string
}

const (
	cssDPI       = 96
	cssPixel     = vg.Inch / cssDPI
	margin       = 0.24 * vg.Inch
	panelGap     = 0.22 * vg.Inch
	textLine     = 0.2 * vg.Inch
	textSize     = 9
	nameSize     = 10
	titleSize    = 14
	titleHeight  = 1.4 * textLine
	signWidth    = 0.3 * vg.Inch
	defaultWidth = 1056
	minPixels    = 240
	maxPixels    = 8000
)

// drawing is the state of drawing a chart.
type drawing struct {
	*Chart
	theme  theme
	legend []legendEntry
}

// Write draws the chart in a format from Formats.
func (c *Chart) Write(w io.Writer, format string) error {
	if !slices.Contains(Formats().Names(), format) {
		return &view.UnknownError{What: "format of plots", Word: format, Known: Formats().Names()}
	}
	d := &drawing{Chart: c, theme: themeOf(c.Dark), legend: c.legendEntries()}
	columns := min(max(c.Columns, 1), max(1, len(c.Panels)))
	rows := (len(c.Panels) + columns - 1) / columns
	width := clampPixels(c.Width, defaultWidth)
	small := d.text(textSize)
	inner := width - 2*margin
	heads, feet := wrapAll(&small, c.Heads, inner), wrapAll(&small, c.Notes, inner)
	legend := legendRows(d.legend, &small, inner)
	head := titleHeight + vg.Length(len(heads))*textLine + panelGap/2
	foot := vg.Length(len(legend)+len(feet))*textLine + panelGap/2
	height := 2*margin + head + foot + vg.Length(rows)*(c.panelHeight()+panelGap) - panelGap
	if c.Height > 0 {
		height = max(clampPixels(c.Height, 0), 2*margin+head+foot+vg.Length(rows)*1.2*vg.Inch)
	}
	// whole pixels, to avoid a blank line at an edge
	height = vg.Length(math.Ceil(float64(height/cssPixel)-1e-6)) * cssPixel
	draws := func(canvas vg.CanvasSizer) {
		paper := draw.New(canvas)
		paper.SetColor(d.theme.paper)
		paper.Fill(paper.Rectangle.Path())
		dc := draw.Crop(paper, margin, -margin, margin, -margin)
		d.head(dc, heads)
		d.panels(draw.Crop(dc, 0, 0, foot, -head), rows, columns)
		d.foot(dc, legend, feet)
	}
	if format == "png" {
		canvas := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(cssDPI))
		draws(canvas)
		_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
		return err
	}
	canvas := vgsvg.New(width, height)
	draws(canvas)
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	// Replace the font by ones of the same width, for machines without it.
	_, err := w.Write(bytes.ReplaceAll(b.Bytes(), []byte("font-family:Kitescope Sans;"),
		[]byte("font-family:Liberation Sans,Arimo,Helvetica,Arial,sans-serif;")))
	return err
}

func clampPixels(n, fallback int) vg.Length {
	if n <= 0 {
		n = fallback
	}
	return vg.Length(min(max(n, minPixels), maxPixels)) * cssPixel
}

func (c *Chart) panelHeight() vg.Length {
	if c.PanelHeight > 0 {
		return vg.Length(c.PanelHeight) * vg.Inch
	}
	height := 3.4 * vg.Inch
	for i := range c.Panels {
		height = max(height, vg.Length(min(len(c.Panels[i].Bars), 40))*0.36*vg.Inch+0.9*vg.Inch)
	}
	return height
}

func (d *drawing) text(size vg.Length) draw.TextStyle {
	style := plot.New().Title.TextStyle
	style.Font.Variant, style.Font.Size = "Sans", size
	style.XAlign, style.YAlign, style.Color = 0, 0, d.theme.ink
	return style
}

func (d *drawing) head(dc draw.Canvas, lines []string) {
	title, small := d.text(titleSize), d.text(textSize)
	title.YAlign, small.YAlign, small.Color = -1, -1, d.theme.dim
	dc.FillText(title, vg.Point{X: dc.Min.X, Y: dc.Max.Y}, fit(&title, d.Title, dc.Max.X-dc.Min.X))
	for i, line := range lines {
		dc.FillText(small, vg.Point{X: dc.Min.X, Y: dc.Max.Y - titleHeight - vg.Length(i)*textLine}, line)
	}
}

func (d *drawing) panels(dc draw.Canvas, rows, columns int) {
	if len(d.Panels) == 0 {
		return
	}
	grid := make([][]*plot.Plot, rows)
	for i := range grid {
		grid[i] = make([]*plot.Plot, columns)
		for j := range grid[i] {
			if k := i*columns + j; k < len(d.Panels) {
				grid[i][j] = d.plot(&d.Panels[k])
			}
		}
	}
	tiles := draw.Tiles{Rows: rows, Cols: columns, PadX: panelGap, PadY: panelGap}
	name, remark := d.text(nameSize), d.text(textSize)
	name.YAlign, remark.YAlign = -1, -1
	for i, row := range plot.Align(grid, tiles, dc) {
		for j, tile := range row {
			k := i*columns + j
			if k >= len(d.Panels) {
				continue
			}
			grid[i][j].Draw(tile)
			p, whole := &d.Panels[k], tiles.At(dc, j, i)
			at := vg.Point{X: whole.Min.X, Y: whole.Max.Y}
			dc.FillText(name, at, fit(&name, p.Name, whole.Max.X-whole.Min.X))
			remark.Color = d.theme.colour(p.RemarkColour)
			at.Y -= 0.18 * vg.Inch
			dc.FillText(remark, at, fit(&remark, p.Remark, whole.Max.X-whole.Min.X))
		}
	}
}

// plot returns the plot of a panel with its axes.
func (d *drawing) plot(p *Panel) *plot.Plot {
	x := plot.New()
	x.BackgroundColor = d.theme.paper
	if p.Name != "" { // room for the name and the remark
		x.Title.Text, x.Title.Padding = " ", 7
		if p.Remark != "" {
			x.Title.Text = " \n "
		}
		x.Title.TextStyle.Font = d.text(nameSize).Font
	}
	for _, axis := range []*plot.Axis{&x.X, &x.Y} {
		axis.Label.TextStyle.Font, axis.Tick.Label.Font = d.text(nameSize).Font, d.text(textSize).Font
		axis.Label.TextStyle.Color, axis.Tick.Label.Color = d.theme.ink, d.theme.ink
		axis.LineStyle.Color, axis.Tick.LineStyle.Color = d.theme.dim, d.theme.dim
		axis.Label.Padding, axis.Padding = 3, 0
	}
	p.setRanges(x)
	x.X.Label.Text, x.Y.Label.Text = Text(p.X.Label), Text(p.Y.Label)
	x.Add(content{d, p})
	return x
}

// content draws the content of a panel.
type content struct {
	d *drawing
	p *Panel
}

// Plot implements plot.Plotter.
func (c content) Plot(dc draw.Canvas, x *plot.Plot) {
	toX, toY := x.Transforms(&dc)
	c.grid(dc, x, toX, toY)
	for i := range c.p.Bars {
		c.bar(dc, &c.p.Bars[i], toX, toY(float64(len(c.p.Bars)-1-i)-0.34), toY(float64(len(c.p.Bars)-1-i)+0.34))
	}
	for i := range c.p.Series {
		c.series(dc, &c.p.Series[i], x, toX, toY)
	}
}

func (c content) grid(dc draw.Canvas, x *plot.Plot, toX, toY func(float64) vg.Length) {
	line := draw.LineStyle{Color: c.d.theme.grid, Width: vg.Points(0.25)}
	for _, t := range x.X.Tick.Marker.Ticks(x.X.Min, x.X.Max) {
		if !t.IsMinor() {
			dc.StrokeLine2(line, toX(t.Value), dc.Min.Y, toX(t.Value), dc.Max.Y)
		}
	}
	for _, t := range x.Y.Tick.Marker.Ticks(x.Y.Min, x.Y.Max) {
		if !t.IsMinor() && len(c.p.Bars) == 0 {
			dc.StrokeLine2(line, dc.Min.X, toY(t.Value), dc.Max.X, toY(t.Value))
		}
	}
	guide := draw.LineStyle{Color: c.d.theme.dim, Width: vg.Points(0.7), Dashes: []vg.Length{2, 2}}
	text := c.d.text(textSize)
	text.Color, text.YAlign, text.XAlign = c.d.theme.dim, -1, -1
	for _, g := range c.p.X.Guides {
		dc.StrokeLine2(guide, toX(g.At), dc.Min.Y, toX(g.At), dc.Max.Y)
		dc.FillText(text, vg.Point{X: toX(g.At) - 3, Y: dc.Max.Y}, Text(g.Text))
	}
	for _, g := range c.p.Y.Guides {
		if g.At >= x.Y.Min && g.At <= x.Y.Max {
			dc.StrokeLine2(guide, dc.Min.X, toY(g.At), dc.Max.X, toY(g.At))
			dc.FillText(text, vg.Point{X: dc.Max.X, Y: toY(g.At) - 2}, Text(g.Text))
		}
	}
}

func (c content) bar(dc draw.Canvas, b *Bar, toX func(float64) vg.Length, low, high vg.Length) {
	sum := 0.0
	for _, piece := range b.Pieces {
		if !drawable(piece.Value) || piece.Value <= 0 {
			continue
		}
		from, to := toX(sum), toX(sum+piece.Value)
		sum += piece.Value
		if to-from > 1.5 { // a gap between pieces, if they are wide enough
			to -= 0.5
		}
		c.d.theme.fill(dc, &piece.Look, vg.Rectangle{Min: vg.Point{X: from, Y: low}, Max: vg.Point{X: to, Y: high}})
	}
	end, middle := toX(sum), (low+high)/2
	if b.Low < b.High && drawable(b.Low) && drawable(b.High) {
		whisker(dc, draw.LineStyle{Color: c.d.theme.ink, Width: vg.Points(0.8)}, vg.Point{X: toX(b.Low), Y: middle},
			vg.Point{X: toX(b.High), Y: middle})
		end = toX(b.High)
	}
	text := c.d.text(textSize)
	text.YAlign = -0.5
	dc.FillText(text, vg.Point{X: end + 5, Y: middle}, Text(b.Text))
}

// whisker draws a line along an axis, with a perpendicular bar at each end.
func whisker(dc draw.Canvas, style draw.LineStyle, from, to vg.Point) {
	const half = 3
	dx, dy := vg.Length(0), vg.Length(half)
	if from.X == to.X {
		dx, dy = half, 0
	}
	dc.StrokeLine2(style, from.X, from.Y, to.X, to.Y)
	for _, end := range []vg.Point{from, to} {
		dc.StrokeLine2(style, end.X-dx, end.Y-dy, end.X+dx, end.Y+dy)
	}
}

func (c content) series(dc draw.Canvas, s *Series, x *plot.Plot, toX, toY func(float64) vg.Length) {
	colour := c.d.theme.lookColor(&s.Look)
	thin := draw.LineStyle{Color: colour, Width: vg.Points(0.8)}
	var line []vg.Point
	stroke := func() {
		if len(line) > 1 && !s.Look.NoLine {
			dc.StrokeLines(c.d.theme.line(&s.Look), dc.ClipLinesXY(line)...)
		}
		line = nil
	}
	text := c.d.text(textSize)
	text.YAlign = -0.5
	for _, q := range s.Points {
		if !c.p.canDraw(&q, x) {
			stroke()
			continue
		}
		at := vg.Point{X: toX(q.X), Y: toY(q.Y)}
		line = append(line, at)
		if q.Low < q.High && drawable(q.Low) && drawable(q.High) && (!c.p.Y.Log || q.Low > 0) {
			whisker(dc, thin, vg.Point{X: at.X, Y: toY(q.Low)}, vg.Point{X: at.X, Y: toY(q.High)})
		}
		if label := Text(q.Label); label != "" {
			place := vg.Point{X: at.X + 6, Y: at.Y + 8}
			if place.X+text.Width(label) > dc.Max.X {
				place.X = at.X - 6 - text.Width(label)
			}
			dc.FillText(text, place, label)
		}
	}
	stroke()
	for i, q := range s.Points {
		if !c.p.canDraw(&q, x) {
			continue
		}
		alone := !s.Look.NoLine && (i == 0 || !c.p.canDraw(&s.Points[i-1], x)) &&
			(i == len(s.Points)-1 || !c.p.canDraw(&s.Points[i+1], x))
		if glyph := c.d.theme.glyph(&s.Look); glyph.Shape != nil {
			dc.DrawGlyph(glyph, vg.Point{X: toX(q.X), Y: toY(q.Y)})
		} else if alone { // a line with a single point is invisible
			dc.DrawGlyph(draw.GlyphStyle{Color: colour, Radius: vg.Points(1.5), Shape: draw.CircleGlyph{}}, vg.Point{
				X: toX(q.X), Y: toY(q.Y),
			})
		}
	}
}

// canDraw reports whether a point can be drawn in its panel.
func (p *Panel) canDraw(q *Point, x *plot.Plot) bool {
	_, log := x.Y.Scale.(plot.LogScale)
	return drawable(q.X) && drawable(q.Y) && (!log || q.Y > 0)
}

// drawable reports whether a value can be drawn. Differences of larger values overflow.
func drawable(x float64) bool { return math.Abs(x) < 1e300 }

// legendEntry is an entry of the legend.
type legendEntry struct {
	text   string
	look   Look
	filled bool // a piece of a bar
}

// legendEntries returns the names of series and pieces, without duplicates.
func (c *Chart) legendEntries() []legendEntry {
	var list []legendEntry
	add := func(s legendEntry) {
		if s.text != "" && !slices.ContainsFunc(list, func(o legendEntry) bool { return o.text == s.text }) {
			list = append(list, s)
		}
	}
	for i := range c.Panels {
		for _, s := range c.Panels[i].Series {
			add(legendEntry{s.Name, s.Look, false})
		}
		for _, b := range c.Panels[i].Bars {
			for _, piece := range b.Pieces {
				add(legendEntry{piece.Kind, piece.Look, true})
			}
		}
	}
	return list
}

// legendRows breaks a legend into rows.
func legendRows(legend []legendEntry, style *draw.TextStyle, width vg.Length) [][]legendEntry {
	var rows [][]legendEntry
	left := vg.Length(0)
	for _, s := range legend {
		s.text = fit(style, s.text, width/2)
		need := signWidth*1.5 + 4 + style.Width(s.text)
		if len(rows) == 0 || need > left {
			rows, left = append(rows, nil), width
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], s)
		left -= need
	}
	return rows
}

// foot draws the legend and the lines below it.
func (d *drawing) foot(dc draw.Canvas, legend [][]legendEntry, notes []string) {
	small := d.text(textSize)
	small.YAlign = -0.5
	at := vg.Point{X: dc.Min.X, Y: dc.Min.Y + vg.Length(len(legend)+len(notes))*textLine - textLine/2}
	for _, row := range legend {
		for _, s := range row {
			middle := vg.Point{X: at.X + signWidth/2, Y: at.Y}
			if s.filled {
				d.theme.fill(dc, &s.look, vg.Rectangle{
					Min: vg.Point{X: middle.X - 10, Y: at.Y - 4}, Max: vg.Point{X: middle.X + 10, Y: at.Y + 4},
				})
			} else {
				if !s.look.NoLine {
					dc.StrokeLine2(d.theme.line(&s.look), at.X, at.Y, at.X+signWidth, at.Y)
				}
				if glyph := d.theme.glyph(&s.look); glyph.Shape != nil {
					dc.DrawGlyph(glyph, middle)
				}
			}
			dc.FillText(small, vg.Point{X: at.X + signWidth + 4, Y: at.Y}, s.text)
			at.X += signWidth*1.5 + 4 + small.Width(s.text)
		}
		at = vg.Point{X: dc.Min.X, Y: at.Y - textLine}
	}
	small.Color = d.theme.dim
	for _, text := range notes {
		dc.FillText(small, at, text)
		at.Y -= textLine
	}
}

// theme holds the colors of a chart. Color-blind people can distinguish the colors of series (Okabe and Ito,
// "Color Universal Design", 2008). Dashes, marks and hatching distinguish series without color.
type theme struct {
	paper, ink, dim, grid, good, bad color.Color
	series                           []color.Color
}

func rgb(hex uint32) color.Color {
	return color.RGBA{uint8(hex >> 16), uint8(hex >> 8), uint8(hex), 0xff} //nolint:gosec // a byte each
}

func themeOf(dark bool) theme {
	if dark {
		return theme{
			paper: rgb(0x16191d), ink: rgb(0xd8dee9), dim: rgb(0x98a2b0), grid: rgb(0x353b44), good: rgb(0xa3be8c),
			bad: rgb(0xff7b86),
			series: []color.Color{
				rgb(0x56b4e9), rgb(0xe69f00), rgb(0x009e73), rgb(0xcc79a7), rgb(0xf0e442), rgb(0xd55e00),
			},
		}
	}
	return theme{ // no yellow, because it is hard to see on white
		paper: color.White, ink: rgb(0x24292f), dim: rgb(0x5b646e), grid: rgb(0xdddddd), good: rgb(0x007a59),
		bad:    rgb(0xb0121f),
		series: []color.Color{rgb(0x0072b2), rgb(0xd55e00), rgb(0x009e73), rgb(0xcc79a7), rgb(0xe69f00), rgb(0x56b4e9)},
	}
}

// Colour is an index into the palette, modulo its length, or a color with a meaning.
type Colour int

// Colors with a meaning.
const (
	Grey Colour = -1 - iota
	Good
	Bad
)

// Look is the style of a series or piece. Dash, Mark and Hatch number the dash pattern, the marker and the
// hatching, which distinguish series without color; 0 means none.
type Look struct {
	Colour            Colour
	Dash, Mark, Hatch int
	// NoLine draws points without a line. Faint elements are context and drawn less prominently.
	NoLine, Faint bool
}

func (t *theme) colour(c Colour) color.Color {
	switch c {
	case Grey:
		return t.dim
	case Good:
		return t.good
	case Bad:
		return t.bad
	default:
	}
	return t.series[max(0, int(c))%len(t.series)]
}

func (t *theme) lookColor(l *Look) color.Color {
	if !l.Faint {
		return t.colour(l.Colour)
	}
	n, _ := color.NRGBAModel.Convert(t.colour(l.Colour)).(color.NRGBA)
	n.A = 0x60
	return n
}

func (t *theme) line(l *Look) draw.LineStyle {
	dashes := [][]vg.Length{nil, {6, 3}, {1.5, 2}, {8, 3, 1.5, 3}}
	style := draw.LineStyle{Color: t.lookColor(l), Width: vg.Points(1.5), Dashes: dashes[l.Dash%len(dashes)]}
	if l.Faint {
		style.Width = vg.Points(0.7)
	}
	return style
}

func (t *theme) glyph(l *Look) draw.GlyphStyle {
	shapes := []draw.GlyphDrawer{
		draw.CircleGlyph{},
		draw.BoxGlyph{},
		draw.PyramidGlyph{},
		draw.RingGlyph{},
		draw.SquareGlyph{},
		draw.TriangleGlyph{},
		draw.PlusGlyph{},
		draw.CrossGlyph{},
	}
	if l.Mark == 0 {
		return draw.GlyphStyle{}
	}
	style := draw.GlyphStyle{Color: t.lookColor(l), Radius: vg.Points(3), Shape: shapes[(l.Mark-1)%len(shapes)]}
	if l.Faint {
		style.Radius = vg.Points(2)
	}
	return style
}

// fill fills a rectangle in the color of a look, with hatching if the look has any.
func (t *theme) fill(dc draw.Canvas, l *Look, r vg.Rectangle) {
	if r.Max.X <= r.Min.X || r.Max.Y <= r.Min.Y {
		return
	}
	dc.SetColor(t.lookColor(l))
	dc.Fill(r.Path())
	const step = 5 * vg.Length(1)
	style := draw.LineStyle{Color: t.paper, Width: vg.Points(0.7)}
	height := r.Max.Y - r.Min.Y
	// align hatching to the page, so that it continues in neighbors
	first := vg.Length(math.Floor(float64((r.Min.X-height)/step))) * step
	for c := first; c < r.Max.X && l.Hatch > 0; c += step {
		from, to := max(c, r.Min.X), min(c+height, r.Max.X)
		if from >= to {
			continue
		}
		dc.StrokeLine2(style, from, r.Min.Y+(from-c), to, r.Min.Y+(to-c))
		if l.Hatch > 1 { // hatch in both directions
			dc.StrokeLine2(style, from, r.Max.Y-(from-c), to, r.Max.Y-(to-c))
		}
	}
}

// Formats returns the formats of plots.
func Formats() render.Formats { return render.FormatsBy(map[string]bool{"svg": true, "png": true}) }
