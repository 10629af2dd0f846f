package render

import (
	"slices"

	"kitescope/table"
)

// Layout is the columns of a table to which rows are added later. The zero value takes those of the first table.
type Layout struct{ widths map[*table.Column]int }

func (l *Layout) settled() bool { return l != nil && l.widths != nil }

// apply leaves the columns of the first table, as wide as there.
func (l *Layout) apply(t *textTable) {
	if !l.settled() {
		return
	}
	t.columns = slices.DeleteFunc(t.columns, func(c textColumn) bool {
		_, shown := l.widths[c.Column]
		return !shown
	})
	for j := range t.columns {
		t.columns[j].width = l.widths[t.columns[j].Column]
	}
}

func (l *Layout) settle(t *textTable) {
	if l == nil || l.settled() {
		return
	}
	l.widths = make(map[*table.Column]int, len(t.columns))
	for j := range t.columns {
		l.widths[t.columns[j].Column] = t.columns[j].width
	}
}

// fitTo drops columns of the highest priority until the table fits, then shortens the
// widest texts, so that no line ever wraps.
func (t *textTable) fitTo(cells int, keep bool) {
	for !keep && t.total() > cells {
		drop := -1
		for j := range t.columns {
			if p := t.columns[j].Priority; p > 0 && (drop < 0 || p >= t.columns[drop].Priority) {
				drop = j
			}
		}
		if drop < 0 {
			break
		}
		t.columns = append(t.columns[:drop:drop], t.columns[drop+1:]...)
	}
	for t.total() > cells {
		widest := 0
		for j := range t.columns {
			if t.columns[j].width > t.columns[widest].width {
				widest = j
			}
		}
		if t.columns[widest].width <= 1 {
			return
		}
		t.columns[widest].width--
		t.columns[widest].cut = true
	}
}

// Names keep at least leastName cells in a terminal: columns go before. Elsewhere a name that is not the last column is
// padded no further than widestPadded: a few long ones may stick out.
const (
	leastName    = 24
	widestPadded = 72
)

func (t *textTable) boundPadding() {
	for j := range t.columns[:len(t.columns)-1] {
		if c := &t.columns[j]; c.Shorten {
			c.width = min(c.width, widestPadded)
		}
	}
}

// fitNames drops columns until names have room, then cuts names; figures stay whole.
func (t *textTable) fitNames(cells int, keep bool) {
	for {
		fixed, names, wanted, drop := Gutter*(len(t.columns)-1), 0, 0, -1
		for j := range t.columns {
			c := &t.columns[j]
			if c.Shorten {
				names++
				wanted += c.width
			} else {
				fixed += c.width
			}
			if !keep && c.Priority > 0 && (drop < 0 || c.Priority > t.columns[drop].Priority) {
				drop = j
			}
		}
		room := cells - fixed
		if drop >= 0 && room < names*leastName && room < wanted {
			t.columns = slices.Delete(t.columns, drop, drop+1)
			continue
		}
		for j := range t.columns {
			if c := &t.columns[j]; c.Shorten {
				c.width, c.cut = min(c.width, max(1, room/names)), true
			}
		}
		return
	}
}

func (t *textTable) total() int {
	sum := Gutter * (len(t.columns) - 1)
	for j := range t.columns {
		sum += t.columns[j].width
	}
	return sum
}
