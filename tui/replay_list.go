package tui

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"kitescope/inspect/view"
	"kitescope/render"
)

// replayColumn is a column of a replayList.
type replayColumn struct {
	view.Column
	text func(i int) string
	// value sorts, the largest first and NaN last; without it texts do, from A on.
	value func(i int) float64
	// bar columns are drawn: nobody sorts by them or copies them.
	bar bool
}

func (c *replayColumn) unknown(i int) bool { return c.value != nil && math.IsNaN(c.value(i)) }

// compare orders two rows.
func (c *replayColumn) compare(a, b int) int {
	switch {
	case c.value == nil:
		return strings.Compare(c.text(a), c.text(b))
	case c.unknown(a) || c.unknown(b):
		return boolOrder(c.unknown(a), c.unknown(b))
	}
	return cmp.Compare(c.value(b), c.value(a))
}

// replayList is a table of a replay that is sorted and filtered: points, segments, requests, changes.
type replayList struct {
	table
	noun string // "segment"
	cols []replayColumn
	n    int
	role func(i int) render.Role // nil: plain

	list      []int // what is shown, in order
	filter    string
	sort      int // of cols; -1: as it came
	ascending bool
}

func newReplayList(noun string, n int, role func(i int) render.Role, cols ...replayColumn) *replayList {
	l := &replayList{noun: noun, cols: cols, n: n, role: role, sort: -1}
	l.choose()
	return l
}

// choose lists the rows that the filter leaves, in order, with the cursor on its row if that is there.
func (l *replayList) choose() {
	at := l.current()
	l.list = l.list[:0]
	for i := range l.n {
		if l.filter == "" || strings.Contains(strings.ToLower(l.row(i, " ")), l.filter) {
			l.list = append(l.list, i)
		}
	}
	if l.sort >= 0 {
		c := &l.cols[l.sort]
		slices.SortStableFunc(l.list, func(a, b int) int {
			order := c.compare(a, b)
			if l.ascending && !c.unknown(a) && !c.unknown(b) {
				return -order
			}
			return order
		})
	}
	if k := slices.Index(l.list, at); k >= 0 {
		l.cursor = k
	}
	l.clamp(len(l.list))
}

// current is the row under the cursor, -1 if there is none.
func (l *replayList) current() int {
	if l.cursor < len(l.list) {
		return l.list[l.cursor]
	}
	return -1
}

// goTo puts the cursor on a row; a filter that hides it is taken away.
func (l *replayList) goTo(row int) {
	if !slices.Contains(l.list, row) {
		l.filter = ""
		l.choose()
	}
	l.cursor = max(0, slices.Index(l.list, row))
	l.clamp(len(l.list))
}

// row is a row without its bars.
func (l *replayList) row(i int, separator string) string {
	var cells []string
	for k := range l.cols {
		if !l.cols[k].bar {
			cells = append(cells, l.cols[k].text(i))
		}
	}
	return strings.Join(cells, separator)
}

func (l *replayList) tsvTable() (tsv string, rows int) {
	var titles []string
	for k := range l.cols {
		if !l.cols[k].bar {
			titles = append(titles, l.cols[k].Title)
		}
	}
	var b strings.Builder
	b.WriteString(strings.Join(titles, "\t") + "\n")
	for _, i := range l.list {
		b.WriteString(l.row(i, "\t") + "\n")
	}
	return b.String(), len(l.list)
}

// sortBy goes to the next column that can be sorted by, or the one before; between the last and the first it is as it came.
func (l *replayList) sortBy(step int) {
	for {
		l.sort += step
		switch {
		case l.sort >= len(l.cols):
			l.sort = -1
		case l.sort < -1:
			l.sort = len(l.cols) - 1
		}
		if l.sort < 0 || !l.cols[l.sort].bar {
			break
		}
	}
	l.ascending = false
	l.choose()
}

// order says what a list is sorted by, "" if it is as it came.
func (l *replayList) order() string {
	if l.sort < 0 {
		return ""
	}
	return "by " + strings.ToLower(l.cols[l.sort].Title)
}

func (l *replayList) find(text string) {
	l.filter = strings.ToLower(strings.TrimSpace(text))
	l.choose()
}

func (l *replayList) filterPrompt() *prompt {
	before := l.filter
	q := &prompt{
		sign:      "/",
		changed:   func(_ *Model, text string) cmd { l.find(text); return nil },
		accepted:  func(*Model, string) cmd { return nil },
		cancelled: func(*Model) cmd { l.find(before); return nil },
		status:    func(*Model) string { return plural(len(l.list), l.noun) },
		move: func(_ *Model, a action) cmd {
			l.move(map[action]action{actPrevious: actUp, actNext: actDown}[a], len(l.list))
			return nil
		},
	}
	q.set(before)
	return q
}

// body draws the list in h lines of w cells.
func (l *replayList) body(st *styles, w, h int) []string {
	if len(l.list) == 0 && l.filter != "" {
		return append([]string{""}, sentence(st, "no "+l.noun+" has "+clean(l.filter)+"; esc clears the filter", w)...)
	}
	// Texts count up from A where numbers go down.
	descending := l.sort >= 0 && (l.cols[l.sort].value != nil) != l.ascending
	return l.draw(st, replayGrid{l}, sortMark{l.sort, descending}, w, h)
}

// clickAt puts the cursor where the mouse is; on a heading it sorts. Again reports that the cursor was there already.
func (l *replayList) clickAt(x, y int) (again bool) {
	if y == 0 {
		if k := l.columnAt(x); k >= 0 && !l.cols[k].bar {
			l.ascending = l.sort == k && !l.ascending
			l.sort = k
			l.choose()
		}
		return false
	}
	i := l.top + y - 1
	if y < 0 || y > l.height || i >= len(l.list) {
		return false
	}
	again = i == l.cursor
	l.cursor = i
	return again
}

// replayGrid is a replayList as the table draws it.
type replayGrid struct{ *replayList }

func (g replayGrid) rows() int { return len(g.list) }

func (g replayGrid) columns() []view.Column {
	cols := make([]view.Column, len(g.cols))
	for i := range g.cols {
		cols[i] = g.cols[i].Column
	}
	return cols
}

func (g replayGrid) text(i, j int) string { return g.cols[j].text(g.list[i]) }

func (g replayGrid) look(i int) rowLook {
	if g.role == nil {
		return rowLook{}
	}
	return rowLook{role: g.role(g.list[i])}
}
