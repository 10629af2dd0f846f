package tui

import (
	"slices"
	"strings"

	"kitescope/tui/draw"
)

// maxHints is how many keys the footer shows at most.
const maxHints = 8

// hint is a key in the footer with a word for what it does.
type hint struct {
	key, word string // as they are shown
	weight    int
	last      int // its place at the end, however little room there is: copying, the palette, help; 0: not there
}

func (h *hint) width() int { return draw.Width(h.key) + 1 + draw.Width(h.word) }

// hints shows the most important keys that are possible now, as many as fit, the most important first. Copying, the palette and help are always among them.
func (m frame) hints(in Scope) string {
	var b strings.Builder
	for i, h := range m.fitting(in) {
		b.WriteString(draw.Pad(min(1+i, draw.Gap)) + m.Styles.Key.On(h.key) + " " + h.word)
	}
	return b.String()
}

// fitting are the hints that fit into the footer, in its order.
func (m frame) fitting(in Scope) []hint {
	all := m.possible(in)
	room, count := m.Width-2+draw.Gap, maxHints
	for i := range all {
		if all[i].last > 0 {
			room, count = room-all[i].width()-draw.Gap, count-1
		}
	}
	var chosen []hint
	for _, h := range all {
		if w := h.width() + draw.Gap; h.last == 0 && count > 0 && w <= room {
			room, count = room-w, count-1
			chosen = append(chosen, h)
		}
	}
	for _, h := range all {
		if h.last > 0 {
			chosen = append(chosen, h)
		}
	}
	return chosen
}

// possible are all hints that there could be now, the most important first.
func (m frame) possible(in Scope) []hint {
	var list []hint
	page := m.Top()
	for _, b := range m.keys.hints(in) {
		if in&InPages != 0 && m.can(page, b.Action) != "" {
			continue
		}
		h := hint{key: shown(b.Keys[0]), word: b.Hint, weight: b.Weight, last: lastPlace(in, b.Action)}
		switch {
		case b.Action == ActNumber && in == InOverview: // it has each of them
			continue
		case b.Action == ActNumber && in == InMenu:
			h.key, h.word = "1-9", "by number"
		case b.Action == ActNumber:
			h.key = allDigits
		case b.Action == ActHelp && in == InHelp:
			h.word = "close"
		}
		list = append(list, h)
	}
	if in == InOverview {
		for _, p := range places() {
			if p.weight == 0 || cannotGo(m.Model, p) != "" {
				continue
			}
			h := hint{key: p.number, word: p.page, weight: p.weight}
			if m.Width < roomyWidth && p.brief != "" {
				h.word = p.brief
			}
			list = append(list, h)
		}
		slices.SortStableFunc(list, func(a, b hint) int { return b.weight - a.weight })
	}
	slices.SortStableFunc(list, func(a, b hint) int { return a.last - b.last })
	return list
}

// lastPlace is the place of a page's key at the end of the footer, 0 if it has none.
func lastPlace(in Scope, a Action) int {
	if in&InPages == 0 {
		return 0
	}
	return 1 + slices.Index([]Action{ActCopyRow, ActPalette, ActHelp}, a)
}

// roomyWidth is a terminal whose footer has room for whole words.
const roomyWidth = 100

// crumbNames are the names of the pages on the way here that have room in so many cells, and how many of the first are left out.
func crumbNames(m *Model, room int) (names []string, left int) {
	for _, p := range m.stack.pages {
		names = append(names, p.Crumb())
	}
	for len(names)-left > 1 && draw.Width(crumbText(names[left:], left)) > room {
		left++
	}
	return names[left:], left
}

func crumbText(names []string, left int) string {
	text := strings.Join(names, " › ")
	if left > 0 {
		text = "… › " + text
	}
	return text
}

// crumbRoom are the cells that the way here may take.
func crumbRoom(note string, w int) int { return max(12, w-draw.Width(note)-4) }
