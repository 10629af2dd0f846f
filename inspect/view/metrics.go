package view

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
	"kitescope/internal/table"
	"kitescope/internal/words"
)

// metricRow is one series of a process's metrics, with its increase in the process's window.
type metricRow struct {
	process  *model.Process
	family   *model.Family
	series   *model.Series
	window   *metrics.Window
	metric   *metrics.Metric // nil if kitescope does not use the metric
	increase metrics.Increase
}

var processMetrics = define(definition[*metricRow]{
	Resource: Resource{
		Schema: table.Schema{
			Name: "metrics", Names: []string{"metric", "means"}, Handle: "id", Slashes: true,
			Shorthands: map[string]string{"node": "nodes", "name": "metric"},
		},
		Aliases: []string{"prometheus"},
		Doc:     "The processes' /metrics: values, rates, means and quantiles.",
		Needs:   model.PartRuntime,
		Missing: unscraped,
	},
	rows:    metricRows,
	columns: concat(metricNames, metricValues, metricMeans, metricQuantiles, metricWindow),
	ref:     func(_ *Env, m *metricRow) Ref { return Ref{ID: m.id(), Name: m.family.Name} },
	owner: func(_ *Env, m *metricRow) (Ref, bool) {
		if len(m.process.Nodes) == 0 {
			return Ref{}, false
		}
		return Ref{Resource: "nodes", ID: m.process.Nodes[0].ID, Name: m.process.Nodes[0].Name}, true
	},
})

// metricRows returns the series of all processes, sorted by name within each process.
func metricRows(e *Env) []*metricRow {
	if e.Cluster.Runtime == nil {
		return nil
	}
	var list []*metricRow
	for _, p := range e.Cluster.Runtime.Processes {
		if p.Metrics == nil {
			continue
		}
		w := metrics.NewWindow(p.Before, p.Metrics)
		for _, name := range slices.Sorted(maps.Keys(p.Metrics.Families)) {
			f := p.Metrics.Families[name]
			known := metrics.Find(name)
			w.EachSeries(f, func(s *model.Series, came metrics.Increase) {
				list = append(list, &metricRow{p, f, s, w, known, came})
			})
		}
	}
	return list
}

// processName returns the first session of the process, otherwise its address.
func (m *metricRow) processName() string {
	if len(m.process.Nodes) > 0 {
		return m.process.Nodes[0].ID
	}
	return m.process.Address
}

// id returns the process and the series in PromQL syntax.
func (m *metricRow) id() string {
	labels := make([]string, len(m.series.Labels))
	for i, l := range m.series.Labels {
		labels[i] = l.Key + "=" + strconv.Quote(l.Value)
	}
	return m.processName() + "/" + m.family.Name + "{" + strings.Join(labels, ",") + "}"
}

func (m *metricRow) distribution() bool { return m.family.Kind >= model.MetricHistogram }

// unit returns the unit from the table of known metrics, otherwise the one that the name ends with, or "".
func (m *metricRow) unit() string {
	if m.metric != nil {
		return string(m.metric.Unit)
	}
	for suffix, unit := range map[string]string{
		"_seconds": "s", "_seconds_total": "s", "_bytes": "bytes", "_bytes_total": "bytes", "_ms": "ms",
	} {
		if strings.HasSuffix(m.family.Name, suffix) {
			return unit
		}
	}
	return ""
}

