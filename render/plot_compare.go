package render

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"kitescope/inspect/view"
	"kitescope/profile/bench"
	"kitescope/words"
	"kitescope/words/hints"
)

// ComparisonPlotNames are the kinds of WriteComparisonPlot: the values of all runs, what depends on how many clients there
// are, how large that is beside what it was before, and queries per second against recall.
func ComparisonPlotNames() []string {
	return []string{"distributions", "concurrency", "relative", "recall"}
}

// WriteComparisonPlot draws a comparison as one of PlotFormats. What there is nothing to draw of is an error that says so.
func WriteComparisonPlot(w io.Writer, c *bench.Comparison, kind, format string) error {
	var p *comparisonPicture
	var err error
	switch kind {
	case "distributions":
		p, err = distributionsPicture(c)
	case "concurrency":
		p, err = concurrencyPicture(c)
	case "relative":
		p, err = relativePicture(c)
	case "recall":
		p, err = recallPicture(c)
	default:
		err = &view.UnknownError{What: "plot", Word: kind, Known: ComparisonPlotNames()}
	}
	if err == nil {
		err = p.write(w, format)
	}
	if err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
}

// Sizes of the picture of a comparison.
const (
	comparisonPanelWidth  = 3.6 * vg.Inch
	comparisonPanelHeight = 2.75 * vg.Inch
	widePanelWidth        = 5.4 * vg.Inch
	widePanelHeight       = 3.4 * vg.Inch
	leastPictureWidth     = 6.8 * vg.Inch
	panelTitleLine        = 0.18 * vg.Inch
	mostPanels            = 24
)

// comparisonPicture is a title, panels in rows, and a legend at the foot.
type comparisonPicture struct {
	c       *bench.Comparison
	panels  []comparisonPanel
	columns int
	// width and height are those of a panel.
	width, height vg.Length
	legend        []legendMark
	notes         []string
}

// comparisonPanel is one plot, with its name and what came of it above.
type comparisonPanel struct {
	plot          *plot.Plot
	name, verdict string
	colour        color.Color
}

// legendMark is an entry of the legend: draw puts its sign to the left of at.
type legendMark struct {
	text string
	draw func(dc draw.Canvas, at vg.Point)
}

// leftOut drops panels for which a picture has no room, and says so.
func (p *comparisonPicture) leftOut() {
	if rest := len(p.panels) - mostPanels; rest > 0 {
		p.panels = p.panels[:mostPanels]
		p.notes = append(p.notes, strconv.Itoa(rest)+" more are not drawn: --only METRIC chooses")
	}
}

func (p *comparisonPicture) write(w io.Writer, format string) error {
	p.leftOut()
	p.columns = min(p.columns, len(p.panels))
	rows := (len(p.panels) + p.columns - 1) / p.columns
	width := max(leastPictureWidth, vg.Length(p.columns)*(p.width+panelGap)-panelGap+2*plotMargin)
	small := plainStyle(legendSize)
	inner := width - 2*plotMargin
	heads, feet := p.texts(&small, inner)
	legend := legendRows(p.legend, &small, inner)
	head := titleLines*legendLine + vg.Length(len(heads))*legendLine + panelGap/2
	foot := vg.Length(len(legend)+len(feet))*legendLine + panelGap/2
	height := 2*plotMargin + head + foot + vg.Length(rows)*(p.height+panelGap) - panelGap
	canvas, to := newPlotCanvas(format, width, height)
	if canvas == nil {
		return &view.UnknownError{What: "format of plots", Word: format, Known: PlotFormats()}
	}
	paper := draw.New(canvas)
	paper.SetColor(color.White) // else black letters stand on whatever is behind
	paper.Fill(paper.Rectangle.Path())
	dc := draw.Crop(paper, plotMargin, -plotMargin, plotMargin, -plotMargin)
	p.drawHead(dc, heads)
	p.drawPanels(draw.Crop(dc, 0, 0, foot, -head), rows)
	small.YAlign = -0.5
	at := vg.Point{X: dc.Min.X, Y: dc.Min.Y + vg.Length(len(legend)+len(feet))*legendLine - legendLine/2}
	for _, row := range legend {
		for _, mark := range row {
			mark.draw(dc, vg.Point{X: at.X + legendSample/2, Y: at.Y})
			dc.FillText(small, vg.Point{X: at.X + legendSample + 4, Y: at.Y}, mark.text)
			at.X += legendSample + 4 + small.Width(mark.text) + legendSample/2
		}
		at = vg.Point{X: dc.Min.X, Y: at.Y - legendLine}
	}
	for _, text := range feet {
		dc.FillText(small, at, text)
		at.Y -= legendLine
	}
	_, err := to.WriteTo(w)
	return err
}

