package builds

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/view"
	"kitescope/internal/words"
	"kitescope/profile/bench"
	"kitescope/render"
	"kitescope/render/picture"
)

// ComparisonPlotNames are the kinds of PlotComparison: the values of all runs, and queries per second against recall.
func ComparisonPlotNames() []string { return []string{"distributions", "recall"} }

// PlotComparison draws a comparison as one of picture.Formats. What there is nothing to draw of is an error that says so.
func PlotComparison(w io.Writer, c *bench.Comparison, kind, format string) error {
	chart := &picture.Chart{Title: ComparisonTitle(c, &render.Options{}), Heads: []string{testText(c)}, Columns: 2}
	if text, ok := controlText(c); !ok {
		chart.Heads = append(chart.Heads, text)
	}
	var err error
	switch kind {
	case "distributions":
		err = distributions(chart, c)
	case "recall":
		err = recall(chart, c)
	default:
		err = &view.UnknownError{What: "plot", Word: kind, Known: ComparisonPlotNames()}
	}
	if rest := len(chart.Panels) - mostPanels; rest > 0 {
		chart.Panels = chart.Panels[:mostPanels]
		chart.Notes = append(chart.Notes, strconv.Itoa(rest)+" more are not drawn: --only METRIC chooses")
	}
	if err == nil {
		err = chart.Write(w, format)
	}
	if err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
}

// mostPanels is how many a picture has room for.
const mostPanels = 24

// sideLook tells sides apart; before is dashed.
func sideLook(side int) picture.Look {
	return picture.Look{Colour: picture.Colour(side), Dash: 1 - side, Mark: 2 - side}
}

// changeAndVerdict is a change in a line: "+7.3%, better; 95% CI +6.1 to +8.4%".
func changeAndVerdict(l *bench.Line) string {
	text := l.Verdict.String()
	if change := metricChange(l); change != words.NoneMark {
		text = change + ", " + text
	}
	if interval := metricInterval(l); interval != words.UnknownMark && interval != words.NoneMark {
		text += "; 95% CI " + interval
	}
	return text
}

func verdictColour(v bench.Verdict) picture.Colour {
	switch v {
	case bench.Better:
		return picture.Good
	case bench.Worse:
		return picture.Bad
	case bench.Changed, bench.NoDifference, bench.TooFew, bench.OneSide, bench.NotJudged:
	}
	return picture.Grey
}

// drawable are the values that have a place on paper, in order.
func drawable(values []float64) []float64 {
	const most = 1e300 // differences of larger ones are infinite
	return slices.Sorted(slices.Values(slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return !(math.Abs(v) < most) })))
}

// quantile is that of sorted values, linear between them (type 7 of Hyndman and Fan, "Sample quantiles in statistical
// packages", The American Statistician 50, 1996).
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	below := int(at)
	if below+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[below] + (at-float64(below))*(sorted[below+1]-sorted[below])
}

// distributions has a panel for each metric: a dot for each run, before and after beside each other, and beside them the median with
// the middle half of the runs.
func distributions(chart *picture.Chart, c *bench.Comparison) error {
	for i := range c.Lines {
		l := &c.Lines[i]
		if sides := [2][]float64{drawable(l.A), drawable(l.B)}; len(sides[0])+len(sides[1]) > 0 {
			chart.Panels = append(chart.Panels, runsPanel(c, l, sides))
		}
	}
	if len(chart.Panels) == 0 {
		return picture.Nothing("no metric has values", "")
	}
	if chart.PanelHeight = 2.75; len(chart.Panels) != 4 { // not one alone below three
		chart.Columns = 3
	}
	return nil
}

func runsPanel(c *bench.Comparison, l *bench.Line, sides [2][]float64) picture.Panel {
	unit := newMeasure(l.Unit, slices.Concat(sides[0], sides[1])...)
	panel := picture.Panel{
		Name: metricText(&l.Metric), Remark: changeAndVerdict(l), RemarkColour: verdictColour(l.Verdict),
		X: picture.Axis{From: -0.5, To: 1.5}, Y: picture.Axis{Label: unit.name(), Free: true},
	}
	if c.Paired && len(l.A) == len(l.B) {
		for i := range l.A {
			panel.Series = append(panel.Series, picture.Series{
				Name: "a pair of runs", Look: picture.Look{Colour: picture.Grey, Faint: true}, Points: []picture.Point{{X: 0, Y: l.A[i] / unit.Factor}, {X: 1, Y: l.B[i] / unit.Factor}},
			})
		}
	}
	for side, values := range sides {
		name := []string{"before", "after"}[side]
		if len(values) == 0 {
			name += ": none"
		}
		panel.X.Ticks = append(panel.X.Ticks, picture.Tick{At: float64(side), Text: name})
		if len(values) == 0 {
			continue
		}
		colour := picture.Colour(side)
		dots := picture.Series{Name: sideLabel([]*bench.Set{c.A, c.B}[side], side) + ", a dot is a run", Look: picture.Look{Colour: colour, Mark: 1, NoLine: true}}
		for i, v := range values {
			at := float64(side)
			if !c.Paired && len(values) > 1 {
				at += jitter(i)
			}
			dots.Points = append(dots.Points, picture.Point{X: at, Y: v / unit.Factor})
		}
		panel.Series = append(panel.Series, dots)
		if len(values) > 1 {
			panel.Series = append(panel.Series, picture.Series{
				Name: "median, and the middle half of the runs", Look: picture.Look{Colour: colour, Mark: 2, NoLine: true}, Points: []picture.Point{{
					X: float64(side) + 0.22*float64(2*side-1), Y: quantile(values, 0.5) / unit.Factor, Low: quantile(values, 0.25) / unit.Factor, High: quantile(values, 0.75) / unit.Factor,
				}},
			})
		}
	}
	return panel
}

