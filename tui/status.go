package tui

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"kitescope/internal/hints"
	"kitescope/internal/words"
	"kitescope/tui/draw"
)

// frame draws a Model.
type frame struct{ *Model }

// screen draws the screen. It returns the position of the terminal's cursor, or nil if there is none.
func (m frame) screen() (string, *tea.Cursor) {
	if m.Width < MinWidth || m.h < MinHeight {
		return m.tooSmall(), nil
	}
	bodyAt, bodyH := m.bodyTop(), m.BodyHeight()
	body := m.body(bodyH) // drawn before the crumbs, which include its scroll position
	lines := make([]string, 0, m.h)
	lines = append(lines, m.header())
	if m.hasRules() {
		lines = append(lines, m.rule())
	}
	lines = append(lines, m.crumbs())
	if m.data.troubled() {
		lines = append(lines, m.trouble())
	}
	lines = append(lines, body...)
	for len(lines) < bodyAt+bodyH {
		lines = append(lines, "")
	}
	if m.hasRules() {
		lines = append(lines, m.timeLine())
	}
	foot, cursor := m.footer()
	lines = append(lines, foot)
	m.overlay(lines, bodyAt, bodyH)
	return strings.Join(lines, "\n"), cursor
}

// waiting reports whether the current page needs a cluster and no cluster data has arrived.
func (m frame) waiting() bool {
	return m.data.cluster == nil && m.Config.First == nil && m.Top().Scope() != InHelp
}

// body draws the page. If no data has arrived, it draws the reason instead.
func (m frame) body(h int) []string {
	switch {
	case !m.waiting() || m.data.err == nil && m.Top().Scope() == InOverview:
		return m.Top().Body(m.Model, m.Width, h)
	case m.data.err == nil:
		return append([]string{""}, draw.Sentence(m.Styles, "… "+words.Sanitize(m.missing()), m.Width)...)
	}
	lines := []string{""}
	if m.data.retrying {
		lines = append(lines,
			"   "+
				draw.Cut("no data since "+m.data.waitStart.Format("15:04:05")+"; trying again every few seconds",
					m.Width-4), "")
	}
	for _, text := range draw.Prose(m.data.err.Error(), m.Width-5) {
		lines = append(lines, "   "+m.Styles.Bad.On(draw.Cut(text, m.Width-4)))
	}
	if hint := hints.Of(m.data.err); hint != "" {
		lines = append(lines, "")
		for _, text := range draw.Prose(hint, m.Width-5) {
			lines = append(lines, "   "+draw.Cut(text, m.Width-4))
		}
	}
	return lines[:min(h, len(lines))]
}

// narrowWidth is the width below which header and table are reduced to the minimum.
const narrowWidth = 56

// hasRules reports whether there is room for the rules between header, body and footer.
func (m *Model) hasRules() bool { return m.h >= 20 }

// troubled reports whether an extra line shows why newer data is missing. Without any data, the body shows
// the reason.
func (d *data) troubled() bool { return d.err != nil && d.cluster != nil }

// bodyTop returns the first line of the page.
func (m *Model) bodyTop() int {
	top := 2
	if m.hasRules() {
		top++
	}
	if m.data.troubled() {
		top++
	}
	return top
}

// BodyHeight returns the number of lines of a page.
func (m *Model) BodyHeight() int {
	h := m.h - m.bodyTop() - 1
	if m.hasRules() {
		h--
	}
	return h
}

func (m frame) rule() string {
	return " " + m.Styles.Dim.On(strings.Repeat("─", m.Width-2))
}

func (m frame) tooSmall() string {
	text := []string{
		"terminal too small", fmt.Sprintf("%d x %d, needs %d x %d", m.Width, m.h, MinWidth, MinHeight), "q quits",
	}
	lines := make([]string, 0, m.h)
	for range max(0, (m.h-len(text))/2) {
		lines = append(lines, "")
	}
	for _, t := range text {
		if len(lines) < m.h {
			t = draw.Cut(t, m.Width)
			lines = append(lines, draw.Pad((m.Width-draw.Width(t))/2)+t)
		}
	}
	return strings.Join(lines, "\n")
}

// header draws the name of the cluster and the age of the data.
func (m frame) header() string {
	st, d := m.Styles, &m.data
	where := m.Config.Title
	if d.cluster != nil {
		where = draw.Source(d.cluster.Origin.Location, d.cluster.Origin.Root)
	}
	right := m.freshness()
	if d.cluster != nil && d.cluster.Version.Text != "" {
		version := "Milvus " + words.Sanitize(d.cluster.Version.Text)
		if len(d.cluster.Version.Others) > 0 {
			version += " +" + words.Number(len(d.cluster.Version.Others))
		}
		if draw.Width(version)+draw.Width(right)+draw.Width(where)+18 <= m.Width {
			right = version + "   " + right
		}
	}
	name := " " + st.Title.On("kitescope") + "  "
	if m.Width < narrowWidth { // there is room only for the cluster and its state
		name = " "
	}
	room := max(8, m.Width-draw.Width(right)-draw.Width(name)-3)
	if d.cluster != nil && !d.live && draw.Width(where) > room {
		where = draw.CutPath(where, room)
	}
	left := name + draw.CutName(where, room)
	return draw.Justify(left, right+" ", m.Width)
}

