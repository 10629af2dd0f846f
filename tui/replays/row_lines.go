package replays

import (
	"slices"
	"strings"
	"time"

	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/replays"
	"kitescope/replay"
	"kitescope/replay/whatif"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// factCells is the column of the names of facts.
const factCells = 14

// facts are names with what is known, broken to w cells; those without a text are left out.
func facts(w int, pairs ...string) []detailLine {
	var lines []detailLine
	for i := 0; i+1 < len(pairs); i += 2 {
		name := pairs[i]
		for k, text := range draw.Prose(pairs[i+1], max(8, w-factCells)) {
			l := detailLine{line: draw.Line{{Role: render.RoleDim, Text: draw.Fit(name, factCells)}, {Role: render.RolePlain, Text: text}}}
			if k == 0 {
				l.full = name + "\t" + words.Harmless(words.OneLine(pairs[i+1]))
			}
			lines, name = append(lines, l), ""
		}
	}
	return lines
}

func titleLine(title, about string) detailLine {
	return detailLine{line: draw.Line{{Role: render.RoleTitle, Text: title}, {Role: render.RoleDim, Text: about}}}
}

// tableLines lay a whole table out; each row is a stop. The last column is a bar that fills what room is left.
func tableLines[T any](columns []tui.Column[T], rows []T, w int, role func(row T) render.Role, bar func(row T, size int) string) []detailLine {
	size := max(6, min(40, w/4))
	header, lines := tui.LayRows(columns, rows, tui.SortMark{Column: -1}, w-size-2)
	out := []detailLine{{line: draw.Line{{Role: render.RoleDim, Text: header}}}}
	for i, l := range lines {
		row := rows[i]
		x := detailLine{row: i + 1, full: strings.Join(tui.CellsOf(columns, row), "\t")}
		x.line = draw.Line{{Role: role(row), Text: draw.Fit(l, draw.Width(header)) + "  "}, {Role: role(row), Text: bar(row, size)}}
		out = append(out, x)
	}
	return out
}

// requestLines are a slow request with the segments that it spent its time in.
func requestLines(q *replay.SlowQuery, w int, ascii bool) []detailLine {
	sum, most := time.Duration(0), time.Duration(0)
	for i := range q.Segments {
		sum, most = sum+q.Segments[i].Took, max(most, q.Segments[i].Took)
	}
	lines := facts(w, "took", words.Latency(q.Took, ascii))
	if len(q.Segments) == 0 {
		return append(lines, facts(w, "segments", "it is unknown which segments it spent its time in")...)
	}
	text := words.Latency(sum, ascii) + " in the " + words.Plural(len(q.Segments), "segment") + " below, those that took longest"
	if sum > q.Took {
		text += "; they were searched side by side"
	}
	lines = append(lines, facts(w, "in segments", text)...)
	lines = append(lines, detailLine{}, titleLine("WHERE ITS TIME WENT", "  enter: what the segment costs"))
	type segment = replay.SegmentTime
	columns := []tui.Column[segment]{
		tui.PlainColumn("SEGMENT", table.ID, 0, func(s segment) string { return idText(s.Segment) }),
		tui.PlainColumn("STATE", table.Text, 0, func(s segment) string { return replays.StateText(s.State) }),
		tui.PlainColumn("NODE", table.Int, 3, func(s segment) string { return draw.NoneIf(idText(s.Node), s.Node == 0) }),
		tui.PlainColumn("DISTANCES", table.Int, 2, func(s segment) string { return words.Number(s.Distances) }),
		tui.PlainColumn("TOOK", table.Int, 0, func(s segment) string { return words.Latency(s.Took, ascii) }),
		tui.PlainColumn("OF ALL", table.Int, 1, func(s segment) string { return share(s.Took, q.Took) }),
	}
	return append(lines, tableLines(columns, q.Segments, w, func(s segment) render.Role { return segmentRole(s.State) },
		func(s segment, size int) string { return segmentBar(s.State, s.Took, most, size, ascii) })...)
}

// segmentLines are what a segment costs, and the slowest requests that it was in.
func segmentLines(r *replay.Result, row, w int, ascii bool) []detailLine {
	s := &r.Costs.Segments[row]
	all, rank := time.Duration(0), 1
	for i := range r.Costs.Segments {
		x := &r.Costs.Segments[i]
		all += x.Time
		if x.Time > s.Time {
			rank++
		}
	}
	index := replays.CostIndex(s)
	if s.EF > 0 {
		index += ", ef " + words.Number(s.EF)
	}
	found := distances(s)
	compared := knownFigure(found) + " of a query"
	if s.Rows > 0 && found > 0 {
		compared += ", " + words.Percent(100*found/float64(s.Rows)) + " of its rows"
	}
	brute := ""
	if s.BruteForce > 0 {
		brute = words.Number(s.BruteForce) + " of " + words.Number(s.Queries) + " queries compared with all rows although there is a graph"
	}
	pairs := []string{
		"state", replays.StateText(s.State), "index", index, "node", replays.CostNode(s), "rows", rowsText(s.Rows) + ", " + words.Number(s.Deleted) + " of them deleted",
		"partition", words.Harmless(s.Partition), "channel", words.Harmless(s.Channel), "queries", words.Number(s.Queries),
		"per query", perQuery(s.Time, s.Queries, ascii) + ", " + share(s.Time, all) + " of the time in segments: number " + words.Number(rank) + " of " + words.Number(len(r.Costs.Segments)),
		"distances", compared, "row by row", brute,
	}
	lines := facts(w, pairs...)
	type visit struct {
		at   int
		took time.Duration
	}
	var visits []visit
	most := time.Duration(0)
	for i := range r.Slowest {
		for j := range r.Slowest[i].Segments {
			if x := &r.Slowest[i].Segments[j]; x.Segment == s.Segment {
				visits, most = append(visits, visit{i, x.Took}), max(most, x.Took)
			}
		}
	}
	if len(visits) == 0 {
		return append(lines, detailLine{}, detailLine{line: draw.Line{{Role: render.RoleDim, Text: draw.Cut("none of the slowest requests spent much of its time here", w)}}})
	}
	lines = append(lines, detailLine{}, titleLine("SLOWEST REQUESTS", "  that spent their time here; enter: the request"))
	columns := []tui.Column[visit]{
		tui.PlainColumn("REQUEST", table.Int, 0, func(v visit) string { return words.Number(r.Slowest[v.at].Request) }),
		tui.PlainColumn("HERE", table.Int, 0, func(v visit) string { return words.Latency(v.took, ascii) }),
		tui.PlainColumn("IN ALL", table.Int, 0, func(v visit) string { return words.Latency(r.Slowest[v.at].Took, ascii) }),
	}
	visited := tableLines(columns, visits, w, func(visit) render.Role { return render.RolePlain },
		func(v visit, size int) string { return segmentBar(s.State, v.took, most, size, ascii) })
	for i := range visited {
		if k := visited[i].row; k > 0 { // enter goes to the request
			visited[i].row = visits[k-1].at + 1
		}
	}
	return append(lines, visited...)
}

// changeLines are what a changed cluster does, what its nodes have to do for it, and what is to be known of it.
func changeLines(r *whatif.Report, row, w int, ascii bool) []detailLine {
	p := &r.Base
	if row > 0 {
		p = &r.Others[row-1]
	}
	most := knownFigure(p.Most) + " queries per second at most"
	if row > 0 {
		most += " instead of " + knownFigure(r.Base.Most) + " (" + replays.GainText(p) + ")"
	}
	at, bound := words.UnknownMark, ""
	if x := p.Outcome; x != nil {
		at = words.ThreeDigits(x.QPS) + " queries per second, p50 " + words.Latency(x.P50, ascii) + ", p95 " + words.Latency(x.P95, ascii) + ", p99 " + words.Latency(x.P99, ascii)
		if x.Saturated {
			at += "; this load is more than it can do: latencies grow for as long as it lasts"
		}
		bound = words.Harmless(words.OneLine(x.Bound))
	}
	costs := "measured on the real vectors"
	if p.Modelled > 0 {
		costs = words.Percent(100*p.Modelled) + " of the rows are of the cost model"
	}
	recall := replays.RecallText(p.Recall)
	if row > 0 && r.Base.Recall >= 0 {
		recall += " instead of " + replays.RecallText(r.Base.Recall)
	}
	cpu := known(p.Cost.CPU, ascii) + " of all nodes; the longest is " + known(p.Cost.Critical, ascii)
	if p.Cost.Node != "" {
		cpu += " of " + words.Harmless(p.Cost.Node)
	}
	lines := facts(w, "most", most, "at the load", at, "its limit", bound, "CPU per query", cpu)
	lines = append(lines, splitLines(r, p, row, w, ascii)...)
	lines = append(lines, facts(w, "recall", recall, "costs", costs)...)
	for _, n := range p.Notes {
		lines = append(lines, facts(w, "note", n)...)
	}
	return append(lines, nodeLines(p, w, ascii)...)
}

// splitLines draw the CPU of a query by state, the present cluster's first.
func splitLines(r *whatif.Report, p *whatif.Prediction, row, w int, ascii bool) []detailLine {
	size := max(6, min(60, w-factCells-24))
	longest := max(r.Base.Cost.CPU, p.Cost.CPU)
	line := func(name string, x *whatif.Prediction) detailLine {
		c := &x.Cost
		states := [3]time.Duration{c.Growing, c.Unindexed, c.Indexed}
		bar := replays.StateBar(states, c.CPU, longest, size, ascii)
		return detailLine{line: draw.Line{{Role: render.RoleDim, Text: draw.Fit(name, factCells)}, {Role: stateRole(&states), Text: bar}, {Role: render.RolePlain, Text: "  " + known(c.CPU, ascii)}}}
	}
	var lines []detailLine
	if row > 0 {
		lines = append(lines, line("  as it is", &r.Base))
	}
	lines = append(lines, line("  here", p))
	return append(lines, detailLine{line: draw.Line{{Role: render.RoleDim, Text: draw.Pad(factCells) + draw.Cut(replays.StateLegend(ascii), w-factCells)}}})
}

// node is what is known of a node of a prediction.
type node struct {
	name              string
	segments, growing int
	rows              int64
	cpu               time.Duration
	part, use         float64 // -1 unknown
}

// nodesOf joins what nodes have to do with how busy that makes them.
func nodesOf(p *whatif.Prediction) []node {
	var list []node
	uses := map[int64]float64{}
	if p.Outcome != nil {
		for i := range p.Outcome.Nodes {
			uses[p.Outcome.Nodes[i].ID] = p.Outcome.Nodes[i].Use
		}
	}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		use, ok := uses[n.ID]
		if !ok {
			use = -1
		}
		list = append(list, node{nodeName(n.Name, n.ID), n.Segments, n.Growing, n.Rows, n.CPU, n.Part, use})
	}
	if len(list) == 0 && p.Outcome != nil {
		for i := range p.Outcome.Nodes {
			n := &p.Outcome.Nodes[i]
			list = append(list, node{nodeName(n.Name, n.ID), n.Segments, -1, -1, -1, -1, n.Use})
		}
	}
	return list
}