// jitter moves dots aside that would hide each other, the same in each drawing: fractions of the golden ratio are spread
// evenly however many there are.
func jitter(i int) float64 {
	_, part := math.Modf(float64(i+1) * math.Phi)
	return 0.09 * (2*part - 1)
}

// recallPanel is what was searched, such as a case of a benchmark, with medians of each setting of either side: X is the recall, Y the rate. The
// sides need no setting in common: that is what curves are for.
type recallPanel struct {
	of     string
	points [2][]picture.Point
}

// rateName are names of the figure that is drawn against recall.
var rateName = regexp.MustCompile(`(?i)\b(qps|queries|requests|searches|throughput)\b`)

// recallPanels gathers the points of a comparison, in the order of the lines.
func recallPanels(c *bench.Comparison) []*recallPanel {
	var order []string
	recalls, rates := map[string]*bench.Line{}, map[string]*bench.Line{}
	for i := range c.Lines {
		l := &c.Lines[i]
		if !slices.Contains(order, l.Of) {
			order = append(order, l.Of)
		}
		switch {
		case strings.EqualFold(l.Name, "recall"):
			recalls[l.Of] = l
		case strings.HasSuffix(l.Unit, "/s") && l.Better != bench.LowerIsBetter && rateName.MatchString(l.Name):
			// The figure of no certain concurrency is the best one where there are several.
			if r := rates[l.Of]; r == nil || l.Concurrency == 0 && r.Concurrency > 0 || l.Concurrency > r.Concurrency && r.Concurrency > 0 {
				rates[l.Of] = l
			}
		}
	}
	var panels []*recallPanel
	for _, name := range order {
		if recalls[name] == nil || rates[name] == nil {
			continue
		}
		what, settings := splitSettings(name)
		at := slices.IndexFunc(panels, func(p *recallPanel) bool { return p.of == what })
		if at < 0 {
			at, panels = len(panels), append(panels, &recallPanel{of: what})
		}
		for side := range 2 {
			recall, rate := drawable([][]float64{recalls[name].A, recalls[name].B}[side]), drawable([][]float64{rates[name].A, rates[name].B}[side])
			if len(recall) == 0 || len(rate) == 0 {
				continue
			}
			q := picture.Point{X: quantile(recall, 0.5), Y: quantile(rate, 0.5), Label: render.ShortenMiddle(render.Harmless(settings), 28, "...")}
			if q.X >= 0 && q.X <= 1 && q.Y > 0 && picture.DrawableRate(q.Y) {
				panels[at].points[side] = append(panels[at].points[side], q)
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

// recall has a panel for each thing that was searched, with a curve for either side.
func recall(chart *picture.Chart, c *bench.Comparison) error {
	panels := recallPanels(c)
	if len(panels) == 0 {
		return picture.Nothing("nothing has both a recall and a rate of queries", "results of VectorDBBench and ann-benchmarks have")
	}
	for _, r := range panels {
		var recalls []float64
		for _, q := range slices.Concat(r.points[0], r.points[1]) {
			recalls = append(recalls, q.X)
		}
		axis, place := picture.Recall(recalls)
		panel := picture.Panel{Name: cmp.Or(r.of, "recall and queries per second"), X: axis, Y: picture.Axis{Label: "queries per second"}}
		for side, set := range []*bench.Set{c.A, c.B} {
			s := picture.Series{Name: sideLabel(set, side) + ", medians of each setting", Look: sideLook(side), Points: r.points[side]}
			slices.SortStableFunc(s.Points, func(a, b picture.Point) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(b.Y, a.Y)) })
			for i := range s.Points {
				s.Points[i].X = place(s.Points[i].X)
			}
			if len(s.Points) > 0 {
				panel.Series = append(panel.Series, s)
			}
		}
		chart.Panels = append(chart.Panels, panel)
	}
	return nil
}
