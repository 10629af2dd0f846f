package replays

import (
	"strconv"

	"kitescope/render"
	"kitescope/replay"
	"kitescope/replay/load"
	"kitescope/table"
	"kitescope/words"
)

// sweepPart is a row for each load and parameters.
func sweepPart(r *replay.Result, o *render.ReportOptions) render.Part {
	points := r.Points
	front := load.OnFront(points)
	column := func(title string, priority int, text func(p *load.Point) string) table.ColumnOf[int] {
		return table.ColumnOf[int]{Column: table.Column{Title: title, Right: true, Priority: priority}, Shown: func(i int) string { return text(&points[i]) }}
	}
	when := func(x table.ColumnOf[int], has func(p *load.Point) bool) []table.ColumnOf[int] {
		for i := range points {
			if has(&points[i]) {
				return []table.ColumnOf[int]{x}
			}
		}
		return nil
	}
	latency := func(title string, priority int, which int) table.ColumnOf[int] {
		return column(title, priority, func(p *load.Point) string {
			return latencyOf(&p.Latency, latencyFigures(&p.Latency)[which], o)
		})
	}
	var list []table.ColumnOf[int]
	list = append(list, when(column("EF", 0, func(p *load.Point) string { return orDash(p.EF) }), func(p *load.Point) bool { return p.EF > 0 })...)
	list = append(list, when(column("NPROBE", 0, func(p *load.Point) string { return orDash(p.NProbe) }), func(p *load.Point) bool { return p.NProbe > 0 })...)
	list = append(list, when(column("RATE", 0, rateText), open)...)
	list = append(list, when(column("SESSIONS", 0, func(p *load.Point) string { return strconv.Itoa(p.Sessions) }), func(p *load.Point) bool { return !open(p) })...)
	list = append(list,
		column("QPS", 0, func(p *load.Point) string { return words.ThreeDigits(p.QPS) }),
		column(plusMinus(o), 3, func(p *load.Point) string { return words.OrNone(halfInterval(p)) }))
	list = append(list, when(column("/SESSION", 4, perSession), func(p *load.Point) bool { return !open(p) && p.Sessions > 1 })...)
	list = append(list, when(column("SCALING", 6, func(p *load.Point) string { return scalingText(points, p) }), func(p *load.Point) bool { return !open(p) && p.Sessions > 1 })...)
	recall := column("RECALL ", 0, func(p *load.Point) string { return RecallText(p.Recall) })
	recall.Shown = func(i int) string { return RecallText(points[i].Recall) + []string{" ", "*"}[render.BoolInt(front[i])] }
	list = append(list, recall,
		latency("P50", 0, 2), latency("P95", 7, 4), latency("P99", 0, 5), latency("P99.9", 8, 6),
		column("FAILS", 1, failsText),
		column("CPU", 2, func(p *load.Point) string { return knownLatency(p.CPUPerQuery, o) }),
		column("SWITCHES", 9, func(p *load.Point) string { return toldText(p.SwitchesPerQuery) }),
		column("DISTANCES", 9, func(p *load.Point) string { return toldText(p.DistancesPerQuery) }))
	part := render.Part{List: render.Places(len(points), list)}
	for i := range list {
		if list[i].Title == "FAILS" {
			list[i].Role = func(row int) render.Role {
				return []render.Role{render.RolePlain, render.RoleBad}[render.BoolInt(points[row].Failed > 0)]
			}
		}
	}
	part.Head = sweepHead(points, front, o)
	return part
}

func sweepHead(points []load.Point, front []bool, o *render.ReportOptions) []render.Line {
	var lines []render.Line
	if measured := measuredText(&points[0], o); measured != "" {
		text := words.Plural(len(points), "point") + ", " + measured + " each"
		if !hasInterval(&points[0]) {
			text += ": no interval"
		} else {
			text += "; " + plusMinus(o) + " is half of the 95% confidence interval; CPU is of a query"
		}
		lines = append(lines, render.Line{Role: render.RoleDim, Text: text})
	}
	for _, is := range front {
		if is {
			lines = append(lines, render.Line{Role: render.RoleDim, Text: "* no other point has as much QPS and recall, and more of one of them"})
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

// matching is the point of another result that asked the same, nil if there is none.
func matching(r *replay.Result, p *load.Point) *load.Point {
	for i := range r.Points {
		if r.Points[i].Load() == p.Load() {
			return &r.Points[i]
		}
	}
	return nil
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
