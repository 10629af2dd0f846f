package render

import (
	"slices"

	"kitescope/internal/table"
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

// Unshown is what of a table had no room.
type Unshown struct {
	// Hidden are the titles of the columns.
	Hidden []string
}

// fitTo drops columns of the highest priority until the table fits, then shortens the widest texts, so that no line ever wraps. The first
// column and those that are Kept stay.
func (t *textTable) fitTo(cells int, keep bool, told *Unshown) {
	var hidden []string
	if t.total() > cells && !keep {
		hidden = t.drop(cells)
	}
	if told != nil { // also that there is room again
		told.Hidden = hidden
	}
	for t.total() > cells {
		widest := 0
		for j := range t.columns {
			if t.columns[j].width > t.columns[widest].width {
				widest = j
			}
		}
		if t.columns[widest].width <= 1 {
			break
		}
		t.columns[widest].width--
		t.columns[widest].cut = true
	}
	for j := range t.columns {
		if c := &t.columns[j]; c.cut && !c.Shorten {
			c.affixes = new(Affixes)
			for i := range t.grid.Len() {
				t.appendCell(t.grid.Row(i), c)
				c.affixes.Add(string(t.scratch))
			}
		}
	}
}

// drop takes columns away, and returns their titles.
func (t *textTable) drop(cells int) (hidden []string) {
	var gone []textColumn
	for t.total() > cells {
		at := -1
		for j := range t.columns {
			if c := &t.columns[j]; c.Priority > 0 && !c.Kept && (at < 0 || c.Priority >= t.columns[at].Priority) {
				at = j
			}
		}
		if at < 0 {
			break
		}
		gone = append(gone, t.columns[at])
		t.columns = append(t.columns[:at:at], t.columns[at+1:]...)
	}
	for k := range slices.Backward(gone) { // what wider ones have left room for comes back, the last to go first
		if t.total()+Gutter+gone[k].width <= cells {
			at := slices.IndexFunc(t.columns, func(c textColumn) bool { return c.cell > gone[k].cell })
			if at < 0 {
				at = len(t.columns)
			}
			t.columns = slices.Insert(t.columns, at, gone[k])
			gone = slices.Delete(gone, k, k+1)
		}
	}
	slices.SortFunc(gone, func(a, b textColumn) int { return a.cell - b.cell })
	for _, c := range gone {
		hidden = append(hidden, c.title)
	}
	return hidden
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
