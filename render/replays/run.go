package replays

import (
	"math"
	"strconv"
	"strings"

	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/replay"
	"kitescope/replay/load"
)

// pointLines returns the figures of a point, which show how the load performs.
func pointLines(p *load.Point, o *render.ReportOptions) []render.Line {
	lines := labelled(o, render.RolePlain, "load", loadLine(p, o))
	if p.Stopped != "" {
		lines = append(lines, labelled(o, render.RoleBad, "STOPPED", render.Harmless(p.Stopped))...)
	}
	lines = append(lines, labelled(o, render.RoleTitle, "QPS", qpsLine(p, o))...)
	lines = append(lines, latencyLines(p, o)...)
	lines = append(lines, failLines(p, o)...)
	lines = append(lines, labelled(o, render.RolePlain, "per query", costText(p, o))...)
	for _, n := range p.Notes {
		lines = append(lines, labelled(o, render.RoleDim, "note", render.Harmless(n))...)
	}
	return lines
}

func loadLine(p *load.Point, o *render.ReportOptions) string {
	text := arrivalText(p)
	if open(p) && p.Sessions > 0 {
		text += ", " + words.Plural(p.Sessions, "session")
	}
	if p.Open > 0 && p.Open < p.Sessions {
		text += " (" + strconv.Itoa(p.Open) + " could be opened)"
	}
	if params := parametersText(p); params != "" {
		text += ", " + params
	}
	if measured := measuredText(p, o); measured != "" {
		text += "; " + measured
	}
	if open(p) {
		text += "; latency counts from when a request should have been sent"
	}
	return text
}

// qpsLine formats QPS: "12,345 ± 230 (95% CI 12,115 to 12,575 over 5 rounds); 1,543 a session".
func qpsLine(p *load.Point, o *render.ReportOptions) string {
	text := words.ThreeDigits(p.QPS)
	if hasInterval(p) {
		text += " " + plusMinus(o) + " " + halfInterval(p) + " (95% CI " + words.ThreeDigits(p.QPSLow) + " to " +
			words.ThreeDigits(p.QPSHigh) + " over " + words.Plural(len(p.Repeats), "round") + ")"
	} else {
		text += ", one round: no interval"
	}
	if !open(p) && p.Sessions > 1 {
		text += "; " + words.ThreeDigits(p.QPS/float64(p.Sessions)) + " a session"
	}
	return text
}

func latencyLines(p *load.Point, o *render.ReportOptions) []render.Line {
	l := &p.Latency
	if l.Count == 0 {
		return labelled(o, render.RoleDim, "latency", words.UnknownMark+": no answers")
	}
	lines := labelled(o, render.RolePlain, "latency", figures(o, "avg min max", l.Mean, l.Min, l.Max))
	lines = append(lines,
		labelled(o, render.RolePlain, "", figures(o, "p50 p90 p95 p99 p99.9", l.P50, l.P90, l.P95, l.P99, l.P999))...)
	if w := &p.Waited; w.Count > 0 && w.Max > 0 {
		lines = append(lines,
			labelled(o, render.RolePlain, "  waited", figures(o, "avg p50 p99 max", w.Mean, w.P50, w.P99, w.Max))...)
	}
	if p.Late > 0 {
		lines = append(lines,
			labelled(o, render.RoleWarn, "  late",
				words.Count(p.Late, "request", "requests")+" sent late: all sessions were busy")...)
	}
	if p.Unsent > 0 {
		lines = append(lines,
			labelled(o, render.RoleBad, "  unsent",
				words.Count(p.Unsent, "request was", "requests were")+
					" never sent: no free session until the end; not counted elsewhere")...)
	}
	return lines
}

