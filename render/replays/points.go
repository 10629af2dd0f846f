package replays

import (
	"slices"
	"strconv"

	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/replay/load"
)

// pointRow is a point of a result. The name of the result is "" if there is only one result.
type pointRow struct {
	name, short, target string
	point               *load.Point
	front               bool // no other point of the result has both higher QPS and higher recall
}

// pointTable returns a table with a row per load and parameters. People see the parameters that are set in at
// least one point.
func pointTable(rows []pointRow, several bool, o *render.ReportOptions) *table.Rows[pointRow] {
	var columns []table.ColumnOf[pointRow]
	schema := table.Schema{Name: "points", Singular: "point", Sparse: true, Order: []string{
		"result", "target", "ef", "nprobe", "rate", "sessions", "qps", "interval", "recall", "latency_p50_seconds",
		"latency_p95_seconds", "latency_p99_seconds", "latency_p999_seconds", "failed", "cpu_per_query_seconds",
		"voluntary_per_query", "involuntary_per_query", "distances_per_query",
	}}
	if several {
		schema.Names = []string{"result"}
		columns = []table.ColumnOf[pointRow]{
			render.TextKey("result", func(r pointRow) string { return r.name }).WithTitle("RESULT", 0,
				func(r pointRow) string { return r.short }),
			render.TextKey("target", func(r pointRow) string { return r.target }),
			render.Key("front", table.Bool, func(r pointRow) table.Cell { return table.OfBool(r.front) }),
		}
	} else {
		schema.Order = schema.Order[2:]
	}
	for _, c := range pointFields() {
		columns = append(columns, table.ColumnOf[pointRow]{
			Column: c.Column, Cell: func(r pointRow) table.Cell { return c.Cell(r.point) },
		})
	}
	some := func(has func(p *load.Point) bool) bool {
		return slices.ContainsFunc(rows, func(r pointRow) bool { return has(r.point) })
	}
	show := func(name, title string, priority int, text func(p *load.Point) string) {
		table.SetTitle(columns, name, title, priority, func(r pointRow) string { return text(r.point) })
	}
	latency := func(name, title string, priority, which int) {
		show("latency_"+name+"_seconds", title, priority, func(p *load.Point) string {
			return latencyOf(&p.Latency, latencyFigures(&p.Latency)[which], o)
		})
	}
	if some(func(p *load.Point) bool { return p.EF > 0 }) {
		show("ef", "EF", 0, func(p *load.Point) string { return orDash(p.EF) })
	}
	if some(func(p *load.Point) bool { return p.NProbe > 0 }) {
		show("nprobe", "NPROBE", 0, func(p *load.Point) string { return orDash(p.NProbe) })
	}
	if some(open) {
		show("rate", "RATE", 0, rateText)
	}
	if some(func(p *load.Point) bool { return !open(p) }) {
		show("sessions", "SESSIONS", 0, func(p *load.Point) string { return strconv.Itoa(p.Sessions) })
	}
	show("qps", "QPS", 0, func(p *load.Point) string { return words.ThreeDigits(p.QPS) })
	columns = append(columns,
		table.DisplayColumn("interval", plusMinus(o), 3, func(r pointRow) string {
			return words.OrNone(halfInterval(r.point))
		}))
	table.SetTitle(columns, "recall", "RECALL ", 0, func(r pointRow) string {
		return recallText(r.point.Recall) + []string{" ", "*"}[render.BoolInt(r.front)]
	})
	latency("p50", "P50", 2, 2)
	latency("p95", "P95", 7, 4)
	latency("p99", "P99", 0, 5)
	latency("p999", "P99.9", 8, 6)
	table.SetTitle(columns, "failed", "FAILS", 1, func(r pointRow) string { return failsText(r.point) }).Role = func(
		r pointRow,
	) render.Role {
		return []render.Role{render.RolePlain, render.RoleBad}[render.BoolInt(r.point.Failed > 0)]
	}
	show("cpu_per_query_seconds", "CPU", 1, func(p *load.Point) string { return knownLatency(p.CPUPerQuery, o) })
	show("voluntary_per_query", "VOL", 4, func(p *load.Point) string { return switchesText(p, p.VoluntaryPerQuery) })
	show("involuntary_per_query", "INVOL", 5, func(p *load.Point) string {
		return switchesText(p, p.InvoluntaryPerQuery)
	})
	show("distances_per_query", "DISTANCES", 9, func(p *load.Point) string { return knownText(p.DistancesPerQuery) })
	return table.New(schema, rows, columns)
}

// pointRows returns the points of a result as rows.
func pointRows(points []load.Point) []pointRow {
	var rows []pointRow
	for i, front := range load.OnFront(points) {
		rows = append(rows, pointRow{point: &points[i], front: front})
	}
	return rows
}

// pointLegend explains the marks in a table of points.
const pointLegend = "* Pareto-optimal: no other point of the result has both higher QPS and higher recall; " +
	"CPU, VOL and INVOL (context switches) are per query"

func sweepHead(points []load.Point, o *render.ReportOptions) []render.Line {
	var lines []render.Line
	if measured := measuredText(&points[0], o); measured != "" {
		text := words.Plural(len(points), "point") + ", " + measured + " each"
		if hasInterval(&points[0]) {
			text += "; " + plusMinus(o) + " is half of the 95% confidence interval"
		} else {
			text += ": no interval"
		}
		lines = append(lines, render.Line{Role: render.RoleDim, Text: text})
	}
	lines = append(lines, render.Line{Role: render.RoleDim, Text: pointLegend})
	for i := range points {
		if p := &points[i]; p.Stopped != "" {
			lines = append(lines, render.Line{
				Role: render.RoleBad,
				Text: "stopped at " + join(arrivalText(p), parametersText(p)) + ": " + render.Harmless(p.Stopped),
			})
		}
	}
	return lines
}

func rateText(p *load.Point) string {
	if !open(p) {
		return words.NoneMark
	}
	return shortLoad(p)
}

// knownText formats a figure, or returns "?" for 0, which means unknown.
func knownText(x float64) string {
	if x <= 0 {
		return words.UnknownMark
	}
	return words.ThreeDigits(x)
}

func failsText(p *load.Point) string {
	if p.Failed == 0 {
		return "0"
	}
	return words.Share(ratioOf(float64(p.Failed), float64(p.Asked)))
}

// switchesText formats the number of voluntary or of involuntary context switches, or returns "?" if the kinds
// are unknown.
func switchesText(p *load.Point, x float64) string {
	if !switchKinds(p) {
		return words.UnknownMark
	}
	return words.ThreeDigits(x)
}
