package replays

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"kitescope/inspect/view"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/picture"
	"kitescope/replay"
	"kitescope/replay/load"
)

// PlotNames returns the kinds of plots of PlotResults: queries per second by load, recall against queries per
// second, and the distribution of latency.
func PlotNames() []string { return []string{"qps", "front", "latency"} }

// PlotOptions control what PlotResults draws.
type PlotOptions struct {
	// Kind is one of PlotNames.
	Kind string
	// Format is one of picture.Formats.
	Format string
	// Width and Height are in CSS pixels, with 96 pixels per inch, and in pixels of a PNG. 0 means a width of
	// 1056 and the height that the kind needs.
	Width, Height int
	// Dark selects colors for dark backgrounds.
	Dark bool
}

// Series is a result with its name in the legend. The first of several results is the baseline and drawn dashed.
type Series struct {
	Name   string
	Result *replay.Result
}

// name returns the escaped name of the i-th result.
func (s *Series) name(i int) string {
	if s.Name == "" {
		return fmt.Sprintf("result %d", i+1)
	}
	return render.ShortenMiddle(render.Harmless(s.Name), 40, "…")
}

// resultChart draws a plot of results.
type resultChart struct {
	picture.Chart
	results []Series
}

type plotKind struct {
	what string
	draw func(c *resultChart) error
}

func plotKinds() map[string]plotKind {
	return map[string]plotKind{
		"qps":     {"queries per second by load", (*resultChart).qps},
		"front":   {"recall against queries per second", (*resultChart).front},
		"latency": {"latency by percentile", (*resultChart).latency},
	}
}

// PlotResults draws results. Without drawable values, it returns an error and writes nothing.
func PlotResults(w io.Writer, results []Series, o PlotOptions) error {
	kind, known := plotKinds()[o.Kind]
	var err error
	c := &resultChart{results: results}
	switch {
	case !known:
		err = &view.UnknownError{What: "plot", Word: o.Kind, Known: PlotNames()}
	case len(results) == 0:
		err = picture.EmptyError("at least one result file is needed", "")
	default:
		c.Title = render.OrUnknown(results[0].Result.Setup.Collection) + ": " + kind.what
		c.Heads = circumstances(results)
		err = kind.draw(c)
	}
	if err == nil {
		c.Width, c.Height, c.Dark = o.Width, o.Height, o.Dark
		err = c.Write(w, o.Format)
	}
	if err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
}

// points returns the points of all results.
func (c *resultChart) points() (all []*load.Point) {
	for _, s := range c.results {
		all = append(all, render.Pointers(s.Result.Points)...)
	}
	return all
}

// searchParameters identify a line of a sweep.
type searchParameters struct{ ef, nprobe, k int }

func parametersOf(p *load.Point) searchParameters { return searchParameters{p.EF, p.NProbe, p.K} }

func (s searchParameters) compare(t searchParameters) int {
	return cmp.Or(cmp.Compare(s.ef, t.ef), cmp.Compare(s.nprobe, t.nprobe), cmp.Compare(s.k, t.k))
}

// text formats the parameters. k reports whether to include k, which is only needed if it differs between points.
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
	if a == "" || b == "" {
		return a + b
	}
	return a + ", " + b
}

