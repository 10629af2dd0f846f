package tui

import tea "charm.land/bubbletea/v2"

// wheelLines is how far one notch of the wheel goes.
const wheelLines = 3

// click hands a click to the menu or the page.
func (m *Model) click(msg tea.MouseClickMsg) cmd {
	if msg.Button != tea.MouseLeft || m.prompt != nil {
		return nil
	}
	m.toast = toast{}
	if m.menu != nil {
		return m.menu.click(m, msg.X, msg.Y)
	}
	w, ok := m.stack.top().(wheeler)
	y := msg.Y - m.bodyTop()
	if !ok || y < 0 || y >= m.bodyHeight() {
		return nil
	}
	return w.click(m, msg.X, y)
}

func (m *Model) wheel(msg tea.MouseWheelMsg) {
	w, ok := m.stack.top().(wheeler)
	if !ok || m.menu != nil {
		return
	}
	switch msg.Button {
	case tea.MouseWheelUp:
		w.wheel(m, -wheelLines)
	case tea.MouseWheelDown:
		w.wheel(m, wheelLines)
	default:
	}
}
