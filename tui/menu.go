package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"kitescope/tui/draw"
)

// Menu is a short list to choose from, drawn over the page. Items are chosen with enter, by their numbers, and where an item does what a
// key does on pages, with that key: letters mean in menus what they mean elsewhere.
type Menu struct {
	Title string
	Items []MenuItem
	at    int
	top   int // first item drawn, kept by box
	// Where it was drawn last, for the mouse.
	x, y, w, h int
	// Stay keeps the menu open after a choice: items are switches, which have no numbers.
	Stay bool
}

// MenuItem is one line of a menu.
type MenuItem struct {
	// Action is what the item does where that is what a key of the key map does, whose key chooses it then; else ActNone.
	Action Action
	Text   string
	Note   string // dim, at the right
	// Why says why the item cannot be chosen, "" if it can.
	Why string
	Run func(m *Model, n *Menu) Cmd
}

// key handles a key that was pressed while n is open.
func (n *Menu) key(m *Model, a Action, key string) Cmd {
	for i := range n.Items {
		if n.keyOf(m, i) == key {
			n.at = i
			return n.choose(m)
		}
	}
	switch to, moves := Moved(a, n.at, len(n.Items), n.h-2); {
	case a == ActUp || a == ActDown: // a ring
		n.at = (to + len(n.Items)) % len(n.Items)
	case moves:
		n.at = max(0, min(to, len(n.Items)-1))
	case a == ActOpen, a == ActMark && n.Stay:
		return n.choose(m)
	case a == ActBack:
		m.Menu = nil
	default:
		text := m.keys.movedKey(InMenu, key)
		if text == "" {
			text = shown(key) + " chooses nothing here: enter or a number does"
		}
		m.Say(ToneInfo, text)
	}
	return nil
}

// keyOf is the key that chooses an item, "" if only enter does.
func (n *Menu) keyOf(m *Model, i int) string {
	switch a := n.Items[i].Action; {
	case a != ActNone:
		return m.keys.of(InPages, a)
	case n.Stay || i > 8:
		return ""
	}
	return string(rune('1' + i))
}

// click chooses what the mouse is on; beside the menu it closes it.
func (n *Menu) click(m *Model, x, y int) Cmd {
	if x < n.x || x >= n.x+n.w || y < n.y || y >= n.y+n.h {
		m.Menu = nil
		return nil
	}
	i := n.top + y - n.y - 1
	if y == n.y || y == n.y+n.h-1 || i >= len(n.Items) {
		return nil
	}
	n.at = i
	return n.choose(m)
}

func (n *Menu) choose(m *Model) Cmd {
	item := &n.Items[n.at]
	if item.Why != "" {
		m.Say(ToneWarn, item.Text+": "+item.Why)
		return nil
	}
	if !n.Stay {
		m.Menu = nil
	}
	return item.Run(m, n)
}

// box draws the menu and returns its lines, all equally wide.
func (n *Menu) box(m *Model, maxW, maxH int) []string {
	st := m.Styles
	inner := ansi.StringWidth(n.Title) + 4
	for i := range n.Items {
		inner = max(inner, 6+ansi.StringWidth(n.Items[i].Text)+ansi.StringWidth(n.Items[i].Note))
	}
	inner = min(inner, maxW-2)
	rows := min(len(n.Items), maxH-2)
	n.top = min(max(n.top, n.at-rows+1), n.at)
	lines := []string{st.Dim.On("╭─") + st.Title.On(draw.Fit(" "+n.Title+" ", min(ansi.StringWidth(n.Title)+2, inner-1))) +
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

// leastNote is what an explanation must have to say something.
const leastNote = 16

func (n *Menu) row(m *Model, i, w int) string {
	st := m.Styles
	item := &n.Items[i]
	note := item.Note
	if item.Why != "" {
		note = item.Why
	}
	key := draw.Fit(n.keyOf(m, i), 1)
	left := " " + key + "  " + item.Text
	if n.Stay { // explanations, which are read one below the other
		longest := 0
		for i := range n.Items {
			longest = max(longest, ansi.StringWidth(n.Items[i].Text))
		}
		left = draw.Fit(left, 6+longest)
		if room := w - 8 - longest; room >= leastNote {
			note = draw.Fit(note, room)
		} else {
			note = ""
		}
	}
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
