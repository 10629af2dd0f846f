package tui

import (
	"slices"
	"strings"
	"time"

	"kitescope/inspect/view"
	"kitescope/render"
	"kitescope/replay"
	"kitescope/replay/whatif"
	"kitescope/words"
)

// factCells is the column of the names of facts.
const factCells = 14

// facts are names with what is known, broken to w cells; those without a text are left out.
func facts(w int, pairs ...string) []detailLine {
	var lines []detailLine
	for i := 0; i+1 < len(pairs); i += 2 {
		name := pairs[i]
		for k, text := range prose(pairs[i+1], max(8, w-factCells)) {
			l := detailLine{line: plotLine{{render.RoleDim, fit(name, factCells)}, {render.RolePlain, text}}}
			if k == 0 {
				l.full = name + "\t" + words.Harmless(words.OneLine(pairs[i+1]))
			}
			lines, name = append(lines, l), ""
		}
	}
	return lines
}

func titleLine(title, about string) detailLine {
	return detailLine{line: plotLine{{render.RoleTitle, title}, {render.RoleDim, about}}}
}

// tableLines lay a whole table out; each row is a stop. The last column is a bar that fills what room is left.
func tableLines(cols []view.Column, rows, w int, role func(i int) render.Role, bar func(i, size int) string, text func(i, k int) string) []detailLine {
	size := max(6, min(40, w/4))
	header, lines := layRows(cols, rows, sortMark{column: -1}, w-size-2, text)
	out := []detailLine{{line: plotLine{{render.RoleDim, header}}}}
	for i, l := range lines {
		var cells []string
		for k := range cols {
			cells = append(cells, text(i, k))
		}
		x := detailLine{row: i + 1, full: strings.Join(cells, "\t")}
		x.line = plotLine{{role(i), fit(l, width(header)) + "  "}, {role(i), bar(i, size)}}
		out = append(out, x)
	}
	return out
}

// requestLines are a slow request with the segments that it spent its time in.
func requestLines(q *replay.SlowQuery, w int, ascii bool) []detailLine {
	queued := "-"
	if q.Queued > 0 {
		queued = words.Latency(q.Queued, ascii) + ", " + share(q.Queued, q.Took) + " of it"
	}
	sum, most := time.Duration(0), time.Duration(0)
	for i := range q.Segments {
		sum, most = sum+q.Segments[i].Took, max(most, q.Segments[i].Took)
	}
	lines := facts(w, "took", words.Latency(q.Took, ascii), "queued", queued)
	if len(q.Segments) == 0 {
		return append(lines, facts(w, "segments", "it is unknown which segments it spent its time in")...)
	}
	text := words.Latency(sum, ascii) + " in the " + words.Plural(len(q.Segments), "segment") + " below, those that took longest"
	if sum > q.Took-q.Queued {
		text += "; they were searched side by side"
	}
	lines = append(lines, facts(w, "in segments", text)...)
	lines = append(lines, detailLine{}, titleLine("WHERE ITS TIME WENT", "  enter: what the segment costs"))
	cols := []view.Column{
		{Title: "SEGMENT", Kind: view.ID},
		{Title: "STATE", Kind: view.Text},
		{Title: "NODE", Kind: view.Int, Priority: 3},
		{Title: "DISTANCES", Kind: view.Int, Priority: 2},
		{Title: "TOOK", Kind: view.Int},
		{Title: "OF ALL", Kind: view.Int, Priority: 1},
	}
	return append(lines, tableLines(cols, len(q.Segments), w, func(i int) render.Role { return segmentRole(q.Segments[i].State) }, func(i, size int) string {
		s := &q.Segments[i]
		return segmentBar(s.State, s.Took, most, size, ascii)
	}, func(i, k int) string {
		s := &q.Segments[i]
		switch k {
		case 0:
			return idText(s.Segment)
		case 1:
			return render.SegmentStateText(s.State)
		case 2:
			return noneIf(idText(s.Node), s.Node == 0)
		case 3:
			return words.Number(s.Distances)
		case 4:
			return words.Latency(s.Took, ascii)
		default:
			return share(s.Took, q.Took)
		}
	})...)
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
	index := render.CostIndex(s)
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
		"state", render.SegmentStateText(s.State), "index", index, "node", render.CostNode(s), "rows", rowsText(s.Rows) + ", " + words.Number(s.Deleted) + " of them deleted",
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
		return append(lines, detailLine{}, detailLine{line: plotLine{{render.RoleDim, cut("none of the slowest requests spent much of its time here", w)}}})
	}
	lines = append(lines, detailLine{}, titleLine("SLOWEST REQUESTS", "  that spent their time here; enter: the request"))
	cols := []view.Column{{Title: "REQUEST", Kind: view.Int}, {Title: "HERE", Kind: view.Int}, {Title: "IN ALL", Kind: view.Int}}
	table := tableLines(cols, len(visits), w, func(int) render.Role { return render.RolePlain }, func(i, size int) string {
		return segmentBar(s.State, visits[i].took, most, size, ascii)
	}, func(i, k int) string {
		q := &r.Slowest[visits[i].at]
		return [...]string{words.Number(q.Request), words.Latency(visits[i].took, ascii), words.Latency(q.Took, ascii)}[k]
	})
	for i := range table {
		if k := table[i].row; k > 0 { // enter goes to the request
			table[i].row = visits[k-1].at + 1
		}
	}
	return append(lines, table...)
}

