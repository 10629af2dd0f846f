package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"kitescope/tui/draw"
)

// menu is a short list to choose from, drawn over the page.
type menu struct {
	title string
	items []menuItem
	at    int
	top   int // first item drawn, kept by box
	// Where it was drawn last, for the mouse.
	x, y, w, h int
	// stay keeps the menu open after a choice, for switches.
	stay bool
}

// menuItem is one line of a menu.
type menuItem struct {
	key  string // one character that chooses it, "" if there is none
	text string
	note string // dim, at the right
	// why says why the item cannot be chosen, "" if it can.
	why string
	run func(m *Model, n *menu) cmd
}

// key handles a key that was pressed while n is open.
func (n *menu) key(m *Model, a action, text string) cmd {
	// A letter of an item goes before the key map's: q may be an item.
	for i := range n.items {
		if text != "" && n.items[i].key == text {
			n.at = i
			return n.choose(m)
		}
	}
	switch a {
	case actPrevious:
		n.at = (n.at + len(n.items) - 1) % len(n.items)
	case actNext:
		n.at = (n.at + 1) % len(n.items)
	case actAccept:
		return n.choose(m)
	case actBack:
		m.menu = nil
	default:
	}
	return nil
}

// click chooses what the mouse is on; beside the menu it closes it.
func (n *menu) click(m *Model, x, y int) cmd {
	if x < n.x || x >= n.x+n.w || y < n.y || y >= n.y+n.h {
		m.menu = nil
		return nil
	}
	i := n.top + y - n.y - 1
	if y == n.y || y == n.y+n.h-1 || i >= len(n.items) {
		return nil
	}
	n.at = i
	return n.choose(m)
}

func (n *menu) choose(m *Model) cmd {
	item := &n.items[n.at]
	if item.why != "" {
		m.say(toneWarn, item.text+": "+item.why)
		return nil
	}
	if !n.stay {
		m.menu = nil
	}
	return item.run(m, n)
}

// box draws the menu and returns its lines, all equally wide.
func (n *menu) box(st *draw.Styles, maxW, maxH int) []string {
	inner := ansi.StringWidth(n.title) + 4
	for i := range n.items {
		inner = max(inner, 6+ansi.StringWidth(n.items[i].text)+ansi.StringWidth(n.items[i].note))
	}
	inner = min(inner, maxW-2)
	rows := min(len(n.items), maxH-2)
	n.top = min(max(n.top, n.at-rows+1), n.at)
	lines := []string{st.Dim.On("╭─") + st.Title.On(draw.Fit(" "+n.title+" ", min(ansi.StringWidth(n.title)+2, inner-1))) +
		st.Dim.On(strings.Repeat("─", max(0, inner-3-ansi.StringWidth(n.title)))+"╮")}
	for i := n.top; i < n.top+rows; i++ {
		lines = append(lines, st.Dim.On("│")+n.row(st, i, inner)+st.Dim.On("│"))
	}
	foot := strings.Repeat("─", inner)
	if rows < len(n.items) {
		foot = ansi.Truncate(" ↑↓ more "+foot, inner, "")
	}
	return append(lines, st.Dim.On("╰"+foot+"╯"))
}

func (n *menu) row(st *draw.Styles, i, w int) string {
	item := &n.items[i]
	note := item.note
	if item.why != "" {
		note = item.why
	}
	key := item.key
	if key == "" {
		key = " "
	}
	left := " " + key + "  " + item.text
	note = draw.Cut(note, max(0, w-ansi.StringWidth(left)-2))
	plain := draw.Fit(draw.Fit(left, max(0, w-ansi.StringWidth(note)-1))+note, w)
	switch {
	case i == n.at:
		return st.Cursor.On(plain)
	case item.why != "":
		return st.Dim.On(plain)
	}
	return strings.Replace(plain, " "+key, " "+st.Key.On(key), 1)
}
