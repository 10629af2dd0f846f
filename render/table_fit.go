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
	// Same are the columns that are the same in every row, with their value: "STATE=Flushed".
	Same []string
	// Hidden are the titles of the others.
	Hidden []string
}

// fitTo drops columns until the table fits, then shortens the widest texts, so that no line ever wraps. Where somebody says what is not
// shown, columns that are the same in every row go first; then those of the highest priority. The first column and those that are Kept
// stay.
func (t *textTable) fitTo(cells int, keep bool, told *Unshown) {
	var hidden Unshown
	if t.total() > cells && !keep {
		hidden = t.drop(cells, told != nil)
	}
	if told != nil { // also that there is room again
		*told = hidden
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
				c.affixes.Add(t.text(i, c))
			}
		}
	}
}

// dropped is a column without room, and the value that it has in all rows if there is one.
type dropped struct {
	textColumn
	value string
	same  bool
}

func (t *textTable) drop(cells int, sameFirst bool) (hidden Unshown) {
	var gone []dropped
	take := func(at int, value string, same bool) {
		gone = append(gone, dropped{t.columns[at], value, same})
		t.columns = append(t.columns[:at:at], t.columns[at+1:]...)
	}
	values := make(map[int]string)
	for j := 1; j < len(t.columns) && sameFirst; j++ {
		if value, same := t.same(&t.columns[j]); same && !t.columns[j].Kept {
			values[t.columns[j].cell] = value
		}
	}
	for t.total() > cells {
		at := t.heaviest(func(c *textColumn) (int, bool) { _, same := values[c.cell]; return c.Priority, same })
		if at < 0 {
			break
		}
		take(at, values[t.columns[at].cell], true)
	}
	for t.total() > cells {
		at := t.heaviest(func(c *textColumn) (int, bool) { return c.Priority, c.Priority > 0 && !c.Kept })
		if at < 0 {
			break
		}
		take(at, "", false)
	}
	for k := range slices.Backward(gone) { // what wider ones have left room for comes back, the last to go first
		if t.total()+Gutter+gone[k].width <= cells {
			at := slices.IndexFunc(t.columns, func(c textColumn) bool { return c.cell > gone[k].cell })
			if at < 0 {
				at = len(t.columns)
			}
			t.columns = slices.Insert(t.columns, at, gone[k].textColumn)
			gone = slices.Delete(gone, k, k+1)
		}
	}
	slices.SortFunc(gone, func(a, b dropped) int { return a.cell - b.cell })
	for _, c := range gone {
		if c.same {
			hidden.Same = append(hidden.Same, c.title+"="+c.value)
		} else {
			hidden.Hidden = append(hidden.Hidden, c.title)
		}
	}
	return hidden
}

// heaviest is the column to drop next of those that may go, the last of the heaviest; -1 if none may.
func (t *textTable) heaviest(weight func(c *textColumn) (weight int, may bool)) int {
	at, most := -1, 0
	for j := range t.columns {
		if w, may := weight(&t.columns[j]); may && (at < 0 || w >= most) {
			at, most = j, w
		}
	}
	return at
}

// same is the text that a column has in every row; ok is false if they differ, or if one row is all there is.
func (t *textTable) same(c *textColumn) (text string, ok bool) {
	n := t.grid.Len()
	if n < 2 {
		return "", false
	}
	text = t.text(0, c)
	for i := 1; i < n; i++ {
		if t.text(i, c) != text {
			return "", false
		}
	}
	return text, true
}

// text is what people see of a cell.
func (t *textTable) text(i int, c *textColumn) string {
	t.appendCell(t.grid.Row(i), c)
	return string(t.scratch)
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
