package replays

import (
	"slices"
	"strings"

	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/replays"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// replayDetail is a row of a table of a replay: a request with its segments, a segment, a change with its nodes.
type replayDetail struct {
	of   *replayPage
	part replayPart // whose table it is a row of

	tui.Stops
	lines []detailLine
	made  detailFrame
}

// detailLine is a line of a replayDetail.
type detailLine struct {
	line draw.Line
	full string // what is copied, where the line is cut or broken; "" for those that the cursor passes over
	row  int    // of the table in it, from 1; 0 for others
}

// detailFrame is what lines were made for.
type detailFrame struct{ row, w int }

// detail is the page of a part's row.
func (p *replayPage) detail(part replayPart) *replayDetail { return &replayDetail{of: p, part: part} }

// make lays a row of the part's table out.
func (p *replayDetail) make(m *tui.Model, row, w int) []detailLine {
	d, ascii := p.of.data, m.Config.ASCII
	switch p.part {
	case partSlow:
		return requestLines(&d.Result.Slowest[row], w, ascii)
	case partCosts:
		return segmentLines(d.Result, row, w, ascii)
	case partPoints:
		o := render.ReportOptions{Options: render.Options{Width: w, ASCII: ascii}}
		lines := textLines(plotLines(replays.PointLines(&d.Result.Points[row], o)))
		return append(append(lines, detailLine{}), textLines(latencyChart(d.Result.Points, row, w, 14, ascii))...)
	case partMissing:
		x := &d.missing()[row]
		return facts(w, "segment", idText(x.Segment), "state", replays.StateText(x.State), "not covered", rowsText(x.Rows)+" rows", "reason", x.Reason)
	case partChanges:
		return changeLines(d.Report, row, w, ascii)
	default:
		return nil
	}
}

// textLines are lines that can be copied.
func textLines(lines []draw.Line) []detailLine {
	out := make([]detailLine, len(lines))
	for i, l := range lines {
		out[i] = detailLine{line: l, full: strings.TrimSpace(l.Plain())}
	}
	return out
}

func (p *replayDetail) list(m *tui.Model) *tui.List[int] { return p.of.listOf(m, p.part) }

func (p *replayDetail) Scope() tui.Scope { return tui.InReplayRow }

func (p *replayDetail) Crumb() string {
	l := p.of.lists[p.part]
	if l == nil || cursorRow(l) < 0 {
		return "row"
	}
	d, row := p.of.data, cursorRow(l)
	switch p.part {
	case partSlow:
		return "request " + words.Number(d.Result.Slowest[row].Request)
	case partCosts:
		return "segment " + idText(d.Result.Costs.Segments[row].Segment)
	case partPoints:
		return pointName(&d.Result.Points[row])
	case partMissing:
		return "segment " + idText(d.missing()[row].Segment)
	default:
		return draw.CutName(l.Columns(tui.WideTable)[0].Shown(row), 40)
	}
}

func (p *replayDetail) Note(m *tui.Model) string {
	l := p.list(m)
	return l.Noun + " " + words.Number(l.Cursor+1) + " of " + words.Number(len(l.Shown))
}

func (p *replayDetail) Refresh(*tui.Model) tui.Cmd  { return nil }
func (p *replayDetail) Command(m *tui.Model) string { return p.of.Command(m) }

func (p *replayDetail) Body(m *tui.Model, w, h int) []string {
	p.lay(m)
	line := func(i int) draw.Line { return p.lines[i].line.CutTo(w - 2) }
	return p.Draw(m.Styles, len(p.lines), w, func(i int) string { return line(i).Plain() }, func(i int) string { return line(i).Styled(m.Styles) })
}

// lay makes the lines, unless they are there, and brings the cursor into the window.
func (p *replayDetail) lay(m *tui.Model) {
	p.Height = m.BodyHeight()
	if f := (detailFrame{cursorRow(p.list(m)), m.Width}); p.made != f || p.lines == nil {
		same := p.made.row == f.row && p.lines != nil
		p.made, p.lines, p.At = f, nil, p.At[:0]
		if f.row >= 0 {
			p.lines = p.make(m, f.row, m.Width-2)
		}
		rows := slices.ContainsFunc(p.lines, func(l detailLine) bool { return l.row > 0 })
		for i, l := range p.lines {
			if l.row > 0 || l.full != "" && (!rows || len(p.At) > 0) {
				p.At = append(p.At, i)
			}
		}
		if !same {
			p.Cursor, p.Top = 0, 0
		}
	}
	p.Scroll(len(p.lines), tui.Alone)
}

// current is the line under the cursor, nil if there is none.
func (p *replayDetail) current() *detailLine {
	if i := p.Line(); i >= 0 {
		return &p.lines[i]
	}
	return nil
}

func (p *replayDetail) Can(m *tui.Model, a tui.Action) string {
	l := p.list(m)
	switch a {
	case tui.ActLeft:
		if l.Cursor == 0 {
			return "this is the first " + l.Noun
		}
	case tui.ActRight:
		if l.Cursor >= len(l.Shown)-1 {
			return "this is the last " + l.Noun
		}
	case tui.ActOpen:
		p.lay(m)
		if x := p.current(); x == nil || x.row == 0 || p.part == partChanges {
			return "there is nothing to open here"
		}
		if p.part == partSlow && p.segmentRow(m) < 0 {
			return "what this segment cost is unknown"
		}
	case tui.ActCopyRow:
		p.lay(m)
		if p.current() == nil {
			return "there is nothing to copy"
		}
	case tui.ActSave:
		return p.of.Can(m, a)
	}
	return ""
}

func (p *replayDetail) Act(m *tui.Model, a tui.Action) tui.Cmd {
	p.lay(m)
	if p.Move(a) {
		return nil
	}
	switch a {
	case tui.ActBack:
		return m.Back()
	case tui.ActLeft, tui.ActRight:
		l := p.list(m)
		l.Move(map[tui.Action]tui.Action{tui.ActLeft: tui.ActUp, tui.ActRight: tui.ActDown}[a], len(l.Shown))
		p.of.follow(l)
	case tui.ActOpen:
		return p.open(m)
	case tui.ActCopyRow:
		return m.Copy(p.current().full+"\n", "1 row")
	case tui.ActSave:
		return p.of.Act(m, a)
	}
	return nil
}

// open goes from a request's segment to its row in the table of costs, and from a segment to a request that it was slow in.
func (p *replayDetail) open(m *tui.Model) tui.Cmd {
	row := p.current().row - 1
	switch p.part {
	case partSlow:
		costs := p.of.only(partCosts, "costs")
		costs.listOf(m, partCosts).GoTo(p.segmentRow(m))
		return m.Push(costs)
	case partCosts:
		slow := p.of.only(partSlow, "slowest")
		slow.listOf(m, partSlow).GoTo(row)
		return m.Push(slow.detail(partSlow))
	default:
		return nil
	}
}

// segmentRow is where the segment under the cursor is in the costs, -1 if it is not in them.
func (p *replayDetail) segmentRow(m *tui.Model) int {
	x, r := p.current(), p.of.data.Result
	if x == nil || x.row == 0 || r.Costs == nil {
		return -1
	}
	s := &r.Slowest[cursorRow(p.list(m))].Segments[x.row-1]
	same := -1
	for i := range r.Costs.Segments {
		c := &r.Costs.Segments[i]
		switch {
		case c.Segment == s.Segment && c.Node == s.Node:
			return i
		case c.Segment == s.Segment && same < 0:
			same = i
		}
	}
	return same
}

// only is a page of one part of the same replay.
func (p *replayPage) only(part replayPart, named string) *replayPage {
	return &replayPage{data: p.data, words: p.words, named: named, parts: []replayPart{part}, kinds: p.kinds, point: p.point}
}

func (p *replayDetail) TSVTable() (tsv string, rows int) {
	var b strings.Builder
	for _, l := range p.lines {
		if l.row > 0 {
			b.WriteString(l.full + "\n")
			rows++
		}
	}
	return b.String(), rows
}

func (p *replayDetail) Click(m *tui.Model, _, y int) tui.Cmd { return p.Clicked(m, p, y) }