// changeLines are what a changed cluster does, what its nodes have to do for it, and what is to be known of it.
func changeLines(r *whatif.Report, row, w int, ascii bool) []detailLine {
	p := &r.Base
	if row > 0 {
		p = &r.Others[row-1]
	}
	most := knownFigure(p.Most) + " queries per second at most"
	if row > 0 {
		most += " instead of " + knownFigure(r.Base.Most) + " (" + render.GainText(p) + ")"
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
	recall := render.RecallText(p.Recall)
	if row > 0 && r.Base.Recall >= 0 {
		recall += " instead of " + render.RecallText(r.Base.Recall)
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
		bar := render.SegmentStateBar(states, c.CPU, longest, size, ascii)
		return detailLine{line: plotLine{{render.RoleDim, fit(name, factCells)}, {stateRole(&states), bar}, {render.RolePlain, "  " + known(c.CPU, ascii)}}}
	}
	var lines []detailLine
	if row > 0 {
		lines = append(lines, line("  as it is", &r.Base))
	}
	lines = append(lines, line("  here", p))
	return append(lines, detailLine{line: plotLine{{render.RoleDim, pad(factCells) + cut(render.SegmentStateLegend(ascii), w-factCells)}}})
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
	cols := []view.Column{{Title: "NODE", Kind: view.Text}, {Title: "SEGMENTS", Kind: view.Int, Priority: 1}}
	told := slices.ContainsFunc(list, func(n node) bool { return n.rows >= 0 })
	if told {
		cols = append(cols, view.Column{Title: "GROWING", Kind: view.Int, Priority: 3}, view.Column{Title: "ROWS", Kind: view.Int, Priority: 2}, view.Column{Title: "CPU", Kind: view.Int}, view.Column{Title: "SHARE", Kind: view.Int})
	}
	cols = append(cols, view.Column{Title: "BUSY", Kind: view.Int})
	role := func(i int) render.Role {
		if list[i].use > 0.9 {
			return render.RoleWarn
		}
		return render.RolePlain
	}
	return append(lines, tableLines(cols, len(list), w, role, func(i, size int) string { return meterBar(list[i].use, 1, size, ascii) }, func(i, k int) string {
		n := &list[i]
		if !told && k > 1 {
			k = 6
		}
		switch k {
		case 0:
			return n.name
		case 1:
			return words.Number(n.segments)
		case 2:
			return words.Number(n.growing)
		case 3:
			return rowsText(n.rows)
		case 4:
			return known(n.cpu, ascii)
		case 5:
			return partText(n.part)
		default:
			return partText(n.use)
		}
	})...)
}

func partText(x float64) string {
	if x < 0 || !drawable(x) {
		return words.UnknownMark
	}
	return words.Share(x)
}
