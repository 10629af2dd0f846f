package tui

import (
	"slices"
	"strings"

	"kitescope/tui/draw"
)

// maxHints is the number of keys that the footer shows at most.
const maxHints = 8

// hint is a key in the footer and a word for its action.
type hint struct {
	key, word string // as displayed
	weight    int
	last      int // position at the end of the footer, always shown (copying, the palette, help); 0 if not at the end
}

func (h *hint) width() int { return draw.Width(h.key) + 1 + draw.Width(h.word) }

// hints returns the most important keys that are possible now, as many as fit, the most important first. It always
// includes copying, the palette and help.
func (m frame) hints(in Scope) string {
	var b strings.Builder
	for i, h := range m.fitting(in) {
		b.WriteString(draw.Pad(min(1+i, draw.Gap)) + m.Styles.Key.On(h.key) + " " + h.word)
	}
	return b.String()
}

// fitting returns the hints that fit into the footer, in display order.
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

// possible returns all hints for possible actions, the most important first.
func (m frame) possible(in Scope) []hint {
	var list []hint
	page := m.Top()
	for _, b := range m.keys.hints(in) {
		if in&InPages != 0 && m.can(page, b.Action) != "" {
			continue
		}
		h := hint{key: displayName(b.Keys[0]), word: b.Hint, weight: b.Weight, last: lastPlace(in, b.Action)}
		switch {
		case b.Action == ActNumber && in == InOverview: // the overview shows all numbers
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

// lastPlace returns the position of a key at the end of the footer, 0 if it has none.
func lastPlace(in Scope, a Action) int {
	if in&InPages == 0 {
		return 0
	}
	return 1 + slices.Index([]Action{ActCopyRow, ActPalette, ActHelp}, a)
}

// roomyWidth is the width in cells from which the footer has room for complete words.
const roomyWidth = 100

// crumbNames returns the names of the pages in the breadcrumb that fit into room cells, and the number of leading
// names left out.
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

// crumbRoom returns the width in cells of the breadcrumb.
func crumbRoom(note string, w int) int { return max(12, w-draw.Width(note)-4) }