// texts are the lines above and below the panels, broken to fit.
func (p *comparisonPicture) texts(style *draw.TextStyle, width vg.Length) (heads, feet []string) {
	heads = wrapText(style, TestText(p.c), width)
	if OneRunEach(p.c) {
		heads = append(heads, wrapText(style, oneRun+": what was measured may be chance alone", width)...)
	}
	if text, ok := ControlText(p.c); !ok {
		heads = append(heads, wrapText(style, text, width)...)
	}
	for _, note := range p.notes {
		feet = append(feet, wrapText(style, note, width)...)
	}
	return heads, feet
}

func (p *comparisonPicture) drawHead(dc draw.Canvas, lines []string) {
	drawPlotHead(dc, plainStyle(14), plainStyle(legendSize), ComparisonTitle(p.c, &Options{}), lines)
}

// drawPlotHead writes a title, cut to the width, and lines below it.
func drawPlotHead(dc draw.Canvas, title, small draw.TextStyle, text string, lines []string) {
	title.YAlign, small.YAlign = -1, -1
	dc.FillText(title, vg.Point{X: dc.Min.X, Y: dc.Max.Y}, fitPlotText(&title, text, dc.Max.X-dc.Min.X))
	for i, line := range lines {
		dc.FillText(small, vg.Point{X: dc.Min.X, Y: dc.Max.Y - (titleLines+vg.Length(i))*legendLine}, line)
	}
}

// plotGrid puts count plots into rows, from left to right; what is left over is empty.
func plotGrid(rows, columns, count int, at func(k int) *plot.Plot) [][]*plot.Plot {
	grid := make([][]*plot.Plot, rows)
	for i := range grid {
		grid[i] = make([]*plot.Plot, columns)
		for j := range grid[i] {
			if k := i*columns + j; k < count {
				grid[i][j] = at(k)
			}
		}
	}
	return grid
}

func (p *comparisonPicture) drawPanels(dc draw.Canvas, rows int) {
	plots := plotGrid(rows, p.columns, len(p.panels), func(k int) *plot.Plot { return p.panels[k].plot })
	tiles := draw.Tiles{Rows: rows, Cols: p.columns, PadX: panelGap, PadY: panelGap}
	name, verdict := plainStyle(panelTitleSize), plainStyle(legendSize)
	name.YAlign, verdict.YAlign = -1, -1
	for i, row := range plot.Align(plots, tiles, dc) {
		for j, tile := range row {
			k := i*p.columns + j
			if k >= len(p.panels) {
				continue
			}
			panel := &p.panels[k]
			panel.plot.Draw(tile)
			whole := tiles.At(dc, j, i)
			at := vg.Point{X: whole.Min.X, Y: whole.Max.Y}
			dc.FillText(name, at, fitPlotText(&name, panel.name, whole.Max.X-whole.Min.X))
			verdict.Color = panel.colour
			at.Y -= panelTitleLine
			dc.FillText(verdict, at, fitPlotText(&verdict, panel.verdict, whole.Max.X-whole.Min.X))
		}
	}
}

// legendRows breaks a legend into lines.
func legendRows(legend []legendMark, style *draw.TextStyle, width vg.Length) [][]legendMark {
	var rows [][]legendMark
	left := vg.Length(0)
	for _, mark := range legend {
		mark.text = fitPlotText(style, mark.text, width/2)
		need := legendSample*1.5 + 4 + style.Width(mark.text)
		if len(rows) == 0 || need > left {
			rows = append(rows, nil)
			left = width
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], mark)
		left -= need
	}
	return rows
}

