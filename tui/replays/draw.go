package replays

import (
	"strings"

	"kitescope/render"
	"kitescope/render/replays"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// Room that drawings want beside or below a table.
const (
	leastAside  = 7 // lines below a table
	gridHeight  = 26
	leastCharts = 12 // lines of one chart of several
)

func (p *replayPage) Body(m *tui.Model, w, h int) []string {
	var lines []string
	if text := p.trouble(); text != "" {
		lines = append(lines, " "+m.Styles.Bad.On(draw.Cut(render.Glyph(render.RoleBad, m.Config.ASCII)+" "+text, w-2)))
	}
	if p.data == nil {
		if p.live == nil {
			return append(lines, append([]string{""}, draw.Sentence(m.Styles, "there is nothing to show", w)...)...)
		}
		return append(lines, styledLines(m.Styles, p.live.draw(m, w-2, h-len(lines)))...)
	}
	if len(p.parts) > 1 {
		lines = append(lines, p.tabLine(m.Styles, w))
		if h >= gridHeight {
			lines = append(lines, "")
		}
	}
	return append(lines, p.partBody(m, w, h-len(lines))...)
}

// tabLine names the parts; the one shown is in brackets, so that it is seen without colour.
func (p *replayPage) tabLine(st *draw.Styles, w int) string {
	names := make([]string, len(p.parts))
	for i, x := range p.parts {
		names[i] = " " + x.name() + " "
		if i == p.at {
			names[i] = "[" + x.name() + "]"
		}
	}
	first := 0
	for first < p.at && draw.Width(strings.Join(names[first:p.at+1], ""))+4 > w {
		first++
	}
	p.tabs = make([]int, len(names))
	var b strings.Builder
	used := 0
	if first > 0 {
		b.WriteString(st.Dim.On(" …"))
		used = 2
	}
	for i, name := range names {
		p.tabs[i] = -1
		if i < first || used+draw.Width(name) > w {
			continue
		}
		p.tabs[i] = used
		used += draw.Width(name)
		if i == p.at {
			b.WriteString(st.Tab.On(name))
		} else {
			b.WriteString(st.Dim.On(name))
		}
	}
	return b.String()
}

func styledLines(st *draw.Styles, lines []draw.Line) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = " " + l.Styled(st)
	}
	return out
}

func (p *replayPage) partBody(m *tui.Model, w, h int) []string {
	p.Height = h
	switch part := p.part(); part {
	case partOverview, partWhatIf:
		return p.textBody(m, w, h)
	case partCharts:
		return styledLines(m.Styles, p.data.drawChart(p.kinds[p.chart], p.point, w-2, h, m.Config.ASCII))
	default:
		return p.listBody(m, w, h)
	}
}

// textBody is a part that is text; a wide terminal has a drawing beside it.
func (p *replayPage) textBody(m *tui.Model, w, h int) []string {
	room := w
	if w >= draw.BesideWidth {
		room = w * 9 / 16
	}
	p.layText(m, room)
	p.Fit(len(p.lines), h)
	var text []string
	for _, l := range p.lines[p.Top:min(len(p.lines), p.Top+h)] {
		text = append(text, " "+l.CutTo(room-2).Styled(m.Styles))
	}
	if w < draw.BesideWidth || len(p.kinds) == 0 {
		return text
	}
	return draw.Beside(m.Styles, text, p.stacked(w-room-3, h, m.Config.ASCII), room, h)
}

// stacked are as many charts as have room below each other.
func (p *replayPage) stacked(w, h int, ascii bool) []draw.Line {
	n := max(1, min(len(p.kinds), h/leastCharts))
	var lines []draw.Line
	for i := range n {
		high := h/n - 1
		chart := p.data.drawChart(p.kinds[i], p.point, w, high, ascii)
		for len(chart) < high+1 {
			chart = append(chart, draw.Line{})
		}
		lines = append(lines, chart...)
	}
	return lines[:min(h, len(lines))]
}

// layText makes the lines of a part that is text, unless they are there.
func (p *replayPage) layText(m *tui.Model, w int) {
	f := replayFrame{p.part(), w}
	if p.linesFor == f && p.lines != nil {
		return
	}
	p.linesFor = f
	o := render.ReportOptions{Options: render.Options{Width: w - 2, ASCII: m.Config.ASCII}}
	if f.part == partWhatIf {
		p.lines = plotLines(replays.WhatIfLines(p.data.Report, o))
		return
	}
	p.lines = plotLines(replays.Lines(p.data.Result, o))
}

// listBody is a part that is a table, with what it says of the row under the cursor beside or below, where there is room.
func (p *replayPage) listBody(m *tui.Model, w, h int) []string {
	l := p.listed(m)
	var head []string
	if p.part() == partMissing && h >= draw.LeastRows+6 {
		head = styledLines(m.Styles, p.coverLines(w-2, m.Config.ASCII))
		head = append(head[:min(len(head), h/3)], "")
		h -= len(head)
	}
	l.Above = m.BodyHeight() - h
	if w >= draw.BesideWidth && p.hasAside() {
		left := w * 9 / 16
		table := l.Body(m.Styles, left, h)
		return append(head, draw.Beside(m.Styles, table, p.aside(m, w-left-3, h), left, h)...)
	}
	rows := max(1, len(l.Shown))
	if room := h - rows - 2; p.hasAside() && room >= leastAside {
		lines := l.Body(m.Styles, w, rows+1)
		for len(lines) < rows+2 {
			lines = append(lines, "")
		}
		return append(append(head, lines...), styledLines(m.Styles, p.aside(m, w-2, room))...)
	}
	return append(head, l.Body(m.Styles, w, h)...)
}

func (p *replayPage) coverLines(w int, ascii bool) []draw.Line {
	o := render.ReportOptions{Options: render.Options{Width: w, ASCII: ascii}}
	if p.data.Result != nil {
		return plotLines(replays.CoverLines(&p.data.Result.Cover, o))
	}
	return plotLines(replays.CoverLines(&p.data.Report.Cover, o))
}

func (p *replayPage) hasAside() bool { return p.part() != partMissing }

// aside is what there is to say of the row under the cursor.
func (p *replayPage) aside(m *tui.Model, w, h int) []draw.Line {
	l, ascii := p.listed(m), m.Config.ASCII
	row := cursorRow(l)
	if row < 0 {
		return nil
	}
	var lines []draw.Line
	switch p.part() {
	case partPoints:
		points := p.data.Result.Points
		if lines = latencyChart(points, row, w, min(h, 16), ascii); h >= 30 {
			o := render.ReportOptions{Options: render.Options{Width: w, ASCII: ascii}}
			lines = append(append(lines, draw.Line{}), plotLines(replays.PointLines(&points[row], o))...)
		}
	default:
		for _, x := range p.detail(p.part()).make(m, row, w) {
			lines = append(lines, x.line)
		}
	}
	for i := range lines {
		lines[i] = lines[i].CutTo(w)
	}
	return lines[:min(h, len(lines))]
}
