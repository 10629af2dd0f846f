package replays

import (
	"fmt"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"kitescope/inspect/view"
	"kitescope/render"
	"kitescope/render/picture"
	"kitescope/replay"
	"kitescope/replay/whatif"
)

// PlotNames are the kinds of PlotResults: queries per second by load, recall against queries per second, the distribution of
// latency, cost by node and segment, before and after.
func PlotNames() []string { return []string{"qps", "front", "latency", "cost", "compare"} }

// PlotOptions say what is drawn, and how.
type PlotOptions struct {
	// Kind is one of PlotNames. PlotWhatIf has but one kind.
	Kind string
	// Format is one of picture.Formats.
	Format string
	// Width and Height are in CSS pixels, of which 96 are an inch; a PNG has as many. 0 is 1056 and what the kind needs.
	Width, Height int
	// Title replaces the one that says what was measured; "" keeps it.
	Title string
	// Dark is for dark backgrounds.
	Dark bool
	// EF and Sessions choose points of a sweep where there are more than a picture shows; 0 leaves it to the kind.
	EF, Sessions int
}

// Series is a result with the name that a legend calls it. The first of several is what the others are compared with, and
// drawn dashed.
type Series struct {
	Name   string
	Result *replay.Result
}

// PlotResults draws results. What there is nothing to draw of is an error that says so; nothing is written then.
func PlotResults(w io.Writer, results []Series, o PlotOptions) error {
	p := newReplayPicture(&o)
	var err error
	switch {
	case len(results) == 0:
		err = picture.Nothing("at least one result file is needed", "")
	case !chosen(results, &o):
		err = picture.Nothing("no point has that ef and number of sessions", "list the points with kitescope replay show")
	default:
		p.title = replayPlotTitle(results, o.Kind)
		switch o.Kind {
		case "qps":
			err = p.qps(results)
		case "front":
			err = p.front(results)
		case "latency":
			err = p.latency(results)
		case "cost":
			err = p.cost(results)
		case "compare":
			err = p.compare(results)
		default:
			err = &view.UnknownError{What: "plot", Word: o.Kind, Known: PlotNames()}
		}
	}
	return p.finish(w, err)
}

// chosen tells whether any point is the one that options ask for.
func chosen(results []Series, o *PlotOptions) bool {
	if o.EF == 0 && o.Sessions == 0 {
		return true
	}
	for _, r := range results {
		for i := range r.Result.Points {
			if p := &r.Result.Points[i]; (o.EF == 0 || p.EF == o.EF) && (o.Sessions == 0 || p.Sessions == o.Sessions) {
				return true
			}
		}
	}
	return false
}

// PlotWhatIf draws predictions: what each cluster can do at most, and its queries per second by sessions.
func PlotWhatIf(w io.Writer, r *whatif.Report, o PlotOptions) error {
	p := newReplayPicture(&o)
	p.title = "What if: " + render.OrUnknown(r.Setup.Collection) + ", predicted"
	return p.finish(w, p.whatIf(r))
}

func (p *replayPicture) finish(w io.Writer, err error) error {
	if err == nil {
		err = p.write(w)
	}
	if err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
}

func replayPlotTitle(results []Series, kind string) string {
	what := map[string]string{
		"qps": "queries per second by load", "front": "recall against queries per second", "latency": "latency", "cost": "query time by node and segment", "compare": "before and after",
	}[kind]
	return render.OrUnknown(results[0].Result.Setup.Collection) + ": " + what
}

// seriesName is harmless.
func (s *Series) name(i int) string {
	if s.Name == "" {
		return fmt.Sprintf("result %d", i+1)
	}
	return render.ShortenMiddle(render.Harmless(s.Name), 40, "…")
}

// replayPicture is a title, panels in columns, a legend and notes at the foot.
type replayPicture struct {
	o       *PlotOptions
	theme   plotTheme
	title   string
	heads   []string
	panels  []replayPanel
	columns int
	legend  []picture.Mark
	notes   []string
	// height of a panel where nobody asks for another one.
	height vg.Length
}

// replayPanel is a plot with its name above.
type replayPanel struct {
	plot *plot.Plot
	name string
}

const (
	cssDPI   = 96
	cssPixel = vg.Inch / cssDPI
)

func newReplayPicture(o *PlotOptions) *replayPicture {
	return &replayPicture{o: o, theme: newPlotTheme(o.Dark), columns: 1, height: 4.2 * vg.Inch}
}

// Bounds of a picture's sides in CSS pixels.
const (
	leastPixels = 240
	mostPixels  = 8000
)

