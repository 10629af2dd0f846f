package replays

import (
	"strings"

	"kitescope/tui"
	"kitescope/tui/draw"
)

func (p *replayPage) Can(m *tui.Model, a tui.Action) string {
	switch a {
	case tui.ActNextPart, tui.ActPreviousPart, tui.ActOpen, tui.ActLeft, tui.ActRight, tui.ActFilter, tui.ActSortNext, tui.ActSortPrevious, tui.ActSort, tui.ActCopyRow, tui.ActSave:
		if p.data == nil {
			return "there is no result yet"
		}
		return p.canHere(m, a)
	}
	return ""
}

// canHere is can for what the parts have each in their own way.
func (p *replayPage) canHere(m *tui.Model, a tui.Action) string {
	l := p.listed(m)
	switch a {
	case tui.ActNextPart, tui.ActPreviousPart:
		if len(p.parts) < 2 {
			return "there is no other part"
		}
	case tui.ActLeft, tui.ActRight:
		switch {
		case p.part() == partCharts && len(p.kinds) < 2:
			return "there is no other chart"
		case p.part() != partCharts && l == nil:
			return "there is nothing to scroll: tab goes to the next part"
		case l != nil && a == tui.ActRight && l.Hidden == 0:
			return "all columns are shown"
		}
	case tui.ActOpen:
		switch {
		case l == nil && p.part() == partCharts:
			return "there is nothing to open: tab goes to the tables"
		case l == nil:
			return "tab goes to the next part"
		case cursorRow(l) < 0:
			return "there is no row"
		}
	case tui.ActFilter, tui.ActSortNext, tui.ActSortPrevious, tui.ActSort:
		switch {
		case l == nil:
			return "there is no table here"
		case len(l.All) == 0:
			return "there is no row"
		}
	case tui.ActCopyRow:
		if l != nil && cursorRow(l) < 0 {
			return "there is no row"
		}
	}
	return ""
}

func (p *replayPage) Act(m *tui.Model, a tui.Action) tui.Cmd {
	if a == tui.ActBack {
		if l := p.listed(m); l != nil {
			return l.Act(m, a)
		}
		return m.Back()
	}
	if p.data == nil {
		return nil
	}
	switch a {
	case tui.ActNextPart, tui.ActPreviousPart:
		p.at = turn(p.at, map[tui.Action]int{tui.ActNextPart: 1, tui.ActPreviousPart: -1}[a], len(p.parts))
		p.Top = 0
		return nil
	case tui.ActSave:
		m.Menu = p.saveMenu(m)
		return nil
	}
	switch l := p.listed(m); {
	case l != nil:
		c := l.Act(m, a)
		if _, moves := tui.Moved(a, 0, 0, 0); moves {
			p.follow(l)
		}
		return c
	case p.part() == partCharts:
		return p.actCharts(m, a)
	}
	return p.actText(m, a)
}

// follow has charts draw the latency of the point under the cursor.
func (p *replayPage) follow(l *tui.List[int]) {
	if i := cursorRow(l); p.part() == partPoints && i >= 0 {
		p.point = i
	}
}

func (p *replayPage) actCharts(m *tui.Model, a tui.Action) tui.Cmd {
	switch a {
	case tui.ActLeft:
		p.chart = turn(p.chart, -1, len(p.kinds))
	case tui.ActRight:
		p.chart = turn(p.chart, 1, len(p.kinds))
	case tui.ActCopyRow:
		return m.Copy(plainText(p.data.drawChart(p.kinds[p.chart], p.point, m.Width-2, m.BodyHeight(), m.Config.ASCII)), "the chart")
	default:
		if r := p.data.Result; r != nil {
			if to, ok := tui.Moved(a, p.point, len(r.Points), 8); ok {
				p.point = max(0, min(to, len(r.Points)-1))
				m.Say(tui.ToneInfo, "latency of "+p.pointText())
			}
		}
	}
	return nil
}

func (p *replayPage) actText(m *tui.Model, a tui.Action) tui.Cmd {
	p.layText(m, max(tui.MinWidth, p.linesFor.w))
	if a == tui.ActCopyRow {
		return m.Copy(plainText(p.lines), "the text")
	}
	p.Move(a)
	return nil
}

func plainText(lines []draw.Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.TrimRight(l.Plain(), " ") + "\n")
	}
	return b.String()
}

// tabRow is the line of the body that names the parts, -1 if none does.
func (p *replayPage) tabRow() int {
	switch {
	case p.data == nil || len(p.parts) < 2:
		return -1
	case p.trouble() != "":
		return 1
	}
	return 0
}

func (p *replayPage) Click(m *tui.Model, x, y int) tui.Cmd {
	if p.data == nil {
		return nil
	}
	if y == p.tabRow() {
		for i, from := range p.tabs {
			if from >= 0 && x >= from && x < from+draw.Width(p.parts[i].name())+2 {
				p.at, p.Top = i, 0
			}
		}
		return nil
	}
	l := p.listed(m)
	if l == nil {
		return nil
	}
	if l.ClickAt(x, y) && p.Can(m, tui.ActOpen) == "" {
		return p.Act(m, tui.ActOpen)
	}
	p.follow(l)
	return nil
}

func (p *replayPage) Wheel(m *tui.Model, lines int) {
	if p.data == nil {
		return
	}
	if l := p.listed(m); l != nil {
		l.Wheel(m, lines)
		p.follow(l)
		return
	}
	p.Scroll(lines)
}