// freshness returns the right end of the header: the revision, the age and the state of the source.
func (m frame) freshness() string {
	st, d := m.Styles, &m.data
	if d.cluster == nil {
		if m.Config.First != nil {
			return "" // profiles show their own times
		}
		if d.err != nil {
			return st.Bad.On("✖ no data")
		}
		if d.progress != "" {
			return st.Dim.On("… " + words.Sanitize(d.progress))
		}
		return st.Dim.On("… connecting")
	}
	var parts []string
	if r := d.cluster.Origin.Revision; r != 0 && m.Width >= narrowWidth {
		parts = append(parts, "rev "+strconv.FormatInt(r, 10))
	}
	old := ""
	if since, ok := d.ageShown(); ok {
		old, _ = draw.Age(m.Config.Now().Sub(since))
	}
	switch {
	case d.err != nil && !d.since.IsZero():
		parts = append(parts, "stale for "+old, st.Bad.On("✖ source lost"))
	case d.err != nil:
		parts = append(parts, old+" old", st.Bad.On("✖ source lost"))
	case d.past.inPast && d.past.busy && d.past.source.Progress() != "":
		parts = append(parts, m.pastText(), st.Dim.On("… "+d.past.source.Progress()))
	case d.past.inPast:
		parts = append(parts, m.pastText())
	case len(d.lost) > 0:
		who := words.Sanitize(d.lost[0].Name) + " silent"
		if n := len(d.lost); n > 1 {
			who = words.Number(n) + " processes silent"
		}
		parts = append(parts, st.Warn.On("▲ "+who+" for "+old))
	case d.live && d.cluster.Runtime.Unresponsive():
		parts = append(parts, st.Warn.On("▲ no process responding"))
	case d.live:
		changed := d.at.Format("15:04:05")
		if m.Width >= 100 {
			changed = "changed " + changed
		}
		parts = append(parts, changed, st.Good.On("● live"))
	default:
		if old != "" {
			old += " old"
		}
		parts = append(parts, old, st.Dim.On("○ "+draw.Offline(d.cluster.Origin.Kind)))
	}
	return strings.Join(words.NonEmpty(parts), st.Dim.On(" · "))
}

// trouble draws the line with the reason why newer data is missing.
func (m frame) trouble() string {
	d := &m.data
	text := " ✖ " + words.Sanitize(words.OneLine(d.err.Error()))
	if note := " · showing data from " + d.at.Format("15:04:05"); d.cluster != nil &&
		draw.Width(text)+draw.Width(note) < m.Width {
		text += note
	}
	return m.Styles.Bad.On(draw.Cut(text, m.Width))
}

// crumbs draws the breadcrumbs and the note of the page.
func (m frame) crumbs() string {
	note := ""
	if !m.waiting() {
		note = m.Top().Note(m.Model)
	}
	room := crumbRoom(note, m.Width)
	left := draw.Cut(crumbText(crumbNames(m.Model, room)), room)
	if i := strings.LastIndex(left, " › "); i >= 0 {
		left = m.Styles.Dim.On(left[:i]+" › ") + m.Styles.Tab.On(left[i+len(" › "):])
	} else {
		left = m.Styles.Tab.On(left)
	}
	return draw.Justify(" "+left, m.Styles.Dim.On(note)+" ", m.Width)
}

// footer draws the prompt, a message or the key hints, in this order of precedence.
func (m frame) footer() (string, *tea.Cursor) {
	switch {
	case m.Prompt != nil:
		return m.promptLine()
	case m.toast.text != "":
		return m.toastLine(), nil
	case m.Menu != nil:
		return m.hints(InMenu), nil
	}
	return m.hints(m.Top().Scope()), nil
}

func (m frame) promptLine() (string, *tea.Cursor) {
	p := m.Prompt
	status := ""
	if m.toast.text != "" {
		status = m.toast.text
	} else if p.Status != nil {
		status = p.Status(m.Model)
	}
	room := max(20, m.Width-draw.Width(status)-5)
	text, at := p.window(room)
	line := " " + m.Styles.Key.On(p.Sign) + text
	return draw.Justify(line, m.Styles.Dim.On(status)+" ", m.Width), tea.NewCursor(1+len(p.Sign)+at, m.h-1)
}

func (m frame) toastLine() string {
	st, glyph := draw.Style{}, " "
	switch m.toast.tone {
	case ToneGood:
		st, glyph = m.Styles.Good, " ✓ "
	case ToneWarn:
		st, glyph = m.Styles.Warn, " ▲ "
	case ToneBad:
		st, glyph = m.Styles.Bad, " ✖ "
	default:
	}
	return st.On(draw.Cut(glyph+m.toast.text, m.Width))
}

// overlay draws a menu or the suggestions of the palette over the body.
func (m frame) overlay(lines []string, top, h int) {
	var box []string
	x, y := 0, 0
	switch {
	case m.Prompt != nil && len(m.Prompt.list) > 0:
		box = m.Prompt.box(m.Styles, m.Width-2, min(h, 12))
		x, y = 0, top+h-len(box)
		if m.hasRules() {
			y++
		}
	case m.Menu != nil:
		box = m.Menu.box(m.Model, m.Width-4, h)
		x, y = max(0, (m.Width-ansi.StringWidth(box[0]))/2), top+max(0, (h-len(box))/3)
		m.Menu.h = len(box)
	}
	for i, b := range box {
		lines[y+i] = draw.Overlay(lines[y+i], b, x)
	}
}
