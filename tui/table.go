package tui

import (
	"strings"

	"kitescope/internal/table"
	"kitescope/render"
	"kitescope/tui/draw"
)

// grid is the content of a table: rows and columns of texts. Texts are built only for visible cells.
type grid interface {
	rows() int
	columns() []table.Column
	// text returns the cell of the i-th row in the j-th column of columns.
	text(i, j int) string
	// look returns the look of the i-th row.
	look(i int) RowLook
}

// RowLook is the state of a row. It determines the style of the row and its gutter.
type RowLook struct {
	Marked   bool
	Change   RowChange
	Dim      bool        // dropped objects
	Findings table.Tally // findings about it
	Role     render.Role
}

// tableView is the cursor and the scroll position of a table.
type tableView struct {
	Cursor, top int
	offset      int   // columns scrolled out at the left
	Widest      []int // the widest text seen in each column, so that columns do not jump while scrolling
	Placed      []draw.Placed
	stats       []columnStats // of each column
	fixed       bool          // keep the columns: widths and texts are not updated
	sameFirst   bool          // hide columns with the same value in all rows first; the page reports hidden columns
	height      int           // rows visible in the last frame
	Hidden      int           // columns without room in the last frame
}

// columnStats holds facts about the texts seen in a column. Like the widths, they accumulate over all rows seen.
type columnStats struct {
	render.Affixes
	first         string
	seen, differs bool
	multiple      bool // there was more than one row
}

func (l *columnStats) add(text string, visible int) {
	l.Add(text)
	l.multiple = l.multiple || visible > 1
	if !l.seen {
		l.first, l.seen = text, true
	}
	l.differs = l.differs || text != l.first
}

// same reports whether all rows seen have the same text.
func (l *columnStats) same() bool { return !l.differs && l.multiple }

// SortMark is the column that a table is sorted by: its position among the columns of the grid, or -1.
type SortMark struct {
	Column     int
	descending bool
}

// arrow returns the sort arrow for the title of a column.
func (s SortMark) arrow(column int) string {
	switch {
	case column != s.Column:
		return ""
	case s.descending:
		return " ↓"
	}
	return " ↑"
}

// gutter is the number of cells before the first column, for the mark and the change.
const gutter = 3

// Move performs a cursor movement over n rows. It reports whether a is a movement.
func (t *tableView) Move(a Action, n int) bool {
	to, ok := Moved(a, t.Cursor, n, t.height)
	t.Cursor = to
	switch a {
	case ActLeft:
		t.offset = max(0, t.offset-1)
	case ActRight:
		if t.Hidden > 0 {
			t.offset++
		}
	default:
		if !ok {
			return false
		}
	}
	t.clamp(n)
	return true
}

// clamp limits the cursor and the window to n rows.
func (t *tableView) clamp(n int) {
	t.Cursor = max(0, min(t.Cursor, n-1))
	if t.height > 0 {
		t.top = min(max(t.top, t.Cursor-t.height+1), t.Cursor)
		t.top = max(0, min(t.top, n-t.height))
	}
}

// put moves the cursor to row i of n and keeps it on the same screen line.
func (t *tableView) put(i, n int) {
	line := t.Cursor - t.top
	t.Cursor = i
	t.top = i - line
	t.clamp(n)
}

// ResetColumns resets the widths and texts of the columns. It is called when other columns are shown.
func (t *tableView) ResetColumns() { t.Widest, t.stats, t.offset = nil, nil, 0 }

// draw draws the header and the visible rows in h lines of w cells.
func (t *tableView) draw(st *draw.Styles, g grid, sorted SortMark, w, h int) []string {
	cols := g.columns()
	t.height = max(1, h-1)
	n := g.rows()
	t.clamp(n)
	visible := max(0, min(t.height, n-t.top))
	texts := t.read(g, cols, visible)
	soft := 0
	if names, ok := g.(interface{ minNameWidth() int }); ok {
		soft = names.minNameWidth()
	}
	t.place(cols, sorted.Column, w, soft)

	lines := make([]string, 0, h)
	lines = append(lines, t.header(st, cols, sorted))
	var b strings.Builder
	for i := range visible {
		b.Reset()
		t.row(&b, st, cols, texts[i*len(cols):(i+1)*len(cols)], g.look(t.top+i), t.top+i == t.Cursor, w)
		lines = append(lines, b.String())
	}
	return lines
}

// read returns the texts of the visible rows and updates the widths.
func (t *tableView) read(g grid, cols []table.Column, visible int) []string {
	learn := !t.fixed || len(t.Widest) != len(cols)
	if len(t.Widest) != len(cols) {
		t.Widest, t.stats = make([]int, len(cols)), make([]columnStats, len(cols))
		for j := range cols {
			t.Widest[j] = draw.Width(cols[j].Title)
		}
	}
	texts := make([]string, visible*len(cols))
	for i := range visible {
		for j := range cols {
			s := g.text(t.top+i, j)
			texts[i*len(cols)+j] = s
			if learn {
				t.Widest[j] = max(t.Widest[j], draw.Width(s))
				t.stats[j].add(s, visible)
			}
		}
	}
	return texts
}