// newPanel is a plot with room for its name above.
func newPanel(l *bench.Line, name string) comparisonPanel {
	x := plot.New()
	x.Title.Text = " \n "
	x.Title.TextStyle.Font = sans(x.Title.TextStyle.Font, panelTitleSize)
	x.Title.Padding = 7
	for _, style := range []*draw.TextStyle{&x.Y.Label.TextStyle, &x.X.Label.TextStyle} {
		style.Font = sans(style.Font, 9)
	}
	for _, style := range []*draw.TextStyle{&x.Y.Tick.Label, &x.X.Tick.Label} {
		style.Font = sans(style.Font, 8)
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = gridGrey, gridGrey
	x.Add(grid)
	panel := comparisonPanel{plot: x, name: name, colour: verdictColour(bench.NoDifference)}
	if l != nil {
		panel.verdict, panel.colour = changeAndVerdict(l), verdictColour(l.Verdict)
	}
	return panel
}

// changeAndVerdict is a change in a line: "+7.3%, better; 95% CI +6.1 to +8.4%".
func changeAndVerdict(l *bench.Line) string {
	text := l.Verdict.String()
	if change := MetricChange(l); change != words.NoneMark {
		text = change + ", " + text
	}
	if interval := MetricInterval(l); interval != words.UnknownMark && interval != words.NoneMark {
		text += "; 95% CI " + interval
	}
	return text
}

func verdictColour(v bench.Verdict) color.Color {
	switch v {
	case bench.Better:
		return color.RGBA{0x00, 0x7a, 0x59, 0xff}
	case bench.Worse:
		return color.RGBA{0xb0, 0x12, 0x1f, 0xff}
	case bench.Changed:
		return color.Black
	case bench.NoDifference, bench.TooFew, bench.OneSide, bench.NotJudged:
	}
	return color.Gray{Y: 0x70}
}

// fitPlotText shortens harmless text in its middle until it is no wider than there is room.
func fitPlotText(style *draw.TextStyle, s string, width vg.Length) string {
	s = plotText(s)
	for room := cells(s); room > 2 && style.Width(s) > width; {
		room = max(2, min(room-1, int(float64(room)*float64(width/style.Width(s)))))
		s = shortenMiddle(s, room, "…")
	}
	return s
}

// axisUnit names the unit of an axis: rates have none but what they are per.
func axisUnit(m *MeasureText) string {
	if per, ok := strings.CutPrefix(m.Unit(), "/"); ok {
		return "per " + plotText(per)
	}
	return plotText(m.Unit())
}

// wrapText breaks text at blanks.
func wrapText(style *draw.TextStyle, s string, width vg.Length) []string {
	var lines []string
	for word := range strings.FieldsSeq(Harmless(s)) {
		if n := len(lines); n > 0 {
			if longer := lines[n-1] + " " + word; style.Width(longer) <= width {
				lines[n-1] = longer
				continue
			}
		}
		lines = append(lines, fitPlotText(style, word, width))
	}
	return lines
}

// nothingToDraw says why there is no picture, and what can be drawn instead.
func nothingToDraw(why, hint string) error {
	return &hints.Error{Err: errors.New(why), Advice: hint}
}

// drawable are the values that have a place on paper.
func drawable(values []float64) []float64 {
	const most = 1e300 // differences of larger ones are infinite
	var list []float64
	for _, v := range values {
		if math.Abs(v) < most {
			list = append(list, v)
		}
	}
	return list
}

// span is from the least to the largest value, with a margin, and never nothing.
func span(values []float64, margin float64) (from, to float64) {
	from, to = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		from, to = min(from, v), max(to, v)
	}
	pad := margin * (to - from)
	if !(pad > 1e-9*max(math.Abs(from), math.Abs(to))) {
		pad = 0.01 * max(math.Abs(from), math.Abs(to))
	}
	if pad == 0 { // all are 0
		pad = 1
	}
	return from - pad, to + pad
}

// valueTicks marks an axis at round numbers, written out.
type valueTicks struct{}

// Ticks implements plot.Ticker.
func (valueTicks) Ticks(from, to float64) []plot.Tick {
	const most = 6
	if !(to > from) || math.IsInf(to-from, 0) {
		return nil
	}
	step := math.Pow(10, math.Floor(math.Log10((to-from)/most)))
	for _, factor := range []float64{2, 2.5, 2} { // 1, 2, 5, 10
		if (to-from)/step <= most {
			break
		}
		step *= factor
	}
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	var ticks []plot.Tick
	first := math.Ceil(from/step - 1e-9)
	for i := range 2 * most {
		x := (first + float64(i)) * step
		if x > to+1e-9*step {
			break
		}
		text := strconv.FormatFloat(x, 'f', decimals, 64)
		if decimals > mostTickDecimals || math.Abs(x) >= 1e7 {
			digits := 1 + math.Ceil(math.Log10(max(1, math.Abs(x)/step))) // enough to tell it from the next
			text = strconv.FormatFloat(x, 'g', int(min(digits, 15)), 64)
		}
		ticks = append(ticks, plot.Tick{Value: x, Label: strings.Replace(text, "-0", "0", b2i(strings.Trim(text, "-0.") == ""))})
	}
	return ticks
}

const mostTickDecimals = 6