// parameters returns the distinct parameters of all results, in order, and whether they differ in k.
func (c *resultChart) parameters() (list []searchParameters, k bool) {
	for _, p := range c.points() {
		if x := parametersOf(p); !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	slices.SortFunc(list, searchParameters.compare)
	return list, slices.ContainsFunc(list, func(x searchParameters) bool { return x.k != list[0].k })
}

// dash returns the dash pattern of a result. The first of several results, the baseline, is dashed, and the
// second solid.
func (c *resultChart) dash(result int) int {
	if len(c.results) < 2 {
		return 0
	}
	return []int{1, 0, 2, 3}[result%4]
}

// label prefixes a name with that of its result if there are several results.
func (c *resultChart) label(result int, name string) string {
	if len(c.results) > 1 {
		return join(c.results[result].name(result), name)
	}
	return name
}

// qps draws a line per result and parameters, with the confidence intervals of means.
func (c *resultChart) qps() error {
	rated, closed := 0, 0
	for _, p := range c.points() {
		closed, rated = closed+render.BoolInt(!open(p)), rated+render.BoolInt(!p.Timed && p.Rate > 0)
	}
	of := func(p *load.Point) (v float64, ok bool) { // selects the kind of load with the most points
		if rated > closed {
			return p.Rate, !p.Timed && p.Rate > 0 && picture.DrawableRate(p.Rate) && picture.DrawableRate(p.QPS)
		}
		return float64(p.Sessions), !open(p) && p.Sessions > 0 && picture.DrawableRate(p.QPS)
	}
	var loads []float64
	left, failed, intervals := 0, 0, false
	for _, p := range c.points() {
		if v, ok := of(p); ok {
			loads = append(loads, v)
		} else {
			left++
		}
		intervals = intervals || hasInterval(p)
		failed += render.BoolInt(p.Failed > 0)
	}
	if len(loads) == 0 {
		return picture.EmptyError("no point has a number of sessions or a rate", "")
	}
	axis, place := picture.LogAxis([]string{"concurrent sessions", "target requests per second"}[render.BoolInt(rated >
		closed)], loads)
	panel := picture.Panel{X: axis, Y: picture.Axis{Label: "queries per second"}}
	all, k := c.parameters()
	for r, s := range c.results {
		for i, params := range all {
			line := picture.Series{
				Name: c.label(r, params.text(k)),
				Look: picture.Look{Colour: picture.Colour(i), Dash: c.dash(r), Mark: 1 + i},
			}
			for _, p := range render.Pointers(s.Result.Points) {
				if v, ok := of(p); ok && parametersOf(p) == params {
					line.Points = append(line.Points, picture.Point{
						X: place(v), Y: p.QPS, Low: p.QPSLow, High: p.QPSHigh,
					})
				}
			}
			slices.SortStableFunc(line.Points, func(a, b picture.Point) int { return cmp.Compare(a.X, b.X) })
			if len(line.Points) > 0 {
				panel.Series = append(panel.Series, line)
			}
		}
	}
	c.Panels = []picture.Panel{panel}
	c.Notes = append(c.Notes,
		[]string{"one round each: no intervals", "bars: 95% CI of the mean over rounds"}[render.BoolInt(intervals)])
	if failed > 0 {
		c.Notes = append(c.Notes,
			words.Count(int64(failed), "point has", "points have")+" failed requests, not counted")
	}
	if left > 0 {
		c.Notes = append(c.Notes,
			words.Count(int64(left), "point has", "points have")+" another kind of load and cannot be shown here")
	}
	return nil
}

// circumstances returns the setups that figures depend on, one line per distinct setup.
func circumstances(results []Series) []string {
	var lines []string
	for i := range results {
		r := results[i].Result
		text := words.Count(int64(r.Setup.Queries), "query", "queries")
		if c := &r.Cover; c.Loaded < c.Segments || c.RowsUnknown > 0 {
			text += ", rows " + coverageText(c)
		}
		if setup := setupText(&r.Setup, &render.ReportOptions{}); setup != "" {
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

func plottable(p *load.Point) bool {
	return p.Recall >= 0 && p.Recall <= 1 && p.QPS > 0 && picture.DrawableRate(p.QPS)
}

// front draws a line through the Pareto-optimal points of each result, labeled with their parameters, and dots
// for all other points.
func (c *resultChart) front() error {
	var recalls, rates []float64
	for _, p := range c.points() {
		if plottable(p) {
			recalls, rates = append(recalls, p.Recall), append(rates, p.QPS)
		}
	}
	if len(recalls) == 0 {
		return picture.EmptyError("no point has a recall",
			"replay with --truth exact, or with a log that has the truth")
	}
	axis, place := picture.RecallAxis(recalls)
	panel := picture.Panel{X: axis, Y: picture.Axis{Label: "queries per second"}}
	if slices.Max(rates) > 50*slices.Min(rates) {
		panel.Y.Log, panel.Y.Label = true, "queries per second (logarithmic)"
	}
	_, k := c.parameters()
	at := func(p *load.Point) picture.Point { return picture.Point{X: place(p.Recall), Y: p.QPS} }
	for r := range c.results {
		look := picture.Look{Colour: picture.Colour(r), Dash: c.dash(r)}
		line := picture.Series{Name: c.results[r].name(r), Look: look}
		line.Look.Mark = 1 + r
		dots := picture.Series{Look: picture.Look{Colour: look.Colour, Mark: 1, NoLine: true, Faint: true}}
		points := c.results[r].Result.Points
		for i, front := range load.OnFront(points) {
			p := &points[i]
			switch {
			case !plottable(p):
			case front:
				x := at(p)
				x.Label = join(parametersOf(p).text(k), shortLoad(p))
				line.Points = append(line.Points, x)
			default:
				dots.Points = append(dots.Points, at(p))
			}
		}
		slices.SortFunc(line.Points, func(a, b picture.Point) int { return cmp.Compare(a.X, b.X) })
		panel.Series = append(panel.Series, dots, line)
	}
	c.Panels = []picture.Panel{panel}
	c.Notes = append(c.Notes, "the line joins the Pareto-optimal points")
	return nil
}

// shortLoad formats a load for a label.
func shortLoad(q *load.Point) string {
	switch {
	case q.Timed:
		return "as logged"
	case q.Rate > 0:
		return words.Setting(q.Rate) + "/s"
	}
	return words.Plural(q.Sessions, "session")
}

// maxDistributions is the maximum number of distributions in a plot of a single result.
const maxDistributions = 6

// latency draws the distribution of latency of points that are evenly spaced among those with latencies. The X
// axis is logarithmic in the share of slower requests, because the tail matters (as in HdrHistogram's percentile
// plots).
func (c *resultChart) latency() error {
	panel := picture.Panel{
		X: picture.Axis{
			Label:  "requests at least as fast (%)",
			Guides: []picture.Tick{{At: percentilePlace(0.5), Text: "p50"}, {At: percentilePlace(0.99), Text: "p99"}},
		},
		Y: picture.Axis{Label: "latency (ms)"},
	}
	_, k := c.parameters()
	left := 0
	least, most, beyond := math.Inf(1), 0.0, 2.2
	for r, s := range c.results {
		all := slices.DeleteFunc(render.Pointers(s.Result.Points), func(p *load.Point) bool {
			return p.Latency.Count == 0
		})
		shown := sampleEvenly(all, max(1, maxDistributions/len(c.results)))
		left += len(all) - len(shown)
		for i, p := range shown {
			l := &p.Latency
			line := picture.Series{
				Name: c.label(r, join(shortLoad(p), parametersOf(p).text(k))) + ": p50 " + words.Latency(l.P50, false) +
					", p99 " + words.Latency(l.P99, false),
				Look: picture.Look{Colour: picture.Colour(i), Dash: c.dash(r)}, Points: distribution(l),
			}
			if len(c.results) == 1 {
				line.Look.Dash = i
			}
			for _, at := range line.Points {
				least, most, beyond = min(least, at.Y), max(most, at.Y), max(beyond, at.X)
			}
			panel.Series = append(panel.Series, line)
		}
	}
	if len(panel.Series) == 0 {
		return picture.EmptyError("no point has latencies", "")
	}
	panel.X.From, panel.X.To, panel.X.Ticks = 0, 1.02*beyond, percentileTicks()
	if most > 12*least {
		panel.Y.Log, panel.Y.Label = true, "latency (ms, logarithmic)"
	}
	c.Panels = []picture.Panel{panel}
	if left > 0 {
		c.Notes = append(c.Notes, words.Count(int64(left), "more point is", "more points are")+" not shown")
	}
	return nil
}

func percentileTicks() (list []picture.Tick) {
	for _, q := range []float64{0, 50, 75, 90, 95, 99, 99.5, 99.9, 99.99, 99.999, 99.9999} {
		list = append(list, picture.Tick{At: percentilePlace(q / 100), Text: strconv.FormatFloat(q, 'f', -1, 64)})
	}
	return list
}

// sampleEvenly selects at most n evenly spaced elements of a list, including the first, and the last if n > 1.
func sampleEvenly[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	few := make([]T, n)
	for i := range few {
		few[i] = list[i*(len(list)-1)/max(1, n-1)]
	}
	return few
}

// percentilePlace returns the position of a percentile on the axis: 0, 1, 2 and 3 for 0%, 90%, 99% and 99.9%.
func percentilePlace(q float64) float64 { return -math.Log10(max(1-q, 1e-7)) }

// distribution returns the line of a distribution. X is the percentilePlace of a share of the requests, and Y is
// their maximum latency in milliseconds.
func distribution(l *load.Latency) []picture.Point {
	point := func(q float64, d time.Duration) picture.Point {
		return picture.Point{X: percentilePlace(q), Y: float64(max(1, d)) / 1e6}
	}
	var all, sum int64
	for _, b := range l.Bars {
		all += max(0, b.Count)
	}
	if all <= 0 || len(l.Bars) < 2 {
		return []picture.Point{
			point(0, l.Min), point(0.5, l.P50), point(0.9, l.P90), point(0.95, l.P95), point(0.99, l.P99),
			point(0.999, l.P999),
		}
	}
	line := []picture.Point{point(0, l.Min)}
	for _, b := range l.Bars {
		if b.Count > 0 {
			sum += b.Count
			// the last point is half a request below 100%
			line = append(line, point(min(float64(sum)/float64(all), 1-0.5/float64(all)), b.UpTo))
		}
	}
	return line
}
