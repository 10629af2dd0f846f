package tui

import (
	"time"

	"kitescope/inspect/history"
	"kitescope/internal/words"
	"kitescope/tui/draw"
)

// The time line replaces the rule between page and footer, so it takes no line from the page.

// trackWidth returns the number of cells for the track of a time line of w cells. The other cells hold text.
func trackWidth(w int) int { return max(18, w*2/5-24) }

// timeLine draws the time of the displayed state and its position among all events, or a plain rule while the
// events are unknown.
func (m frame) timeLine() string {
	x := m.data.past.axis
	if x == nil {
		return m.rule()
	}
	w := m.Width - 2
	room := w - trackWidth(w) - 2
	text := m.nowText(x)
	if m.data.past.inPast {
		text = m.momentText(x, room)
	} else {
		text = m.Styles.Dim.On(draw.Cut(text, room))
	}
	place, here := x.To, m.Styles.Dim
	switch {
	case m.data.past.inPast:
		place, here = x.Position(m.data.past.to.revision), m.Styles.Warn
	case m.data.live:
		here = m.Styles.Good
	}
	return " " + draw.Fit(text, room) + "  " + draw.TimeTrack(m.Styles, x, trackWidth(w), place, here)
}

// nowText returns the number and the time span of the events, and the key that steps back.
func (m frame) nowText(x *history.Axis) string {
	text := words.Plural(x.Len(), "event")
	if x.Len() == 0 {
		text = "no event"
	}
	if x.Dated {
		text += " in " + words.Span(time.Duration(x.To-x.From))
	}
	if x.Len() > 0 {
		text += " (press " + KeyOf(m.Model, ActEarlier) + " to step back)"
	}
	return text
}

// momentText returns the displayed time and the event at that time or the last event before it.
func (m frame) momentText(x *history.Axis, room int) string {
	p := &m.data.past
	stamp := "◂ " + draw.Stamp(x, p.to.revision)
	next := x.CountUpTo(p.to.revision)
	text := " oldest"
	if next > 0 {
		if e := x.Event(next - 1); e.Revision == p.to.revision {
			text = " " + draw.EventText(&e)
		} else {
			text = " after " + draw.EventText(&e)
		}
	}
	place := " " + words.Number(next) + "/" + words.Number(x.Len())
	left := max(0, room-draw.Width(stamp)-draw.Width(place))
	return m.Styles.Warn.On(stamp) + draw.Fit(text, left) + m.Styles.Dim.On(place)
}

// pastText returns the state in the header while a past state is shown, so that it is not mistaken for the
// current state.
func (m frame) pastText() string {
	d := &m.data
	st := m.Styles
	const sign = "◂ "
	taken := d.cluster.Origin.Taken
	if taken.IsZero() {
		return st.Warn.On(sign + "past")
	}
	text := taken.UTC().Format("15:04:05")
	if m.Width >= 100 {
		text = taken.UTC().Format("2006-01-02 15:04:05") + " UTC"
	}
	switch {
	case d.live:
		ago, _ := draw.Age(m.Config.Now().Sub(taken))
		text += ", " + ago + " ago"
	case d.past.axis != nil && !d.past.axis.ToTime.IsZero():
		ago, _ := draw.Age(d.past.axis.ToTime.Sub(taken))
		text += ", " + ago + " before the end"
	}
	return st.Warn.On(sign + text)
}
