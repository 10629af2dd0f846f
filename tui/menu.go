package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"kitescope/tui/draw"
)

// Menu is a short list to choose from, drawn over the page. Enter chooses the selected item, and a digit
// chooses the item at that position. An item that performs an action of the key map is chosen by the key of
// that action, because a letter has the same meaning in menus and on pages.
type Menu struct {
	Title string
	Items []MenuItem
	at    int
	top   int // the first visible item; box updates it
	h     int // the height of the last frame, in lines
}

// MenuItem is one item of a Menu.
type MenuItem struct {
	// Action is the action of the key map that the item performs. The key of the action chooses the item. It is
	// ActNone for other items.
	Action Action
	Text   string
	Note   string // dim, right-aligned
	// Why is the reason why the item cannot be chosen, or "" if it can.
	Why string
	Run func(m *Model, n *Menu) Cmd
}

// key handles a key press while the menu is open.
func (n *Menu) key(m *Model, a Action, key string) Cmd {
	for i := range n.Items {
		if n.keyOf(m, i) == key {
			n.at = i
			return n.choose(m)
		}
	}
	switch to, moves := Moved(a, n.at, len(n.Items), n.h-2); {
	case a == ActUp || a == ActDown: // wraps around
		n.at = (to + len(n.Items)) % len(n.Items)
	case moves:
		n.at = max(0, min(to, len(n.Items)-1))
	case a == ActOpen:
		return n.choose(m)
	case a == ActBack:
		m.Menu = nil
	default:
		m.Notify(ToneInfo, displayName(key)+" does nothing here: press enter or a number")
	}
	return nil
}

// keyOf returns the key that chooses an item, or "" if only enter does.
func (n *Menu) keyOf(m *Model, i int) string {
	switch a := n.Items[i].Action; {
	case a != ActNone:
		return m.keys.keyFor(InPages, a)
	case i > 8:
		return ""
	}
	return string(rune('1' + i))
}

func (n *Menu) choose(m *Model) Cmd {
	item := &n.Items[n.at]
	if item.Why != "" {
		m.Notify(ToneWarn, item.Text+": "+item.Why)
		return nil
	}
	m.Menu = nil
	return item.Run(m, n)
}

// box draws the menu. All lines that it returns have the same width.
func (n *Menu) box(m *Model, maxW, maxH int) []string {
	st := m.Styles
	inner := ansi.StringWidth(n.Title) + 4
	for i := range n.Items {
		inner = max(inner, 6+ansi.StringWidth(n.Items[i].Text)+ansi.StringWidth(n.Items[i].Note))
	}
	inner = min(inner, maxW-2)
	rows := min(len(n.Items), maxH-2)
	n.top = min(max(n.top, n.at-rows+1), n.at)
	lines := []string{st.Dim.On("╭─") +
		st.Title.On(draw.Fit(" "+n.Title+" ", min(ansi.StringWidth(n.Title)+2, inner-1))) +
		st.Dim.On(strings.Repeat("─", max(0, inner-3-ansi.StringWidth(n.Title)))+"╮")}
	for i := n.top; i < n.top+rows; i++ {
		lines = append(lines, st.Dim.On("│")+n.row(m, i, inner)+st.Dim.On("│"))
	}
	foot := strings.Repeat("─", inner)
	if rows < len(n.Items) {
		foot = ansi.Truncate(" ↑↓ more "+foot, inner, "")
	}
	return append(lines, st.Dim.On("╰"+foot+"╯"))
}

func (n *Menu) row(m *Model, i, w int) string {
	st := m.Styles
	item := &n.Items[i]
	note := item.Note
	if item.Why != "" {
		note = item.Why
	}
	key := draw.Fit(n.keyOf(m, i), 1)
	left := " " + key + "  " + item.Text
	note = draw.Cut(note, max(0, w-ansi.StringWidth(left)-2))
	plain := draw.Fit(draw.Fit(left, max(0, w-ansi.StringWidth(note)-1))+note, w)
	switch {
	case i == n.at:
		return st.Cursor.On(plain)
	case item.Why != "":
		return st.Dim.On(plain)
	}
	return strings.Replace(plain, " "+key, " "+st.Key.On(key), 1)
}
