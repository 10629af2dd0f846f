package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kitescope/inspect/view"
	"kitescope/profile/pgo"
	"kitescope/render"
	"kitescope/words"
)

// edgeColumn is a column of hot edges.
type edgeColumn uint8

const (
	edgeShare edgeColumn = iota
	edgeHits
	edgeCallee
	edgeCaller
	edgeLine
	edgeNow
	edgeDecision
)

func (c edgeColumn) head() view.Column {
	return [...]view.Column{
		edgeShare:    {Title: "SHARE", Kind: view.Percent},
		edgeHits:     {Title: "SAMPLES", Kind: view.Int, Priority: 4},
		edgeCallee:   {Title: "CALLEE", Kind: view.Text},
		edgeCaller:   {Title: "CALLER", Kind: view.Text, Priority: 1},
		edgeLine:     {Title: "LINE", Kind: view.Int, Priority: 5},
		edgeNow:      {Title: "INLINED", Kind: view.Text, Priority: 3},
		edgeDecision: {Title: "COMPILER", Kind: view.List, Priority: 2},
	}[c]
}

// compare orders two edges by a column, the largest first; names the other way round.
func (c edgeColumn) compare(a, b *pgo.HotEdge) int {
	switch c {
	case edgeShare:
		return cmp.Compare(b.Share, a.Share)
	case edgeHits:
		return cmp.Compare(b.Hits, a.Hits)
	case edgeCallee:
		return cmp.Compare(a.Callee, b.Callee)
	case edgeCaller:
		return cmp.Compare(a.Caller, b.Caller)
	case edgeLine:
		return cmp.Compare(a.Offset, b.Offset)
	case edgeNow:
		return cmp.Compare(nowText(a), nowText(b))
	default:
		return cmp.Compare(decisionText(a), decisionText(b))
	}
}

func (c edgeColumn) text(e *pgo.HotEdge, short bool) string {
	switch c {
	case edgeShare:
		return words.Share(e.Share)
	case edgeHits:
		return countOf(e.Hits)
	case edgeCallee:
		return edgeName(e.Callee, short)
	case edgeCaller:
		return edgeName(e.Caller, short)
	case edgeLine:
		return fmt.Sprintf("%+d", e.Offset)
	case edgeNow:
		return nowText(e)
	default:
		return decisionText(e)
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

// decisionText is what the compiler would do, and why.
func decisionText(e *pgo.HotEdge) string {
	text := render.DecisionText(e)
	if d := e.Decision; d != nil {
		if d.Cost > 0 {
			text += ", cost " + words.Number(d.Cost)
		}
		if d.Reason != "" {
			text += ": " + words.Harmless(words.OneLine(d.Reason))
		}
	}
	return text
}

// edgeColumns are those that say something: without a dry run nothing is known of the compiler.
func (p *judgePage) edgeColumns() []edgeColumn {
	list := []edgeColumn{edgeShare, edgeHits, edgeCallee, edgeCaller, edgeLine, edgeNow}
	if p.made.Dry != nil {
		list = append(list, edgeDecision)
	}
	return list
}

// hot is the table of hot edges.
func (p *judgePage) hot(j *pgo.Judgement, w int) {
	if len(j.Hot) == 0 {
		return
	}
	about := "all " + words.Number(len(p.edges))
	if len(p.edges) < j.HotEdges {
		about = words.Number(len(p.edges)) + " of " + words.Number(j.HotEdges)
		if p.text == "" && len(j.Hot) != mostHotEdges {
			about += ", the others between native code"
		}
	}
	p.heading("HOT CALLS", about+", what the compiler acts on; enter: flame graph of what is called")
	if len(p.edges) == 0 {
		p.add(lineDim, "no hot call has "+words.Harmless(p.text)+"; esc clears the filter")
		return
	}
	list := p.edgeColumns()
	cols := make([]view.Column, len(list))
	for i, c := range list {
		cols[i] = c.head()
	}
	sorted := sortMark{slices.Index(list, p.sort.column), !p.sort.ascending}
	header, lines := layRows(cols, len(p.edges), sorted, w-2, func(i, k int) string {
		return list[k].text(&j.Hot[p.edges[i]], w < wideNames)
	})
	p.add(lineHead, header)
	for i, text := range lines {
		e := &j.Hot[p.edges[i]]
		l := judgeLine{text: text, part: ofEdge, at: int(p.edges[i])}
		if e.Inlined {
			l.role = render.RoleDim
		}
		p.lines = append(p.lines, l)
	}
}

// layRows lays a whole table out in w cells, plain: its header and its rows.
func layRows(cols []view.Column, rows int, sorted sortMark, w int, text func(row, column int) string) (header string, lines []string) {
	texts := make([][]string, rows)
	tracks := make([]track, len(cols))
	for j, c := range cols {
		tracks[j] = track{natural: width(c.Title), priority: c.Priority, flexible: flexible(c.Kind)}
		if j == sorted.column {
			tracks[j].priority = 0
			tracks[j].natural += 2
		}
	}
	for i := range texts {
		texts[i] = make([]string, len(cols))
		for j := range cols {
			texts[i][j] = text(i, j)
			tracks[j].natural = max(tracks[j].natural, width(texts[i][j]))
		}
	}
	placed := arrange(tracks, w, 0)
	line := func(of func(column int) string) string {
		var b strings.Builder
		for k, p := range placed {
			if k > 0 {
				b.WriteString(pad(gap))
			}
			switch kind := cols[p.column].Kind; {
			case rightAligned(kind):
				b.WriteString(fitRight(of(p.column), p.width))
			case kind == view.List: // prose, which gives way at its end
				b.WriteString(fit(of(p.column), p.width))
			default:
				b.WriteString(fitName(of(p.column), p.width))
			}
		}
		return strings.TrimRight(b.String(), " ")
	}
	for i := range texts {
		lines = append(lines, line(func(column int) string { return texts[i][column] }))
	}
	return line(func(column int) string { return cols[column].Title + sorted.arrow(column) }), lines
}

// arrow stands behind the title of the column that a table is sorted by.
func (s sortMark) arrow(column int) string {
	switch {
	case column != s.column:
		return ""
	case s.descending:
		return " ↓"
	}
	return " ↑"
}