func (p *replayPicture) write(w io.Writer) error {
	width := 1056 * cssPixel
	if p.o.Width > 0 {
		width = vg.Length(min(max(p.o.Width, leastPixels), mostPixels)) * cssPixel
	}
	const margin = 2 * picture.Margin
	small := p.text(picture.LegendSize)
	inner := width - 2*margin
	var heads, feet []string
	for _, text := range p.heads {
		heads = append(heads, picture.Wrap(&small, text, inner)...)
	}
	for _, text := range p.notes {
		feet = append(feet, picture.Wrap(&small, text, inner)...)
	}
	legend := picture.MarkRows(p.legend, &small, inner)
	head := picture.TitleLines*picture.LegendLine + vg.Length(len(heads))*picture.LegendLine + picture.PanelGap/2
	foot := vg.Length(len(legend)+len(feet))*picture.LegendLine + picture.PanelGap/2
	rows := (len(p.panels) + p.columns - 1) / p.columns
	height := 2*margin + head + foot + vg.Length(rows)*(p.height+picture.PanelGap) - picture.PanelGap
	if p.o.Height > 0 {
		height = max(vg.Length(min(max(p.o.Height, leastPixels), mostPixels))*cssPixel, 2*margin+head+foot+vg.Length(rows)*1.2*vg.Inch)
	}
	// Whole pixels: else a line of nothing is at a side.
	canvas, to := picture.NewCanvas(p.o.Format, width, vg.Length(math.Ceil(float64(height/cssPixel)-1e-6))*cssPixel, cssDPI)
	if canvas == nil {
		return &view.UnknownError{What: "format of plots", Word: p.o.Format, Known: picture.Formats().Names()}
	}
	paper := draw.New(canvas)
	paper.SetColor(p.theme.paper)
	paper.Fill(paper.Rectangle.Path())
	dc := draw.Crop(paper, margin, -margin, margin, -margin)
	p.drawHead(dc, heads)
	p.drawPanels(draw.Crop(dc, 0, 0, foot, -head), rows)
	picture.DrawFoot(dc, small, p.theme.dim, legend, feet)
	return picture.Write(w, to, p.o.Format)
}

func (p *replayPicture) text(size vg.Length) draw.TextStyle {
	style := picture.Style(size)
	style.Color = p.theme.ink
	return style
}

func (p *replayPicture) drawHead(dc draw.Canvas, lines []string) {
	title, small := p.text(14), p.text(picture.LegendSize)
	small.Color = p.theme.dim
	text := p.title
	if p.o.Title != "" {
		text = render.Harmless(p.o.Title)
	}
	picture.DrawHead(dc, title, small, text, lines)
}

func (p *replayPicture) drawPanels(dc draw.Canvas, rows int) {
	plots := picture.Grid(rows, p.columns, len(p.panels), func(k int) *plot.Plot { return p.panels[k].plot })
	tiles := draw.Tiles{Rows: rows, Cols: p.columns, PadX: picture.PanelGap, PadY: picture.PanelGap}
	name := p.text(picture.PanelTitleSize)
	name.YAlign = -1
	for i, row := range plot.Align(plots, tiles, dc) {
		for j, tile := range row {
			if k := i*p.columns + j; k < len(p.panels) {
				p.panels[k].plot.Draw(tile)
				whole := tiles.At(dc, j, i)
				dc.FillText(name, vg.Point{X: whole.Min.X, Y: whole.Max.Y}, picture.Fit(&name, p.panels[k].name, whole.Max.X-whole.Min.X))
			}
		}
	}
}

// panel is an empty plot in the theme's colours.
func (p *replayPicture) panel(name string) *plot.Plot {
	x := plot.New()
	x.BackgroundColor = p.theme.paper
	if name != "" {
		x.Title.Text = " " // room for the name
		x.Title.TextStyle.Font = picture.Sans(x.Title.TextStyle.Font, picture.PanelTitleSize)
		x.Title.Padding = 7
	}
	for _, axis := range []*plot.Axis{&x.X, &x.Y} {
		axis.Label.TextStyle.Font = picture.Sans(axis.Label.TextStyle.Font, 10)
		axis.Tick.Label.Font = picture.Sans(axis.Tick.Label.Font, 9)
		axis.Label.TextStyle.Color, axis.Tick.Label.Color = p.theme.ink, p.theme.ink
		axis.LineStyle.Color, axis.Tick.LineStyle.Color = p.theme.dim, p.theme.dim
		axis.Label.Padding, axis.Padding = 3, 0
	}
	p.panels = append(p.panels, replayPanel{x, name})
	return x
}

func (p *replayPicture) grid(x *plot.Plot, vertical, horizontal bool) {
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = nil, nil
	if vertical {
		grid.Vertical.Color = p.theme.grid
	}
	if horizontal {
		grid.Horizontal.Color = p.theme.grid
	}
	x.Add(grid)
}

// textOn writes text over what is drawn, on paper of its own. At is the middle of its left side.
func (p *replayPicture) textOn(dc draw.Canvas, style *draw.TextStyle, at vg.Point, text string) {
	half := style.Font.Size * 0.6
	dc.SetColor(p.theme.paper)
	dc.Fill(vg.Rectangle{Min: vg.Point{X: at.X - 1, Y: at.Y - half}, Max: vg.Point{X: at.X + style.Width(text) + 1, Y: at.Y + half}}.Path())
	dc.FillText(*style, at, text)
}