func (t *tableView) place(cols []table.Column, sorted, w, soft int) {
	tracks := make([]draw.Track, len(cols))
	for j := range cols {
		tracks[j] = draw.Track{
			Natural: t.Widest[j], Priority: cols[j].Priority, Flexible: draw.Flexible(cols[j].Kind),
			Soft: max(soft, cols[j].MinWidth), Required: cols[j].Pinned,
		}
		tracks[j].Same = t.sameFirst && j > 0 && t.stats[j].same()
		if j == sorted { // it explains the order; reserve room for the arrow
			tracks[j].Required = true
			tracks[j].Natural = max(tracks[j].Natural, draw.Width(cols[j].Title)+2)
		}
	}
	t.offset = max(0, min(t.offset, len(cols)-2))
	t.Placed = draw.Arrange(tracks, w-gutter-1, t.offset)
	t.Hidden = len(cols) - len(t.Placed)
	if t.offset > 0 && len(t.Placed) > 0 {
		t.Hidden = len(cols) - 1 - t.Placed[len(t.Placed)-1].Column
	}
}

func (t *tableView) header(st *draw.Styles, cols []table.Column, sorted SortMark) string {
	var b strings.Builder
	b.WriteString(draw.Pad(gutter))
	for k, p := range t.Placed {
		if k > 0 {
			b.WriteString(draw.Pad(draw.Gap))
		}
		title := cols[p.Column].Title + sorted.arrow(p.Column)
		switch {
		case cols[p.Column].RightAligned():
			title = draw.FitRight(title, p.Width)
		case k < len(t.Placed)-1:
			title = draw.Fit(title, p.Width)
		default:
			title = draw.Cut(title, p.Width)
		}
		if p.Column == sorted.Column {
			b.WriteString(st.Tab.On(title))
		} else {
			b.WriteString(st.Dim.On(title))
		}
	}
	return b.String()
}

// isSentence reports whether a text may be cut at its end. Names are distinguished by either end, and errors
// have their reason at the end.
func isSentence(s string) bool { return strings.Count(s, " ") >= 2 && !strings.Contains(s, ": ") }

// row writes one row. A row has a single style. State words have their own colour only if the row has no style.
func (t *tableView) row(
	b *strings.Builder, st *draw.Styles, cols []table.Column, texts []string, look RowLook, atCursor bool, w int,
) {
	rowStyle := lookStyle(st, look, atCursor)
	b.WriteString(rowStyle.Open)
	b.WriteString(gutterOf(st, look, rowStyle))
	used := gutter
	for k, p := range t.Placed {
		if k > 0 {
			b.WriteString(draw.Pad(draw.Gap))
			used += draw.Gap
		}
		s := texts[p.Column]
		if cols[p.Column].RightAligned() {
			s = draw.FitRight(s, p.Width)
		} else {
			if draw.Width(s) > p.Width && !isSentence(s) {
				s = t.stats[p.Column].Cut(s, p.Width, "…", draw.CutName)
			}
			s = draw.Fit(s, p.Width)
		}
		used += p.Width
		switch {
		case rowStyle.Open != "":
		case cols[p.Column].Kind == table.State:
			s = draw.StateStyle(st, texts[p.Column]).On(s)
		case look.Findings != (table.Tally{}) && (k == 0 || cols[p.Column].Kind == table.Findings):
			s = st.Roles[look.Findings.Role()].On(s)
		}
		b.WriteString(s)
	}
	if atCursor {
		b.WriteString(draw.Pad(w - used))
	}
	b.WriteString(rowStyle.Close)
}

// gutterOf returns the mark, or else the sign of the worst finding, followed by the sign of the change.
func gutterOf(st *draw.Styles, look RowLook, row draw.Style) string {
	mark := " "
	switch {
	case look.Marked:
		mark = "◆"
	case look.Findings != (table.Tally{}):
		if mark = render.TallyGlyph(look.Findings); row.Open == "" {
			mark = st.Roles[look.Findings.Role()].On(mark)
		}
	}
	return mark + look.Change.Glyph() + " "
}

func lookStyle(st *draw.Styles, look RowLook, atCursor bool) draw.Style {
	switch {
	case atCursor:
		return st.Cursor
	case look.Marked:
		return st.Marked
	case look.Change == RowAdded:
		return st.Added
	case look.Change == RowChanged:
		return st.Changed
	case look.Change == RowRemoved:
		return st.Removed
	case look.Dim:
		return st.Dim
	case look.Role != render.RolePlain:
		return st.Roles[look.Role]
	}
	return draw.Style{}
}
