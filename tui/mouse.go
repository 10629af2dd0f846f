package tui

import tea "charm.land/bubbletea/v2"

// wheelLines is how far one notch of the wheel goes.
const wheelLines = 3

// click hands a click to the menu, the footer, the way here or the page.
func (m *Model) click(msg tea.MouseClickMsg) Cmd {
	if msg.Button != tea.MouseLeft || m.Prompt != nil {
		return nil
	}
	said := m.toast.text != ""
	m.toast, m.prefix = toast{}, ""
	switch {
	case m.Menu != nil:
		return m.Menu.click(m, msg.X, msg.Y)
	case msg.Y == m.h-1 && !said: // what is said stands over the keys
		return clickFooter(m, msg.X)
	case msg.Y == crumbsAt(m):
		return clickCrumb(m, msg.X)
	}
	if m.roomy() && msg.Y == m.h-2 {
		return m.clickTime(msg.X)
	}
	w, ok := m.Top().(Clicker)
	y := msg.Y - m.bodyTop()
	if !ok || y < 0 || y >= m.BodyHeight() {
		return nil
	}
	return w.Click(m, msg.X, y)
}

func (m *Model) wheel(msg tea.MouseWheelMsg) {
	w, ok := m.Top().(Clicker)
	if !ok || m.Menu != nil {
		return
	}
	switch msg.Button {
	case tea.MouseWheelUp:
		w.Wheel(m, -wheelLines)
	case tea.MouseWheelDown:
		w.Wheel(m, wheelLines)
	default:
	}
}
