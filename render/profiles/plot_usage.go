package profiles

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"kitescope/internal/words"
	"kitescope/profile/usage"
	"kitescope/render/picture"
)

// Sizes of a plot of usage.
const (
	plotWidth   = 11 * vg.Inch
	panelHeight = 1.9 * vg.Inch
)

// PlotUsage draws what processes used: a panel for each measure that is known, over one axis of time in UTC. Where nothing was
// read a line is broken.
func PlotUsage(w io.Writer, u *usage.Usage, format string) error {
	panels, missing := usagePanels(u)
	if len(panels) == 0 {
		return errors.New("plot: nothing was measured")
	}
	legend := newLegend(u)
	note := ""
	if len(missing) > 0 {
		note = "unknown (no process reports it): " + strings.Join(missing, ", ")
	}
	subtitles := usageSubtitles(u)
	head := (picture.TitleLines + vg.Length(len(subtitles))) * picture.LegendLine
	height := vg.Length(len(panels))*panelHeight + legend.height(note) + 2*picture.Margin + head
	canvas, to := picture.NewCanvas(format, plotWidth, height, picture.DPI)
	if canvas == nil {
		return fmt.Errorf("plot: unknown format %q: use %s", format, strings.Join(picture.Formats().Names(), ", "))
	}
	dc := draw.Crop(draw.New(canvas), picture.Margin, -picture.Margin, picture.Margin, -picture.Margin)
	title := picture.Style(14)
	title.YAlign = -1
	dc.FillText(title, vg.Point{X: dc.Min.X, Y: dc.Max.Y}, picture.Text(usageTitle(u)))
	subtitle := picture.Style(picture.LegendSize)
	subtitle.YAlign = -1
	for i, text := range subtitles {
		dc.FillText(subtitle, vg.Point{X: dc.Min.X, Y: dc.Max.Y - (1.2+vg.Length(i))*picture.LegendLine}, picture.Text(text))
	}
	below := draw.Crop(dc, 0, 0, legend.height(note), -head)
	plots := make([][]*plot.Plot, len(panels))
	for i, p := range panels {
		plots[i] = []*plot.Plot{p.plot(u, legend, i == len(panels)-1)}
	}
	for i, row := range plot.Align(plots, draw.Tiles{Rows: len(plots), Cols: 1, PadY: 4}, below) {
		plots[i][0].Draw(row[0])
	}
	legend.draw(dc, note)
	if err := picture.Write(w, to, format); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
}

func usageTitle(u *usage.Usage) string {
	text := "usage of " + words.Plural(len(u.Series), "process")
	if len(u.Series) != 1 {
		text = fmt.Sprintf("usage of %d processes", len(u.Series))
	}
	return text + ", " + WatchText(u)
}

// usageSubtitles are what a query and the command cost, as far as there is one.
func usageSubtitles(u *usage.Usage) (lines []string) {
	if text := PerQueryText(u); text != "" {
		lines = append(lines, text)
	}
	if u.Command != nil {
		lines = append(lines, CommandText(u.Command))
	}
	return lines
}

// usagePanel is one measure, or several added up.
type usagePanel struct {
	label    string
	measures []usage.Measure
	factor   float64
}

// usagePanels are the panels of which something is known, and the labels of those of which nothing is.
func usagePanels(u *usage.Usage) (panels []usagePanel, missing []string) {
	for _, p := range []usagePanel{
		{"CPU (cores)", []usage.Measure{usage.CPU}, 1},
		{"memory (MiB)", []usage.Measure{usage.RSS}, 1.0 / (1 << 20)},
		{"goroutines", []usage.Measure{usage.Goroutines}, 1},
		{"GC pause (% of time)", []usage.Measure{usage.GCPause}, 100},
		{"context switches /s", []usage.Measure{usage.Voluntary, usage.Involuntary}, 1},
		{"queries /s", []usage.Measure{usage.Queries}, 1},
	} {
		known := slices.ContainsFunc(u.Series, func(s *usage.Series) bool {
			return slices.ContainsFunc(s.Points, func(x usage.Point) bool { return !math.IsNaN(p.value(&x)) })
		})
		switch {
		case known:
			panels = append(panels, p)
		case p.measures[0] != usage.Queries:
			missing = append(missing, p.label)
		}
	}
	return panels, missing
}

