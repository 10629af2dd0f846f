package tui

import (
	"strings"

	"kitescope/tui/draw"
)

func (p *replayPage) can(m *Model, a action) string {
	switch a {
	case actNextPart, actPreviousPart, actOpen, actLeft, actRight, actFilter, actSortNext, actSortPrevious, actSortReverse, actCopyRow, actSave:
		if p.data == nil {
			return "there is no result yet"
		}
		return p.canHere(m, a)
	default:
	}
	return ""
}

// canHere is can for what the parts have each in their own way.
func (p *replayPage) canHere(m *Model, a action) string {
	l := p.listed(m)
	switch a {
	case actNextPart, actPreviousPart:
		if len(p.parts) < 2 {
			return "there is no other part"
		}
	case actLeft, actRight:
		switch {
		case p.part() == partCharts && len(p.kinds) < 2:
			return "there is no other chart"
		case p.part() != partCharts && l == nil:
			return "there is nothing to scroll: tab goes to the next part"
		case l != nil && a == actRight && l.hidden == 0:
			return "all columns are shown"
		}
	case actOpen:
		switch {
		case l == nil && p.part() == partCharts:
			return "there is nothing to open: tab goes to the tables"
		case l == nil:
			return "tab goes to the next part"
		case cursorRow(l) < 0:
			return "there is no row"
		}
	case actFilter, actSortNext, actSortPrevious, actSortReverse:
		switch {
		case l == nil:
			return "there is no table here"
		case len(l.all) == 0:
			return "there is no row"
		}
	case actCopyRow:
		if l != nil && cursorRow(l) < 0 {
			return "there is no row"
		}
	default:
	}
	return ""
}

func (p *replayPage) act(m *Model, a action) cmd {
	switch a {
	case actBack:
		if l := p.listed(m); l != nil {
			return l.act(m, a)
		}
		return m.back()
	default:
	}
	if p.data == nil {
		return nil
	}
	switch a {
	case actNextPart, actPreviousPart:
		p.at = turn(p.at, map[action]int{actNextPart: 1, actPreviousPart: -1}[a], len(p.parts))
		p.top = 0
		return nil
	case actSave:
		m.menu = p.saveMenu(m)
		return nil
	default:
	}
	switch l := p.listed(m); {
	case l != nil:
		c := l.act(m, a)
		if _, moves := moved(a, 0, 0, 0); moves {
			p.follow(l)
		}
		return c
	case p.part() == partCharts:
		return p.actCharts(m, a)
	}
	return p.actText(m, a)
}

// follow has charts draw the latency of the point under the cursor.
func (p *replayPage) follow(l *list[int]) {
	if i := cursorRow(l); p.part() == partPoints && i >= 0 {
		p.point = i
	}
}

func (p *replayPage) actCharts(m *Model, a action) cmd {
	switch a {
	case actLeft:
		p.chart = turn(p.chart, -1, len(p.kinds))
	case actRight:
		p.chart = turn(p.chart, 1, len(p.kinds))
	case actCopyRow:
		return m.copyText(plainText(p.charts(m.w-2, m.bodyHeight(), m.cfg.ASCII)), "the charts")
	default:
		if r := p.data.Result; r != nil {
			if to, ok := moved(a, p.point, len(r.Points), 8); ok {
				p.point = max(0, min(to, len(r.Points)-1))
				m.say(toneInfo, "latency of "+p.pointText())
			}
		}
	}
	return nil
}

func (p *replayPage) actText(m *Model, a action) cmd {
	p.layText(m, max(minWidth, p.linesFor.w))
	if a == actCopyRow {
		return m.copyText(plainText(p.lines), "the text")
	}
	p.move(a)
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

func (p *replayPage) click(m *Model, x, y int) cmd {
	if p.data == nil {
		return nil
	}
	if y == p.tabRow() {
		for i, from := range p.tabs {
			if from >= 0 && x >= from && x < from+draw.Width(p.parts[i].name())+2 {
				p.at, p.top = i, 0
			}
		}
		return nil
	}
	l := p.listed(m)
	if l == nil {
		return nil
	}
	if l.clickAt(x, y) && p.can(m, actOpen) == "" {
		return p.act(m, actOpen)
	}
	p.follow(l)
	return nil
}

func (p *replayPage) wheel(m *Model, lines int) {
	if p.data == nil {
		return
	}
	if l := p.listed(m); l != nil {
		l.wheel(m, lines)
		p.follow(l)
		return
	}
	p.scroll(lines)
}
