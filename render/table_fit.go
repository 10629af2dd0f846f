package render

import (
	"slices"

	"kitescope/internal/table"
)

// Layout holds the columns of a table to which rows are added later. The zero value adopts the columns of the
// first table.
type Layout struct{ widths map[*table.Column]int }

func (l *Layout) initialized() bool { return l != nil && l.widths != nil }

// apply removes columns that the first table does not show, and sets the widths of the others.
func (l *Layout) apply(t *textTable) {
	if !l.initialized() {
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

func (l *Layout) setWidths(t *textTable) {
	if l == nil || l.initialized() {
		return
	}
	l.widths = make(map[*table.Column]int, len(t.columns))
	for j := range t.columns {
		l.widths[t.columns[j].Column] = t.columns[j].width
	}
}

// DroppedColumns holds the columns of a table that did not fit.
type DroppedColumns struct {
	// Hidden lists the titles of the columns.
	Hidden []string
}

// fitTo drops columns, highest priority first, until the table fits, and then shortens the widest texts, so
// that lines never wrap. It does not drop columns with priority 0 or Pinned ones.
func (t *textTable) fitTo(cells int, keep bool, dropped *DroppedColumns) {
	var hidden []string
	if t.total() > cells && !keep {
		hidden = t.drop(cells)
	}
	if dropped != nil { // resets earlier titles too
		dropped.Hidden = hidden
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

// drop removes columns until the table fits and returns their titles.
func (t *textTable) drop(cells int) (hidden []string) {
	var gone []textColumn
	for t.total() > cells {
		at := -1
		for j := range t.columns {
			if c := &t.columns[j]; c.Priority > 0 && !c.Pinned && (at < 0 || c.Priority >= t.columns[at].Priority) {
				at = j
			}
		}
		if at < 0 {
			break
		}
		gone = append(gone, t.columns[at])
		t.columns = append(t.columns[:at:at], t.columns[at+1:]...)
	}
	for k := range slices.Backward(gone) { // restore columns that fit again, last dropped first
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

// On a terminal, columns are dropped before names get narrower than minNameWidth cells. Otherwise, names are padded
// to at most maxPaddedWidth cells unless they are the last column, and a few long names can be wider.
const (
	minNameWidth   = 24
	maxPaddedWidth = 72
)

func (t *textTable) boundPadding() {
	for j := range t.columns[:len(t.columns)-1] {
		if c := &t.columns[j]; c.Shorten {
			c.width = min(c.width, maxPaddedWidth)
		}
	}
}

// fitNames drops columns until names fit or have room for minNameWidth cells each, and then cuts names that are
// still too long. It never cuts numbers.
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
		if drop >= 0 && room < names*minNameWidth && room < wanted {
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