func (p *usagePanel) value(x *usage.Point) float64 {
	sum := 0.0
	for _, m := range p.measures {
		sum += x.Values[m] // one that is unknown makes the sum so
	}
	return p.factor * sum
}

func (p *usagePanel) plot(u *usage.Usage, legend *usageLegend, lowest bool) *plot.Plot {
	x := plot.New()
	x.Y.Label.Text = p.label
	for _, style := range []*draw.TextStyle{&x.Y.Label.TextStyle, &x.X.Label.TextStyle} {
		style.Font = picture.Sans(style.Font, 9)
	}
	for _, style := range []*draw.TextStyle{&x.Y.Tick.Label, &x.X.Tick.Label} {
		style.Font = picture.Sans(style.Font, 8)
	}
	x.Y.Min = 0
	x.X.Min, x.X.Max = seconds(u.Begin), seconds(u.End)
	x.X.Tick.Marker, x.Y.Tick.Marker = clockTicks{lowest}, roundTicks{}
	if lowest {
		x.X.Label.Text = "time (UTC)"
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = picture.GridGrey, picture.GridGrey
	x.Add(grid)
	top := 0.0
	for i, s := range u.Series {
		for _, line := range p.lines(s) {
			for _, xy := range line {
				top = max(top, xy.Y)
			}
			legend.add(x, i, line)
		}
		if known := p.lines(s); len(known) > 0 {
			legend.restarts(x, i, p.restarts(s))
		}
	}
	if top == 0 {
		top = 1
	}
	x.Y.Max = 1.05 * top
	return x
}

func seconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }

// lines are the stretches of a series without a gap in between.
func (p *usagePanel) lines(s *usage.Series) []plotter.XYs {
	var lines []plotter.XYs
	var line plotter.XYs
	end := func() {
		if len(line) > 0 {
			lines = append(lines, line)
		}
		line = nil
	}
	for i := range s.Points {
		x := &s.Points[i]
		v := p.value(x)
		if math.IsNaN(v) {
			end()
			continue
		}
		line = append(line, plotter.XY{X: seconds(x.At), Y: v})
	}
	end()
	return lines
}

// restarts are the moments at which a process was seen to have begun anew.
func (p *usagePanel) restarts(s *usage.Series) plotter.XYs {
	var at plotter.XYs
	for i := range s.Points {
		if s.Points[i].Restarted {
			at = append(at, plotter.XY{X: seconds(s.Points[i].At)})
		}
	}
	return at
}

// roundTicks marks an axis at round numbers.
type roundTicks struct{}

// Ticks implements plot.Ticker.
func (roundTicks) Ticks(from, to float64) []plot.Tick {
	const most = 5
	step := math.Pow(10, math.Floor(math.Log10((to-from)/most)))
	for _, factor := range []float64{2, 2.5, 2} { // 1, 2, 5, 10
		if (to-from)/step <= most {
			break
		}
		step *= factor
	}
	var ticks []plot.Tick
	for i := math.Ceil(from / step); i*step <= to; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step, 'g', 4, 64)})
	}
	return ticks
}

// clockTicks marks an axis of seconds since 1970 at round times of the day.
type clockTicks struct{ labels bool }

// Ticks implements plot.Ticker.
func (c clockTicks) Ticks(from, to float64) []plot.Tick {
	const most = 9
	step, layout := time.Second, time.TimeOnly
	for _, s := range []time.Duration{
		time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
		time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
		time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
	} {
		if step = s; (to-from)/s.Seconds() <= most {
			break
		}
	}
	for (to-from)/step.Seconds() > most {
		step *= 2
	}
	if step >= time.Minute {
		layout = "15:04"
	}
	if step >= 12*time.Hour {
		layout = "01-02 15:04"
	}
	var ticks []plot.Tick
	for at := math.Ceil(from/step.Seconds()) * step.Seconds(); at <= to; at += step.Seconds() {
		label := " " // a tick without any is a minor one
		if c.labels {
			label = time.Unix(0, int64(at*1e9)).UTC().Format(layout)
		}
		ticks = append(ticks, plot.Tick{Value: at, Label: label})
	}
	return ticks
}