func nodeName(name string, id int64) string {
	if name = words.Harmless(words.OneLine(name)); name != "" {
		return name
	}
	return "node " + idText(id)
}

// nodeLines are the nodes of a prediction, each with a bar of how busy it is.
func nodeLines(p *whatif.Prediction, w int, ascii bool) []detailLine {
	list := nodesOf(p)
	if len(list) == 0 {
		return nil
	}
	lines := []detailLine{{}, titleLine("NODES", "  the bar is how busy the load makes it")}
	columns := []tui.Column[node]{
		tui.PlainColumn("NODE", table.Text, 0, func(n node) string { return n.name }),
		tui.PlainColumn("SEGMENTS", table.Int, 1, func(n node) string { return words.Number(n.segments) }),
	}
	if slices.ContainsFunc(list, func(n node) bool { return n.rows >= 0 }) {
		columns = append(columns,
			tui.PlainColumn("GROWING", table.Int, 3, func(n node) string { return words.Number(n.growing) }),
			tui.PlainColumn("ROWS", table.Int, 2, func(n node) string { return rowsText(n.rows) }),
			tui.PlainColumn("CPU", table.Int, 0, func(n node) string { return known(n.cpu, ascii) }),
			tui.PlainColumn("SHARE", table.Int, 0, func(n node) string { return partText(n.part) }))
	}
	columns = append(columns, tui.PlainColumn("BUSY", table.Int, 0, func(n node) string { return partText(n.use) }))
	role := func(n node) render.Role {
		if n.use > 0.9 {
			return render.RoleWarn
		}
		return render.RolePlain
	}
	return append(lines, tableLines(columns, list, w, role, func(n node, size int) string { return meterBar(n.use, 1, size, ascii) })...)
}

func partText(x float64) string {
	if x < 0 || !draw.Drawable(x) {
		return words.UnknownMark
	}
	return words.Share(x)
}
