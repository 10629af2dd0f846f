package timeline

import (
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/history"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/clusters"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// aboutLines is the number of lines at the end that describe the item under the cursor.
const aboutLines = 2

// Body implements tui.Page.
func (p *page) Body(m *tui.Model, w, h int) []string {
	st := m.Styles
	switch l := p.state.lanes; {
	case p.why != "":
		return append([]string{""}, draw.Sentence(st, words.Sanitize(p.why), w)...)
	case l == nil:
		return []string{"", "   " + st.Dim.On("…")}
	case len(p.shown) == 0 && p.filter != "":
		text := "no lane matches " + words.Sanitize(p.filter) + "; esc clears the filter"
		return append([]string{""}, draw.Sentence(st, text, w)...)
	case len(p.shown) == 0:
		return append([]string{""}, draw.Sentence(st, "no events in the history that etcd keeps", w)...)
	}
	p.left = min(p.longest+3, max(18, w*2/5))
	p.w = w - p.left - 1
	lines := []string{p.scale(st)}
	room := h - len(lines) - aboutLines
	lines = append(lines, p.lanesIn(m, len(lines), room)...)
	for len(lines) < h-aboutLines {
		lines = append(lines, "")
	}
	return append(lines, p.about(m, w)...)
}

// cell returns the cell of a place on the track, or -1 if it is outside.
func (p *page) cell(place int64) int {
	from, to := p.visibleRange()
	if place < from || place > to {
		return -1
	}
	return min(p.w-1, int(float64(place-from)/float64(to-from)*float64(p.w)))
}

// scale returns the line with the times.
func (p *page) scale(st *draw.Styles) string {
	from, to := p.visibleRange()
	x := p.state.lanes.axis
	cells := []rune(strings.Repeat(" ", p.w))
	step, layout := tickStep(x, to-from, p.w)
	for at := from - from%step + step; at < to; at += step {
		text := words.Number(at)
		if x.Dated {
			text = time.Unix(0, at).UTC().Format(layout)
		}
		if i := p.cell(at); i >= 0 && i+len(text)+1 < p.w {
			copy(cells[i:], []rune("╷"+text))
		}
	}
	title := ""
	if x.Dated {
		title = "UTC " + time.Unix(0, from).UTC().Format(time.DateOnly)
	}
	return " " + st.Dim.On(draw.Fit(title, p.left-1)+string(cells))
}

// tickStep returns the distance between two times of the scale, chosen so that their texts fit, and the layout of
// the times.
func tickStep(x *history.Axis, span int64, w int) (step int64, layout string) {
	const cells = 12
	least := max(1, span*cells/int64(max(w, 1)))
	if !x.Dated {
		step = 1
		for step < least {
			step *= 10
		}
		return step, ""
	}
	for _, s := range []time.Duration{
		time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute,
		10 * time.Minute,
		30 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
	} {
		switch {
		case int64(s) < least:
			continue
		case s < time.Minute:
			return int64(s), "15:04:05"
		case s < 24*time.Hour && span < int64(24*time.Hour):
			return int64(s), "15:04"
		}
		return int64(s), "01-02 15:04"
	}
	day := int64(24 * time.Hour)
	return (least/day + 1) * day, "01-02"
}

// lanesIn draws the visible lanes in at most room lines, each group under its title if there is room.
func (p *page) lanesIn(m *tui.Model, above, room int) []string {
	titles := room >= 2*groupsOf(p.shown)+6
	p.rows, p.height = p.rows[:0], max(1, room)
	if titles {
		p.height = max(1, room-groupsOf(p.shown))
	}
	p.top = max(0, min(min(p.top, p.lane), len(p.shown)-p.height))
	p.top = max(p.top, p.lane-p.height+1)
	now, away := m.Revision()
	moment := -1
	if away {
		moment = p.cell(p.state.lanes.axis.Position(now))
	}
	var lines []string
	var before group
	for i := p.top; i < len(p.shown) && len(lines) < room; i++ {
		in := p.shown[i]
		if titles && (i == p.top || in.group != before) {
			lines = append(lines, " "+m.Styles.Dim.On(in.group.title()))
			if len(lines) == room {
				break
			}
		}
		before = in.group
		p.rows = append(p.rows, above+len(lines))
		lines = append(lines, p.line(m.Styles, in, i == p.lane, moment))
	}
	return lines
}

func groupsOf(list []*lane) int {
	n := 0
	for i := range list {
		if i == 0 || list[i].group != list[i-1].group {
			n++
		}
	}
	return n
}

// line draws a lane: its name and its events.
func (p *page) line(st *draw.Styles, in *lane, atCursor bool, moment int) string {
	sign := "  "
	name := st.Roles[render.RolePlain]
	if atCursor {
		sign, name = "▶ ", st.Strong
	}
	cells := make([]draw.Piece, p.w)
	for i := range cells {
		cells[i] = draw.Piece{Role: render.RoleDim, Text: "·"}
	}
	if in.span != nil {
		p.drawSpan(cells, in.span)
	} else {
		if in.group == nodeLanes {
			p.drawLifetime(cells, in)
		}
		p.drawEvents(cells, in)
	}
	if moment >= 0 && (cells[moment].Text == "·" || cells[moment].Text == registeredGlyph) {
		cells[moment] = draw.Piece{Role: render.RoleWarn, Text: "│"}
	}
	cursor := -1
	if atCursor {
		cursor = p.cell(p.cursorPlace())
	}
	return name.On(sign+draw.FitName(in.name, p.left-3)) + " " + track(st, cells, cursor)
}

// track joins cells of the same style, and highlights the cell under the cursor.
func track(st *draw.Styles, cells []draw.Piece, cursor int) string {
	var b strings.Builder
	for i := 0; i < len(cells); {
		if i == cursor {
			b.WriteString(st.Cursor.On(cells[i].Text))
			i++
			continue
		}
		end := i + 1
		for end < len(cells) && end != cursor && cells[end].Role == cells[i].Role {
			end++
		}
		var text strings.Builder
		for _, c := range cells[i:end] {
			text.WriteString(c.Text)
		}
		b.WriteString(st.Roles[cells[i].Role].On(text.String()))
		i = end
	}
	return b.String()
}

// drawEvents draws the events of a lane. If a cell has several events, it shows the most severe one.
func (p *page) drawEvents(cells []draw.Piece, in *lane) {
	l := p.state.lanes
	best := make([]mark, len(cells))
	for _, i := range p.events(in) {
		if c := p.cell(l.axis.EventPosition(int(i))); c >= 0 {
			best[c] = max(best[c], l.mark[i])
		}
	}
	for c, k := range best {
		if k != noMark {
			cells[c] = draw.Piece{Role: k.role(), Text: string(k.sign())}
		}
	}
}

// registeredGlyph is drawn where a node was registered.
const registeredGlyph = "─"

// drawLifetime draws the times at which a node was registered. A node whose first event is not its start was registered
// before.
func (p *page) drawLifetime(cells []draw.Piece, in *lane) {
	l := p.state.lanes
	from, to := p.visibleRange()
	fill := func(since, until int64) {
		if since, until = max(since, from), min(until, to); since > until {
			return
		}
		for c := p.cell(since); c <= p.cell(until); c++ {
			cells[c].Text = registeredGlyph
		}
	}
	since, there := l.axis.From, l.mark[in.events[0]] != addedMark
	for _, i := range in.events {
		e := l.axis.Event(int(i))
		switch {
		case l.mark[i] == addedMark && !there:
			since, there = l.axis.EventPosition(int(i)), true
		case isGone(&e) && there:
			fill(since, l.axis.EventPosition(int(i)))
			there = false
		}
	}
	if there {
		fill(since, to)
	}
}

// drawSpan draws the time span of a finding.
func (p *page) drawSpan(cells []draw.Piece, s *tui.Beginning) {
	x := p.state.lanes.axis
	from, to := p.visibleRange()
	first, last := x.Position(s.Revision), x.To
	if last < from || first > to {
		return
	}
	a, b := max(0, p.cell(max(first, from))), p.cell(min(last, to))
	role := clusters.SeverityRole(s.Finding.Severity)
	for i := a; i <= b; i++ {
		cells[i] = draw.Piece{Role: role, Text: "━"}
	}
	if first >= from && !s.AtLeast {
		cells[a] = draw.Piece{Role: role, Text: clusters.SeverityGlyph(s.Finding.Severity, false)}
	}
}

// about returns the lines that describe the item under the cursor.
func (p *page) about(m *tui.Model, w int) []string {
	st := m.Styles
	text := draw.Wrap(p.sentence(m), w-2)
	lines := []string{"", ""}
	for i := range min(len(text), aboutLines) {
		if i == aboutLines-1 && len(text) > aboutLines {
			text[i] = draw.Cut(text[i]+" …", w-2)
		}
		lines[i] = " " + text[i]
	}
	if e := p.currentEvent(); e != nil && markOf(e) == problemMark {
		lines[0] = st.Bad.On(lines[0])
	}
	if in := p.current(); in != nil && in.span != nil && in.span.Finding.Severity == check.Error {
		lines[0] = st.Bad.On(lines[0])
	}
	return lines
}

// sentence describes the item under the cursor.
func (p *page) sentence(*tui.Model) string {
	x := p.state.lanes.axis
	if e := p.currentEvent(); e != nil {
		text := draw.Stamp(x, e.Revision) + "  " + draw.EventText(e) + " (rev " + words.Number(e.Revision)
		if e.Last > e.Revision {
			text += " to " + words.Number(e.Last) + ", " + draw.Stamp(x, e.Last)
		}
		return text + ")"
	}
	in := p.current()
	if in == nil || in.span == nil {
		return ""
	}
	s := in.span
	text := "since " + draw.Stamp(x, s.Revision)
	if s.AtLeast {
		text = "since at least the start of the history"
	}
	return text + ": " + words.Sanitize(words.OneLine(s.Finding.Message))
}
