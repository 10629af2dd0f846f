package replays

import (
	"slices"
	"strconv"

	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/replay/load"
)

// pointTable is a row for each load and parameters. People see the parameters that any of the points has.
func pointTable(points []load.Point, front []bool, o *render.ReportOptions) *table.Rows[*load.Point] {
	type point = *load.Point
	rows := render.Pointers(points)
	columns := pointFields()
	some := func(has func(p point) bool) bool { return slices.ContainsFunc(rows, has) }
	show := func(name, title string, priority int, text func(p point) string) {
		table.Titled(columns, name, title, priority, text)
	}
	picture := func(name, title string, priority int, shown bool, text func(p point) string) {
		c := table.Picture(name, title, priority, text)
		if !shown {
			c.Show = table.Hidden
		}
		columns = append(columns, c)
	}
	latency := func(name, title string, priority int, which int) {
		show("latency_"+name+"_seconds", title, priority, func(p point) string { return latencyOf(&p.Latency, latencyFigures(&p.Latency)[which], o) })
	}
	starred := map[point]bool{}
	for i, is := range front {
		starred[rows[i]] = is
	}
	several := func(p point) bool { return !open(p) && p.Sessions > 1 }
	if some(func(p point) bool { return p.EF > 0 }) {
		show("ef", "EF", 0, func(p point) string { return orDash(p.EF) })
	}
	if some(func(p point) bool { return p.NProbe > 0 }) {
		show("nprobe", "NPROBE", 0, func(p point) string { return orDash(p.NProbe) })
	}
	if some(open) {
		show("rate", "RATE", 0, rateText)
	}
	if some(func(p point) bool { return !open(p) }) {
		show("sessions", "SESSIONS", 0, func(p point) string { return strconv.Itoa(p.Sessions) })
	}
	show("qps", "QPS", 0, func(p point) string { return words.ThreeDigits(p.QPS) })
	picture("interval", plusMinus(o), 3, true, func(p point) string { return words.OrNone(halfInterval(p)) })
	picture("per_session", "/SESSION", 4, some(several), perSession)
	picture("scaling", "SCALING", 6, some(several), func(p point) string { return scalingText(points, p) })
	show("recall", "RECALL ", 0, func(p point) string { return RecallText(p.Recall) + []string{" ", "*"}[render.BoolInt(starred[p])] })
	latency("p50", "P50", 0, 2)
	latency("p95", "P95", 7, 4)
	latency("p99", "P99", 0, 5)
	latency("p999", "P99.9", 8, 6)
	table.Titled(columns, "failed", "FAILS", 1, failsText).Role = func(p point) render.Role {
		return []render.Role{render.RolePlain, render.RoleBad}[render.BoolInt(p.Failed > 0)]
	}
	show("cpu_per_query_seconds", "CPU", 2, func(p point) string { return knownLatency(p.CPUPerQuery, o) })
	show("switches_per_query", "SWITCHES", 9, func(p point) string { return toldText(p.SwitchesPerQuery) })
	show("distances_per_query", "DISTANCES", 9, func(p point) string { return toldText(p.DistancesPerQuery) })
	return table.New(table.Schema{
		Name: "points", Singular: "point", Sparse: true,
		Order: []string{
			"ef", "nprobe", "rate", "sessions", "qps", "interval", "per_session", "scaling", "recall", "latency_p50_seconds", "latency_p95_seconds",
			"latency_p99_seconds", "latency_p999_seconds", "failed", "cpu_per_query_seconds", "switches_per_query", "distances_per_query",
		},
	}, rows, columns)
}

func sweepHead(points []load.Point, front []bool, o *render.ReportOptions) []render.Line {
	var lines []render.Line
	if measured := measuredText(&points[0], o); measured != "" {
		text := words.Plural(len(points), "point") + ", " + measured + " each"
		if !hasInterval(&points[0]) {
			text += ": no interval"
		} else {
			text += "; " + plusMinus(o) + " is half of the 95% confidence interval; CPU is per query"
		}
		lines = append(lines, render.Line{Role: render.RoleDim, Text: text})
	}
	for _, is := range front {
		if is {
			lines = append(lines, render.Line{Role: render.RoleDim, Text: "* Pareto-optimal: no other point has both higher QPS and higher recall"})
			break
		}
	}
	for i := range points {
		if p := &points[i]; p.Stopped != "" {
			lines = append(lines, render.Line{Role: render.RoleBad, Text: "stopped at " + ArrivalText(p) + ", " + parametersText(p) + ": " + render.Harmless(p.Stopped)})
		}
	}
	return lines
}

func rateText(p *load.Point) string {
	switch {
	case p.Timed:
		return "as logged"
	case p.Rate > 0:
		return words.Setting(p.Rate) + "/s"
	}
	return words.NoneMark
}

func perSession(p *load.Point) string {
	if open(p) || p.Sessions <= 0 {
		return words.NoneMark
	}
	return words.ThreeDigits(p.QPS / float64(p.Sessions))
}

func toldText(x float64) string {
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

// scalingText is how many times the QPS of the fewest sessions with the same parameters.
func scalingText(points []load.Point, p *load.Point) string {
	if open(p) {
		return words.NoneMark
	}
	fewest := p
	for i := range points {
		q := &points[i]
		if !open(q) && q.EF == p.EF && q.NProbe == p.NProbe && q.K == p.K && q.Sessions < fewest.Sessions {
			fewest = q
		}
	}
	if fewest.QPS <= 0 {
		return words.UnknownMark
	}
	return "x" + words.ThreeDigits(p.QPS/fewest.QPS)
}
