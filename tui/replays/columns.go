package replays

import (
	"math"
	"strconv"
	"strings"
	"time"

	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/replays"
	"kitescope/replay"
	"kitescope/replay/load"
	"kitescope/replay/whatif"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// barCells is how long a bar in a table is.
const barCells = 20

// unknownIf is NaN where nothing is known, which sorts last.
func unknownIf(unknown bool, x float64) float64 {
	if unknown {
		return math.NaN()
	}
	return x
}

// pointList are the points of a sweep.
func pointList(r *replay.Result, ascii bool) *tui.List[int] {
	points := r.Points
	front := load.OnFront(points)
	figure := func(title string, priority int, of func(p *load.Point) float64, text func(p *load.Point) string) tui.Column[int] {
		return numberColumn(title, priority, func(i int) float64 { return of(&points[i]) }, func(i int) string { return text(&points[i]) })
	}
	latency := func(title string, priority int, of func(l *load.Latency) time.Duration) tui.Column[int] {
		return figure(title, priority, func(p *load.Point) float64 { return unknownIf(p.Latency.Count == 0, float64(of(&p.Latency))) }, func(p *load.Point) string {
			if p.Latency.Count == 0 {
				return words.UnknownMark
			}
			return words.Latency(of(&p.Latency), ascii)
		})
	}
	role := func(i int) render.Role {
		if points[i].Failed > 0 {
			return render.RoleBad
		}
		return render.RolePlain
	}
	star := fixedColumn("", 1, func(i int) string { return map[bool]string{true: "*"}[front[i]] })
	star.Name = "front"
	return newReplayList("point", len(points), role,
		fixedColumn("PARAMETERS", 0, func(i int) string { return parametersName(&points[i]) }),
		textColumn("LOAD", 0, func(i int) string { return replays.ArrivalText(&points[i]) }),
		figure("QPS", 0, func(p *load.Point) float64 { return p.QPS }, func(p *load.Point) string { return words.ThreeDigits(p.QPS) }),
		figure(map[bool]string{true: "+/-", false: "±"}[ascii], 4, halfInterval, func(p *load.Point) string {
			return draw.NoneIf(words.ThreeDigits(halfInterval(p)), math.IsNaN(halfInterval(p)))
		}),
		figure("/SESSION", 6, perSession, func(p *load.Point) string {
			return draw.NoneIf(words.ThreeDigits(perSession(p)), math.IsNaN(perSession(p)))
		}),
		figure("RECALL", 0, func(p *load.Point) float64 { return unknownIf(p.Recall < 0, p.Recall) }, func(p *load.Point) string { return replays.RecallText(p.Recall) }),
		star,
		latency("P50", 2, func(l *load.Latency) time.Duration { return l.P50 }),
		latency("P95", 7, func(l *load.Latency) time.Duration { return l.P95 }),
		latency("P99", 0, func(l *load.Latency) time.Duration { return l.P99 }),
		latency("P99.9", 8, func(l *load.Latency) time.Duration { return l.P999 }),
		latency("MAX", 9, func(l *load.Latency) time.Duration { return l.Max }),
		figure("FAILS", 1, func(p *load.Point) float64 { return float64(p.Failed) }, func(p *load.Point) string { return words.Number(p.Failed) }),
		figure("CPU", 3, func(p *load.Point) float64 { return unknownIf(p.CPUPerQuery <= 0, float64(p.CPUPerQuery)) }, func(p *load.Point) string {
			return known(p.CPUPerQuery, ascii)
		}),
		figure("SWITCHES", 10, func(p *load.Point) float64 { return unknownIf(p.SwitchesPerQuery <= 0, p.SwitchesPerQuery) }, func(p *load.Point) string {
			return knownFigure(p.SwitchesPerQuery)
		}),
		figure("DISTANCES", 11, func(p *load.Point) float64 { return unknownIf(p.DistancesPerQuery <= 0, p.DistancesPerQuery) }, func(p *load.Point) string {
			return knownFigure(p.DistancesPerQuery)
		}),
	)
}

func halfInterval(p *load.Point) float64 {
	return unknownIf(p.QPSHigh <= p.QPSLow, (p.QPSHigh-p.QPSLow)/2)
}

func perSession(p *load.Point) float64 {
	return unknownIf(p.Rate > 0 || p.Timed || p.Sessions <= 0, p.QPS/float64(max(1, p.Sessions)))
}

// known is a time, "?" where it is 0: nobody told it.
func known(d time.Duration, ascii bool) string {
	if d <= 0 {
		return words.UnknownMark
	}
	return words.Latency(d, ascii)
}

func knownFigure(x float64) string {
	if !(x > 0) {
		return words.UnknownMark
	}
	return words.ThreeDigits(x)
}

// rowsText is a number of rows, "?" if nobody tells it.
func rowsText(n int64) string {
	if n < 0 {
		return words.UnknownMark
	}
	return words.Number(n)
}

func idText(id int64) string { return strconv.FormatInt(id, 10) }

// segmentRole is that of a segment: what is searched row by row wants a look.
func segmentRole(s replay.State) render.Role {
	if s == replay.Indexed {
		return render.RolePlain
	}
	return render.RoleWarn
}

// costList are the segments with what they cost.
func costList(c *replay.Costs, ascii bool) *tui.List[int] {
	list := c.Segments
	all, most := time.Duration(0), time.Duration(0)
	for i := range list {
		all, most = all+list[i].Time, max(most, list[i].Time)
	}
	return newReplayList("segment", len(list), func(i int) render.Role { return segmentRole(list[i].State) },
		fixedColumn("SEGMENT", 0, func(i int) string { return idText(list[i].Segment) }),
		textColumn("STATE", 0, func(i int) string { return replays.StateText(list[i].State) }),
		textColumn("NODE", 0, func(i int) string { return replays.CostNode(&list[i]) }),
		textColumn("INDEX", 4, func(i int) string { return replays.CostIndex(&list[i]) }),
		numberColumn("ROWS", 3, func(i int) float64 { return unknownIf(list[i].Rows < 0, float64(list[i].Rows)) }, func(i int) string { return rowsText(list[i].Rows) }),
		numberColumn("DELETED", 9, func(i int) float64 { return float64(list[i].Deleted) }, func(i int) string { return words.Number(list[i].Deleted) }),
		numberColumn("DISTANCES", 5, func(i int) float64 { return distances(&list[i]) }, func(i int) string { return knownFigure(distances(&list[i])) }),
		numberColumn("PER QUERY", 0, func(i int) float64 { return unknownIf(list[i].Queries <= 0, float64(list[i].Time)) }, func(i int) string {
			return perQuery(list[i].Time, list[i].Queries, ascii)
		}),
		numberColumn("SHARE", 0, func(i int) float64 { return float64(list[i].Time) }, func(i int) string { return share(list[i].Time, all) }),
		barColumn(6, func(i int) string { return segmentBar(list[i].State, list[i].Time, most, barCells, ascii) }),
		textColumn("PARTITION", 11, func(i int) string { return words.Harmless(list[i].Partition) }),
		textColumn("CHANNEL", 12, func(i int) string { return words.Harmless(list[i].Channel) }),
	)
}

// distances are those of a query in a segment, NaN if nobody knows.
func distances(s *replay.SegmentCost) float64 {
	return unknownIf(s.Queries <= 0, float64(s.Distances)/float64(max(1, s.Queries)))
}

// segmentBar is a bar of one segment, in the sign of its state.
func segmentBar(state replay.State, d, most time.Duration, size int, ascii bool) string {
	var states [3]time.Duration
	if int(state) < len(states) {
		states[state] = d
	}
	return replays.StateBar(states, d, most, size, ascii)
}

// slowList are the slowest requests.
func slowList(r *replay.Result, ascii bool) *tui.List[int] {
	list := r.Slowest
	most := time.Duration(0)
	for i := range list {
		most = max(most, list[i].Took)
	}
	return newReplayList("request", len(list), nil,
		numberColumn("REQUEST", 0, func(i int) float64 { return float64(list[i].Request) }, func(i int) string { return words.Number(list[i].Request) }),
		numberColumn("TOOK", 0, func(i int) float64 { return float64(list[i].Took) }, func(i int) string { return words.Latency(list[i].Took, ascii) }),
		fixedColumn("LONGEST IN", 0, func(i int) string {
			return longest(&list[i], func(s *replay.SegmentTime) string { return idText(s.Segment) })
		}),
		textColumn("STATE", 2, func(i int) string {
			return longest(&list[i], func(s *replay.SegmentTime) string { return replays.StateText(s.State) })
		}),
		numberColumn("THERE", 0, func(i int) float64 {
			if len(list[i].Segments) == 0 {
				return math.NaN()
			}
			return float64(list[i].Segments[0].Took)
		}, func(i int) string {
			return longest(&list[i], func(s *replay.SegmentTime) string { return words.Latency(s.Took, ascii) })
		}),
		barColumn(5, func(i int) string { return meterBar(float64(list[i].Took), float64(most), barCells, ascii) }),
	)
}

// longest says something of the segment that took longest of a request, "?" if nobody knows which that is.
func longest(q *replay.SlowQuery, of func(*replay.SegmentTime) string) string {
	if len(q.Segments) == 0 {
		return words.UnknownMark
	}
	return of(&q.Segments[0])
}

// meterBar is a bar of a part of the most; what is there is seen.
func meterBar(x, most float64, size int, ascii bool) string {
	if !(x > 0) || !(most > 0) {
		return ""
	}
	sign := "▇"
	if ascii {
		sign = "#"
	}
	return strings.Repeat(sign, max(1, int(math.Round(min(1, x/most)*float64(size)))))
}

// missingList are the segments that were left out.
func missingList(list []replay.Missing) *tui.List[int] {
	return newReplayList("segment", len(list), func(int) render.Role { return render.RoleBad },
		fixedColumn("SEGMENT", 0, func(i int) string { return idText(list[i].Segment) }),
		textColumn("STATE", 1, func(i int) string { return replays.StateText(list[i].State) }),
		numberColumn("ROWS", 0, func(i int) float64 { return unknownIf(list[i].Rows < 0, float64(list[i].Rows)) }, func(i int) string {
			if list[i].Rows == 0 {
				return "index" // the rows are there
			}
			return rowsText(list[i].Rows)
		}),
		textColumn("REASON", 0, func(i int) string { return words.Harmless(words.OneLine(list[i].Reason)) }),
	)
}

// changeList are the changes of a report, each with what it gains.
func changeList(r *whatif.Report, ascii bool) *tui.List[int] {
	list := append([]*whatif.Prediction{&r.Base}, others(r)...)
	most := 0.0
	for _, p := range list {
		if draw.Drawable(p.Most) {
			most = max(most, p.Most)
		}
	}
	outcome := func(title string, priority int, of func(p *whatif.Prediction) float64, text func(p *whatif.Prediction) string) tui.Column[int] {
		value := func(i int) float64 {
			if list[i].Outcome == nil {
				return math.NaN()
			}
			return of(list[i])
		}
		return numberColumn(title, priority, value, func(i int) string { return text(list[i]) })
	}
	role := func(i int) render.Role {
		switch p := list[i]; {
		case i == 0:
			return render.RoleDim
		case r.GainAtLoad(p) > 1.02:
			return render.RoleGood
		case r.GainAtLoad(p) > 0 && r.GainAtLoad(p) < 0.98:
			return render.RoleBad
		}
		return render.RolePlain
	}
	l := newReplayList("cluster", len(list), role,
		textColumn("CLUSTER", 0, func(i int) string { return replays.ChangeName(r, list[i]) }),
		outcome("QPS", 0, func(p *whatif.Prediction) float64 { return p.Outcome.QPS }, func(p *whatif.Prediction) string {
			if p.Outcome == nil {
				return words.UnknownMark
			}
			return knownFigure(p.Outcome.QPS)
		}),
		numberColumn("GAIN", 0, func(i int) float64 { return unknownIf(!(r.GainAtLoad(list[i]) > 0), r.GainAtLoad(list[i])) }, func(i int) string {
			return draw.NoneIf(replays.LoadGainText(r, list[i]), i == 0)
		}),
		numberColumn("MOST", 1, func(i int) float64 { return list[i].Most }, func(i int) string { return knownFigure(list[i].Most) }),
		barColumn(2, func(i int) string { return meterBar(list[i].Most, most, barCells, ascii) }),
		outcome("P99", 0, func(p *whatif.Prediction) float64 { return float64(p.Outcome.P99) }, func(p *whatif.Prediction) string { return p99Text(p, ascii) }),
		outcome("P50", 6, func(p *whatif.Prediction) float64 { return float64(p.Outcome.P50) }, func(p *whatif.Prediction) string {
			if p.Outcome == nil {
				return words.UnknownMark
			}
			return words.Latency(p.Outcome.P50, ascii)
		}),
		numberColumn("RECALL", 1, func(i int) float64 { return unknownIf(list[i].Recall < 0, list[i].Recall) }, func(i int) string { return replays.RecallText(list[i].Recall) }),
		fixedColumn("BUSY", 3, func(i int) string { return replays.BusyText(list[i]) }),
		numberColumn("MODELLED", 5, func(i int) float64 { return list[i].Modelled }, func(i int) string { return words.Share(list[i].Modelled) }),
	)
	return l
}

// p99Text has a ! where latencies grow for as long as the load lasts.
func p99Text(p *whatif.Prediction, ascii bool) string {
	if p.Outcome == nil {
		return words.UnknownMark
	}
	return words.Latency(p.Outcome.P99, ascii) + map[bool]string{true: " !"}[p.Outcome.Saturated]
}

// others are the changed clusters of a report.
func others(r *whatif.Report) []*whatif.Prediction {
	list := make([]*whatif.Prediction, len(r.Others))
	for i := range r.Others {
		list[i] = &r.Others[i]
	}
	return list
}

// stateRole is that of a bar: what is searched row by row wants a look.
func stateRole(states *[3]time.Duration) render.Role {
	if states[replay.Growing]+states[replay.Unindexed] > states[replay.Indexed] {
		return render.RoleWarn
	}
	return render.RoleAccent
}

// perQuery is what something took of an average query.
func perQuery(d time.Duration, queries int64, ascii bool) string {
	if queries <= 0 {
		return words.UnknownMark
	}
	return words.Latency(time.Duration(float64(d)/float64(queries)), ascii)
}

func share(d, of time.Duration) string {
	if of <= 0 {
		return words.UnknownMark
	}
	return words.Percent(100 * float64(d) / float64(of))
}