// failLines returns lines with the number of failed requests. Their latencies are separate, because errors can
// be fast and must not be counted as responses.
func failLines(p *load.Point, o *render.ReportOptions) []render.Line {
	text := "0 of " + words.Count(p.Asked, "request", "requests")
	if p.Failed == 0 {
		return labelled(o, render.RolePlain, "fails", text)
	}
	text = words.Number(p.Failed) + " of " + words.Count(p.Asked, "request", "requests") + " (" +
		words.Share(ratioOf(float64(p.Failed), float64(p.Asked))) + ")"
	if l := &p.FailedLatency; l.Count > 0 {
		text += "; their latency: p50 " + words.Latency(l.P50, o.ASCII) + ", p99 " + words.Latency(l.P99, o.ASCII) +
			" (not included above)"
	}
	lines := labelled(o, render.RoleBad, "fails", text)
	keys := byCount(p.Errors)
	for _, k := range keys[:o.Shown(len(keys))] {
		lines = append(lines, labelled(o, render.RoleDim, "", timesText(p.Errors[k])+": "+render.Harmless(k))...)
	}
	return append(lines, indented(o.More(len(keys)))...)
}

// costText formats the cost of a query: "CPU 640 µs, context switches 1.2, distances computed 45,000".
func costText(p *load.Point, o *render.ReportOptions) string {
	return "CPU " + knownLatency(p.CPUPerQuery, o) + ", context switches " + knownText(p.SwitchesPerQuery) +
		", distances computed " + knownText(p.DistancesPerQuery)
}

func timesText(n int64) string {
	if n == 1 {
		return "once"
	}
	return words.Number(n) + " times"
}

func recallLines(r *replay.Result, o *render.ReportOptions) []render.Line {
	c := r.Recall
	if c == nil {
		return labelled(o, render.RoleDim, "recall", words.UnknownMark+": not compared")
	}
	text := recallText(c.Mean)
	if c.High > c.Low {
		text += " (95% CI " + recallText(c.Low) + " to " + recallText(c.High) + ")"
	}
	text += " over " + words.Count(int64(c.Queries), "query", "queries")
	if c.Worst < 1 {
		text += "; worst: query " + strconv.Itoa(c.WorstQuery) + " with " + strconv.FormatFloat(c.Worst, 'f', 2, 64)
	}
	if c.Against != "" {
		text += "; truth: " + render.Harmless(c.Against)
	}
	role := render.RolePlain
	switch {
	case c.Unseen > 0:
		role = render.RoleWarn
		text += " among the " + words.Share(1-c.Unseen) + " of the rows that were loaded: recall over all rows unknown"
	case c.Unseen < 0:
		role = render.RoleWarn
		text += " among the rows that were loaded (total unknown): recall over all rows unknown"
	}
	return labelled(o, role, "recall@"+strconv.Itoa(c.K), text)
}

// differenceLines returns lines about the differences between the results and the reference, and their reasons.
func differenceLines(r *replay.Result, o *render.ReportOptions) []render.Line {
	d := r.Differences
	if d == nil {
		return nil
	}
	part := func(n int) string { return words.Share(ratioOf(float64(n), float64(d.Hits))) }
	text := words.Number(int64(d.Equal)) + " of " + words.Count(int64(d.Hits), "hit", "hits") + " (" + part(d.Equal) +
		") equal at the same rank, " +
		part(d.SameSet) + " at any rank"
	if d.Equal > 0 {
		text += "; distances of " + words.Share(ratioOf(float64(d.BitEqual), float64(d.Equal))) + " bit-identical"
	}
	if d.Against != "" {
		text += "; against " + render.Harmless(d.Against)
	}
	role := render.RoleGood
	if d.Equal < d.Hits {
		role = render.RolePlain
	}
	lines := labelled(o, role, "same hits", text)
	explained := 0
	for _, reason := range byCount(d.Explained) {
		explained += d.Explained[reason]
		lines = append(lines,
			labelled(o, render.RoleDim, "",
				words.Number(int64(d.Explained[reason]))+" differ: "+render.Harmless(reason))...)
	}
	if rest := d.Hits - d.Equal - explained; rest > 0 {
		lines = append(lines,
			labelled(o, render.RoleBad, "", words.Number(int64(rest))+" differ for no known reason")...)
	}
	if len(d.Examples) > 0 {
		lines = append(lines, labelled(o, render.RoleDim, "", "examples are in -o json")...)
	}
	return lines
}

