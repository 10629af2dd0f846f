package builds

import (
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
	"kitescope/internal/words"
	"kitescope/profile/bench"
	"kitescope/render"
	"kitescope/render/picture"
)

// ComparisonPlotNames are the kinds of PlotComparison: the values of all runs, what depends on how many clients there
// are, how large that is beside what it was before, and queries per second against recall.
func ComparisonPlotNames() []string {
	return []string{"distributions", "concurrency", "relative", "recall"}
}

// PlotComparison draws a comparison as one of picture.Formats. What there is nothing to draw of is an error that says so.
func PlotComparison(w io.Writer, c *bench.Comparison, kind, format string) error {
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
	legend        []picture.Mark
	notes         []string
}

// comparisonPanel is one plot, with its name and what came of it above.
type comparisonPanel struct {
	plot          *plot.Plot
	name, verdict string
	colour        color.Color
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
	width := max(leastPictureWidth, vg.Length(p.columns)*(p.width+picture.PanelGap)-picture.PanelGap+2*picture.Margin)
	small := picture.Style(picture.LegendSize)
	inner := width - 2*picture.Margin
	heads, feet := p.texts(&small, inner)
	legend := picture.MarkRows(p.legend, &small, inner)
	head := picture.TitleLines*picture.LegendLine + vg.Length(len(heads))*picture.LegendLine + picture.PanelGap/2
	foot := vg.Length(len(legend)+len(feet))*picture.LegendLine + picture.PanelGap/2
	height := 2*picture.Margin + head + foot + vg.Length(rows)*(p.height+picture.PanelGap) - picture.PanelGap
	canvas, to := picture.NewCanvas(format, width, height, picture.DPI)
	if canvas == nil {
		return &view.UnknownError{What: "format of plots", Word: format, Known: picture.Formats().Names()}
	}
	paper := draw.New(canvas)
	paper.SetColor(color.White) // else black letters stand on whatever is behind
	paper.Fill(paper.Rectangle.Path())
	dc := draw.Crop(paper, picture.Margin, -picture.Margin, picture.Margin, -picture.Margin)
	p.drawHead(dc, heads)
	p.drawPanels(draw.Crop(dc, 0, 0, foot, -head), rows)
	picture.DrawFoot(dc, small, small.Color, legend, feet)
	return picture.Write(w, to, format)
}

// texts are the lines above and below the panels, broken to fit.
func (p *comparisonPicture) texts(style *draw.TextStyle, width vg.Length) (heads, feet []string) {
	heads = picture.Wrap(style, TestText(p.c), width)
	if OneRunEach(p.c) {
		heads = append(heads, picture.Wrap(style, oneRun+": the difference may be chance", width)...)
	}
	if text, ok := ControlText(p.c); !ok {
		heads = append(heads, picture.Wrap(style, text, width)...)
	}
	for _, note := range p.notes {
		feet = append(feet, picture.Wrap(style, note, width)...)
	}
	return heads, feet
}

func (p *comparisonPicture) drawHead(dc draw.Canvas, lines []string) {
	picture.DrawHead(dc, picture.Style(14), picture.Style(picture.LegendSize), ComparisonTitle(p.c, &render.Options{}), lines)
}

func (p *comparisonPicture) drawPanels(dc draw.Canvas, rows int) {
	plots := picture.Grid(rows, p.columns, len(p.panels), func(k int) *plot.Plot { return p.panels[k].plot })
	tiles := draw.Tiles{Rows: rows, Cols: p.columns, PadX: picture.PanelGap, PadY: picture.PanelGap}
	name, verdict := picture.Style(picture.PanelTitleSize), picture.Style(picture.LegendSize)
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
			dc.FillText(name, at, picture.Fit(&name, panel.name, whole.Max.X-whole.Min.X))
			verdict.Color = panel.colour
			at.Y -= panelTitleLine
			dc.FillText(verdict, at, picture.Fit(&verdict, panel.verdict, whole.Max.X-whole.Min.X))
		}
	}
}

// newPanel is a plot with room for its name above.
func newPanel(l *bench.Line, name string) comparisonPanel {
	x := plot.New()
	x.Title.Text = " \n "
	x.Title.TextStyle.Font = picture.Sans(x.Title.TextStyle.Font, picture.PanelTitleSize)
	x.Title.Padding = 7
	for _, style := range []*draw.TextStyle{&x.Y.Label.TextStyle, &x.X.Label.TextStyle} {
		style.Font = picture.Sans(style.Font, 9)
	}
	for _, style := range []*draw.TextStyle{&x.Y.Tick.Label, &x.X.Tick.Label} {
		style.Font = picture.Sans(style.Font, 8)
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = picture.GridGrey, picture.GridGrey
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

// axisUnit names the unit of an axis: rates have none but what they are per.
func axisUnit(m *MeasureText) string {
	if per, ok := strings.CutPrefix(m.Unit(), "/"); ok {
		return "per " + picture.Text(per)
	}
	return picture.Text(m.Unit())
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