var metricNames = []column[*metricRow]{
	col(table.Column{Name: "id", Show: table.Hidden, Doc: "process/metric{labels}: the name of the series."},
		func(_ *Env, m *metricRow) table.Cell { return text(m.id()) }),
	col(table.Column{
		Name: "nodes", Title: "NODE", Kind: table.List,
		Doc: "Sessions of the process, role-id; a standalone has several.",
	}, func(_ *Env, m *metricRow) table.Cell {
		names := make([]string, len(m.process.Nodes))
		for i, n := range m.process.Nodes {
			names[i] = n.ID
		}
		return list(names)
	}),
	col(table.Column{
		Name: "address", Show: table.Wide, Priority: 8, Doc: "Address of the process; empty for a text from a file.",
	}, func(_ *Env, m *metricRow) table.Cell { return text(m.process.Address) }),
	col(table.Column{
		Name: "metric", MinWidth: 40,
		Doc: "Name on /metrics; for a histogram, without _sum, _count and _bucket.", Shorten: true,
	},
		func(_ *Env, m *metricRow) table.Cell { return text(m.family.Name) }),
	col(table.Column{Name: "labels", Kind: table.Pairs, Shorten: true, Doc: "Labels of the series."},
		func(_ *Env, m *metricRow) table.Cell {
			var flat []string
			for _, l := range m.series.Labels {
				flat = append(flat, l.Key, l.Value)
			}
			return list(flat)
		}),
	col(table.Column{
		Name: "means", Show: table.Wide, Priority: 7,
		Doc: "kitescope's name for it, the same in all releases; empty if unused.",
	}, func(_ *Env, m *metricRow) table.Cell {
		if m.metric == nil {
			return none()
		}
		return text(string(m.metric.Name))
	}),
	col(table.Column{
		Name: "about", Show: table.Hidden,
		Doc: "What it measures, if kitescope uses it.",
	}, func(_ *Env, m *metricRow) table.Cell {
		if m.metric == nil {
			return none()
		}
		return text(m.metric.Help)
	}),
	col(table.Column{
		Name: "kind", Kind: table.State, Show: table.Wide, Priority: 9,
		Doc: "counter, gauge, histogram, summary or untyped.",
	}, func(_ *Env, m *metricRow) table.Cell { return text(m.family.Kind.String()) }),
	col(table.Column{Name: "unit", Priority: 1, Doc: "ms, us, s, bytes, ratio, unix seconds; empty for counts."},
		func(_ *Env, m *metricRow) table.Cell { return text(m.unit()) }),
}

var metricValues = []column[*metricRow]{
	col(table.Column{
		Name: "now", Title: "VALUE", AlignRight: true, For: table.People,
		Doc: "Newest value of a gauge, a counter or an untyped metric.",
	}, func(_ *Env, m *metricRow) table.Cell {
		if m.distribution() {
			return none()
		}
		return text(shortNumber(m.series.Value))
	}),
	col(table.Column{
		Name: "value", Kind: table.Exact, Show: table.Hidden,
		Doc: "Newest value of a gauge, counter or untyped metric; empty for a histogram or summary.",
	}, func(_ *Env, m *metricRow) table.Cell {
		if m.distribution() {
			return none()
		}
		return number(m.series.Value)
	}),
	col(table.Column{
		Name: "rate", AlignRight: true, For: table.People, Priority: 1,
		Doc: "Increase of a counter, or observations, per second.",
	}, func(_ *Env, m *metricRow) table.Cell {
		c := m.perSecond()
		if c.Absent == table.Present {
			return text(shortNumber(c.Float))
		}
		return c
	}),
	col(table.Column{
		Name: "per_second", Kind: table.Exact, Show: table.Hidden,
		Doc: "Increase or observations per second; empty for gauges, unknown without a time window.",
	},
		func(_ *Env, m *metricRow) table.Cell { return m.perSecond() }),
	col(table.Column{
		Name: "came", Kind: table.Exact, Show: table.Hidden,
		Doc: "Increase of a counter in the window.",
	}, func(_ *Env, m *metricRow) table.Cell {
		if m.family.Kind != model.MetricCounter {
			return none()
		}
		return number(m.increase.Value)
	}),
	col(table.Column{
		Name: "count", Kind: table.Exact, Priority: 3,
		Doc: "Observations in the window, for a histogram or summary.",
	},
		distributionColumn(func(h metrics.Histogram) table.Cell { return number(h.Count) })),
	col(table.Column{
		Name: "sum", Kind: table.Exact, Show: table.Hidden,
		Doc: "Sum of these observations.",
	},
		distributionColumn(func(h metrics.Histogram) table.Cell { return number(h.Sum) })),
}

