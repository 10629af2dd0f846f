package profiles

import (
	"cmp"
	"fmt"

	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/profile/pgo"
	"kitescope/render"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// edgeColumns are the columns of hot calls.
func (p *judgePage) edgeColumns(w int) []tui.Column[*pgo.HotEdge] {
	type edge = *pgo.HotEdge
	short := w < wideNames
	return []tui.Column[edge]{
		tui.SortedColumn("share", "SHARE", table.Percent, 0, func(e edge) string { return words.Share(e.Share) }, func(a, b edge) int { return cmp.Compare(b.Share, a.Share) }),
		tui.SortedColumn("hits", "SAMPLES", table.Int, 4, func(e edge) string { return countOf(e.Hits) }, func(a, b edge) int { return cmp.Compare(b.Hits, a.Hits) }),
		tui.SortedColumn("callee", "CALLEE", table.Text, 0, func(e edge) string { return edgeName(e.Callee, short) }, func(a, b edge) int { return cmp.Compare(a.Callee, b.Callee) }),
		tui.SortedColumn("caller", "CALLER", table.Text, 1, func(e edge) string { return edgeName(e.Caller, short) }, func(a, b edge) int { return cmp.Compare(a.Caller, b.Caller) }),
		tui.SortedColumn("line", "LINE", table.Int, 5, func(e edge) string { return fmt.Sprintf("%+d", e.Offset) }, func(a, b edge) int { return cmp.Compare(a.Offset, b.Offset) }),
		tui.SortedColumn("inlined", "INLINED", table.Text, 3, nowText, nil),
	}
}

func edgeName(name string, short bool) string {
	if name = words.Harmless(name); name == "" { // as native code has it, of which the linker of Go knows nothing
		return words.UnknownMark
	}
	if short {
		return shortName(name)
	}
	return name
}

// nowText says whether a call is inlined in the program that was profiled.
func nowText(e *pgo.HotEdge) string {
	if e.Inlined {
		return "yes"
	}
	return "no"
}

// hot is the table of hot edges.
func (p *judgePage) hot(j *pgo.Judgement, w int) {
	if len(j.Hot) == 0 {
		return
	}
	edges := p.edges.Shown
	about := "all " + words.Number(len(edges))
	if len(edges) < j.HotEdges {
		about = words.Number(len(edges)) + " of " + words.Number(j.HotEdges)
		if p.edges.Filter == "" && len(j.Hot) != mostHotEdges {
			about += ", the others between native code"
		}
	}
	p.heading("HOT CALLS", about+", what the compiler acts on; enter: flame graph of what is called")
	if len(edges) == 0 {
		p.add(draw.LookDim, "no hot call has "+words.Harmless(p.edges.Filter)+"; esc clears the filter")
		return
	}
	columns := p.edgeColumns(w)
	header, lines := tui.LayRows(columns, edges, p.edges.Mark(columns), w-2)
	p.add(draw.LookHead, header)
	for i, text := range lines {
		l := judgeLine{text: text, part: ofEdge, edge: edges[i]}
		if l.edge.Inlined {
			l.role = render.RoleDim
		}
		p.lines = append(p.lines, l)
	}
}