// pointFields returns the columns of a point for scripts, in the units of saved results.
func pointFields() []table.ColumnOf[*load.Point] {
	field := render.Key[*load.Point]
	list := []table.ColumnOf[*load.Point]{
		field("sessions", table.Int, func(p *load.Point) table.Cell { return render.PositiveCell(p.Sessions) }),
		field("rate", table.Exact, func(p *load.Point) table.Cell { return presentCell(p.Rate) }),
		field("timed", table.Bool, func(p *load.Point) table.Cell { return table.OfBool(p.Timed) }),
		field("k", table.Int, func(p *load.Point) table.Cell { return render.PositiveCell(p.K) }),
		field("ef", table.Int, func(p *load.Point) table.Cell { return render.PositiveCell(p.EF) }),
		field("nprobe", table.Int, func(p *load.Point) table.Cell { return render.PositiveCell(p.NProbe) }),
		field("rounds", table.Int, func(p *load.Point) table.Cell { return table.OfInt(int64(len(p.Repeats))) }),
		field("qps", table.Exact, func(p *load.Point) table.Cell { return render.FiniteCell(p.QPS) }),
		field("qps_low", table.Exact, func(p *load.Point) table.Cell { return intervalCell(p, p.QPSLow) }),
		field("qps_high", table.Exact, func(p *load.Point) table.Cell { return intervalCell(p, p.QPSHigh) }),
		field("recall", table.Exact, func(p *load.Point) table.Cell {
			if p.Recall < 0 || math.IsNaN(p.Recall) {
				return table.OfUnknown()
			}
			return table.OfFloat(p.Recall)
		}),
		field("asked", table.Int, func(p *load.Point) table.Cell { return table.OfInt(p.Asked) }),
		field("failed", table.Int, func(p *load.Point) table.Cell { return table.OfInt(p.Failed) }),
		field("unsent", table.Int, func(p *load.Point) table.Cell { return table.OfInt(p.Unsent) }),
		field("late", table.Int, func(p *load.Point) table.Cell { return table.OfInt(p.Late) }),
		field("cpu_per_query_seconds", table.Exact, func(p *load.Point) table.Cell {
			return knownCell(p.CPUPerQuery.Seconds())
		}),
		field("switches_per_query", table.Exact,
			func(p *load.Point) table.Cell { return knownCell(p.SwitchesPerQuery) }),
		field("voluntary_per_query", table.Exact, func(p *load.Point) table.Cell {
			return kindCell(p, p.VoluntaryPerQuery)
		}),
		field("involuntary_per_query", table.Exact, func(p *load.Point) table.Cell {
			return kindCell(p, p.InvoluntaryPerQuery)
		}),
		field("distances_per_query", table.Exact, func(p *load.Point) table.Cell {
			return knownCell(p.DistancesPerQuery)
		}),
	}
	for _, x := range []struct {
		name string
		get  func(p *load.Point) *load.Latency
	}{
		{"latency", func(p *load.Point) *load.Latency { return &p.Latency }},
		{"failed_latency", func(p *load.Point) *load.Latency { return &p.FailedLatency }},
		{"waited", func(p *load.Point) *load.Latency { return &p.Waited }},
	} {
		list = append(list, latencyFields(x.name, x.get)...)
	}
	return append(list, field("stopped", table.Text, func(p *load.Point) table.Cell { return table.Of(p.Stopped) }))
}

// kindCell returns the cell of the voluntary or of the involuntary context switches. Both are unknown if both
// are 0.
func kindCell(p *load.Point, x float64) table.Cell {
	if !switchKinds(p) {
		return table.OfUnknown()
	}
	return table.OfFloat(x)
}

// switchKinds reports whether the kinds of a point's context switches are known.
func switchKinds(p *load.Point) bool { return p.VoluntaryPerQuery > 0 || p.InvoluntaryPerQuery > 0 }

func latencyFields(name string, get func(p *load.Point) *load.Latency) []table.ColumnOf[*load.Point] {
	var list []table.ColumnOf[*load.Point]
	for i, figure := range strings.Fields("mean min p50 p90 p95 p99 p999 max") {
		list = append(list, render.Key(name+"_"+figure+"_seconds", table.Exact, func(p *load.Point) table.Cell {
			l := get(p)
			if l.Count == 0 {
				return table.OfNone()
			}
			return table.OfFloat(latencyFigures(l)[i].Seconds())
		}))
	}
	return list
}