func (m *metricRow) perSecond() table.Cell {
	came := m.increase.Value
	switch {
	case m.distribution():
		came = m.increase.Histogram.Count
	case m.family.Kind != model.MetricCounter:
		return none()
	}
	if seconds := m.window.Seconds(); seconds > 0 {
		return number(came / seconds)
	}
	return unknown()
}

// shortNumber formats a number for people.
func shortNumber(v float64) string {
	if abs := math.Abs(v); abs >= 1000 && abs < 1e15 {
		return words.Number(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// number returns the cell of a value. NaN and infinite values are unknown.
func number(v float64) table.Cell {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return unknown()
	}
	return table.Cell{Float: v}
}

// distributionColumn returns a column function for histograms and summaries. The cell is none for other metrics.
func distributionColumn(cell func(metrics.Histogram) table.Cell) func(*Env, *metricRow) table.Cell {
	return func(_ *Env, m *metricRow) table.Cell {
		if !m.distribution() {
			return none()
		}
		return cell(m.increase.Histogram)
	}
}

var metricMeans = []column[*metricRow]{
	col(table.Column{
		Name: "mean", AlignRight: true, For: table.People, Priority: 2,
		Doc: "Mean of the observations; an interval if they are truncated to whole milliseconds.",
	}, distributionColumn(func(h metrics.Histogram) table.Cell {
		low, high, ok := h.Mean()
		return interval(low, high, ok)
	})),
	col(table.Column{
		Name: "mean_low", Kind: table.Exact, Show: table.Hidden,
		Doc: "Lower bound of the mean.",
	}, distributionColumn(func(h metrics.Histogram) table.Cell {
		low, _, ok := h.Mean()
		return endpoint(low, ok)
	})),
	col(table.Column{
		Name: "mean_high", Kind: table.Exact, Show: table.Hidden,
		Doc: "Upper bound of the mean: 1 ms more if values are truncated to whole milliseconds.",
	}, distributionColumn(func(h metrics.Histogram) table.Cell {
		_, high, ok := h.Mean()
		return endpoint(high, ok)
	})),
}

// endpoint returns the cell for one end of an interval. It is none if there is no interval or the end is
// infinite.
func endpoint(v float64, ok bool) table.Cell {
	if !ok || math.IsInf(v, 0) {
		return none()
	}
	return number(v)
}

// interval returns the cell of an interval, formatted for people.
func interval(low, high float64, ok bool) table.Cell {
	switch {
	case !ok:
		return none()
	case math.IsInf(high, 1):
		return text("> " + shortNumber(low))
	case low == high:
		return text(shortNumber(low))
	}
	return text(shortNumber(low) + "-" + shortNumber(high))
}

var metricQuantiles = slices.Concat(quantileColumns(50, 4, table.Always), quantileColumns(95, 6, table.Wide),
	quantileColumns(99, 1, table.Always))

// quantileColumns returns the columns of one quantile: the bucket that contains it, without interpolation.
func quantileColumns(percent, priority int, show table.Show) []column[*metricRow] {
	name := fmt.Sprintf("p%d", percent)
	at := func(m *metricRow) (low, high float64, ok bool) {
		share := float64(percent) / 100
		if i := slices.IndexFunc(m.series.Quantiles, func(q model.Quantile) bool { return q.Share == share }); i >= 0 {
			return m.series.Quantiles[i].Value, m.series.Quantiles[i].Value, true
		}
		return m.increase.Histogram.Quantile(share)
	}
	return []column[*metricRow]{
		col(table.Column{
			Name: name, AlignRight: true, For: table.People, Show: show, Priority: priority,
			Doc: fmt.Sprintf("The bucket that holds the %d-th percentile.", percent),
		}, func(_ *Env, m *metricRow) table.Cell {
			if !m.distribution() {
				return none()
			}
			return interval(at(m))
		}),
		col(table.Column{
			Name: name + "_low", Kind: table.Exact, Show: table.Hidden,
			Doc: fmt.Sprintf("The %d-th percentile is above this: the lower bound of its bucket; for a summary, its "+
				"value since start.", percent),
		}, func(_ *Env, m *metricRow) table.Cell {
			low, _, ok := at(m)
			return endpoint(low, ok && m.distribution())
		}),
		col(table.Column{
			Name: name + "_high", Kind: table.Exact, Show: table.Hidden,
			Doc: "It is at most this: the upper bound of its bucket; none beyond the last.",
		}, func(_ *Env, m *metricRow) table.Cell {
			_, high, ok := at(m)
			return endpoint(high, ok && m.distribution())
		}),
	}
}

var metricWindow = []column[*metricRow]{
	col(table.Column{
		Name: "buckets", Kind: table.Pairs, Show: table.Hidden,
		Doc: "Observations up to each bound in the window.",
	}, func(_ *Env, m *metricRow) table.Cell {
		var flat []string
		for i, v := range m.increase.Histogram.Buckets {
			flat = append(flat, strconv.FormatFloat(m.increase.Histogram.Bounds[i], 'g', -1, 64),
				strconv.FormatFloat(v, 'g', -1, 64))
		}
		return list(flat)
	}),
	col(table.Column{
		Name: "window_seconds", Kind: table.Duration, Show: table.Wide, Priority: 6,
		Doc: "Length of the window: between two scrapes of the process, else since it started.",
	}, func(_ *Env, m *metricRow) table.Cell {
		if seconds := m.window.Seconds(); seconds > 0 && seconds < math.MaxInt64/float64(time.Second) {
			return count(int64(seconds * float64(time.Second)))
		}
		return unknown()
	}),
	col(table.Column{
		Name: "since_start", Kind: table.Bool, Show: table.Hidden,
		Doc: "Whether the window is since the start of the process.",
	}, func(_ *Env, m *metricRow) table.Cell { return yesNo(m.window.SinceStart) }),
	col(table.Column{
		Name: "window", Show: table.Hidden,
		Doc: "Description of the window, and why it begins at the start of the process.",
	},
		func(_ *Env, m *metricRow) table.Cell { return text(m.window.Reason) }),
	col(table.Column{
		Name: "scraped_at", Kind: table.Time, Show: table.Hidden,
		Doc: "Time of the newest scrape; empty for a text from a file.",
	}, func(_ *Env, m *metricRow) table.Cell { return timeCell(m.process.Metrics.At) }),
}

// Windows returns a text with the time windows of the rates and distributions in a table of metrics. It
// returns "" for other tables.
func Windows(g *Grid) string {
	t, ok := g.Table.(*boundTable[*metricRow])
	if !ok || g.Len() == 0 {
		return ""
	}
	counts := map[string]int{}
	seen := map[*model.Process]bool{}
	for i := range g.Len() {
		if m := t.rows[g.Row(i)]; !seen[m.process] {
			seen[m.process] = true
			why := m.window.Reason
			if !m.window.SinceStart {
				why += fmt.Sprintf(", %s apart", words.Age(m.window.To.Sub(m.window.From).Round(time.Second)))
			}
			counts[why]++
		}
	}
	var parts []string
	for _, why := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	}) {
		part := why
		if len(counts) > 1 {
			part = fmt.Sprintf("%s (%s)", why, words.Count(counts[why], "process", "processes"))
		}
		parts = append(parts, part)
	}
	return "rates, means and quantiles are " + strings.Join(parts, "; ")
}

// unscraped returns the processes whose metrics are missing or incomplete, with the reasons.
func unscraped(c *model.Cluster) []string {
	r := c.Runtime
	if r == nil {
		return []string{"no process was queried"}
	}
	var lines []string
	reasons := map[string]bool{}
	for _, s := range r.Skipped {
		if strings.HasPrefix(s.What, "metrics of ") {
			reasons[s.What] = true
			lines = append(lines, s.What+": "+s.Reason)
		}
	}
	for _, n := range r.Nodes {
		switch p := n.Process; {
		case p == nil && reasons["metrics of "+n.Name()]:
		case p == nil:
			lines = append(lines, n.Name()+": "+cmp.Or(n.Reason, "its metrics are unknown"))
		case p.Metrics == nil:
			lines = append(lines, n.Name()+": "+cmp.Or(p.Reason, p.Outcome.String()))
		}
	}
	return lines
}
