package render

import (
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"kitescope/table"
)

// Names keep at least this many cells in a terminal: columns go before.
const leastName = 24

// widestPadded is how far a name that is not the last column is padded: a few long ones may stick out.
const widestPadded = 72

func writeSheetWide(w io.Writer, s *sheet) error {
	wide := *s.o
	wide.Width = 0
	s.o, s.wide = &wide, true
	return writeSheet(w, s)
}

func writeSheet(w io.Writer, s *sheet) error {
	t := &sheetText{output: newOutput(w), painter: newPainter(&s.o.Options), s: s, ellipsis: "…"}
	if s.o.ASCII {
		t.ellipsis = "~"
	}
	if !s.o.NoHeader {
		t.lines(s.head)
	}
	for i := 0; i < len(s.parts); {
		end := tableEnd(s.parts, i)
		if i > 0 || len(s.head) > 0 && !s.o.NoHeader {
			t.buf = append(t.buf, '\n')
		}
		t.table(s.parts[i:end])
		i = end
	}
	if len(s.foot) > 0 && len(s.parts) > 0 && len(s.parts[len(s.parts)-1].columns) == 0 {
		t.buf = append(t.buf, '\n')
	}
	t.lines(s.foot)
	return t.flush()
}

type sheetText struct {
	output
	painter  painter
	s        *sheet
	ellipsis string
}

// lines writes prose, broken at blanks where a terminal is narrow.
func (t *sheetText) lines(list []sheetLine) {
	for _, l := range list {
		if t.s.o.Width > 0 && !l.whole && l.width() > t.s.o.Width {
			wrapped := (&balanceText{o: &t.s.o.Options}).wrap(l.all(), t.s.o.Width)
			for _, text := range wrapped {
				t.buf = append(t.painter.paint(t.buf, l.role, text), '\n')
			}
			continue
		}
		t.buf = t.painter.paint(t.buf, l.role, l.text)
		for _, p := range l.after {
			t.buf = t.painter.paint(t.buf, p.role, p.text)
		}
		t.buf = append(t.buf, '\n')
		t.drain()
	}
}

func (l *sheetLine) all() string {
	pieces := []string{l.text}
	for _, p := range l.after {
		pieces = append(pieces, p.text)
	}
	return strings.Join(pieces, "")
}

func (l *sheetLine) width() int { return cells(l.all()) }

// tableEnd is where the table ends that begins with a part.
func tableEnd(parts []sheetPart, begin int) int {
	end := begin + 1
	for end < len(parts) && parts[end].joined {
		end++
	}
	return end
}

// table writes a part, and those that go on with it.
func (t *sheetText) table(parts []sheetPart) {
	if len(parts) == 1 {
		t.lines(parts[0].head)
	}
	if len(parts[0].columns) == 0 {
		return
	}
	kept := make([]int, 0, len(parts[0].columns)) // indices, as each part has columns of its own rows
	for i := range parts[0].columns {
		if t.s.wide || parts[0].columns[i].Show == table.Always {
			kept = append(kept, i)
		}
	}
	kept, widths := t.fit(parts[0].columns, kept, t.widths(parts, kept))
	if !t.s.o.NoHeader {
		t.row(parts[0].columns, kept, widths, func(c *table.ColumnOf[int]) (string, Role) { return c.Title, RoleTitle })
	}
	for i := range parts {
		if len(parts) > 1 {
			t.lines(parts[i].head)
		}
		for row := range parts[i].rows {
			t.row(parts[i].columns, kept, widths, func(c *table.ColumnOf[int]) (string, Role) {
				if c.Role == nil {
					return c.Shown(row), RolePlain
				}
				return c.Shown(row), c.Role(row)
			})
			t.drain()
		}
	}
}

// widths are those that columns want.
func (t *sheetText) widths(parts []sheetPart, kept []int) []int {
	widths := make([]int, len(kept))
	for i, column := range kept {
		if !t.s.o.NoHeader {
			widths[i] = cells(parts[0].columns[column].Title)
		}
		for j := range parts {
			c := &parts[j].columns[column]
			for row := range parts[j].rows {
				widths[i] = max(widths[i], cells(c.Shown(row)))
			}
		}
	}
	return widths
}

// fit drops columns until names have room, then cuts names; where nothing is a terminal it only bounds padding.
func (t *sheetText) fit(columns []table.ColumnOf[int], kept, widths []int) (left, fitted []int) {
	if t.s.o.Width <= 0 {
		for i := range kept[:len(kept)-1] {
			if columns[kept[i]].Shorten {
				widths[i] = min(widths[i], widestPadded)
			}
		}
		return kept, widths
	}
	for {
		fixed, names, wanted, drop := gutter*(len(kept)-1), 0, 0, -1
		for i, column := range kept {
			c := &columns[column]
			if c.Shorten {
				names++
				wanted += widths[i]
			} else {
				fixed += widths[i]
			}
			if c.Priority > 0 && (drop < 0 || c.Priority > columns[kept[drop]].Priority) {
				drop = i
			}
		}
		room := t.s.o.Width - fixed
		if drop >= 0 && room < names*leastName && room < wanted {
			kept = append(kept[:drop:drop], kept[drop+1:]...)
			widths = append(widths[:drop:drop], widths[drop+1:]...)
			continue
		}
		for i, column := range kept {
			if columns[column].Shorten {
				widths[i] = min(widths[i], max(1, room/names))
			}
		}
		return kept, widths
	}
}

func (t *sheetText) row(columns []table.ColumnOf[int], kept, widths []int, of func(*table.ColumnOf[int]) (string, Role)) {
	for i, column := range kept {
		c := &columns[column]
		text, role := of(c)
		if c.Shorten && t.s.o.Width > 0 {
			text = shortenMiddle(text, widths[i], t.ellipsis)
		}
		space := widths[i] - cells(text)
		if c.Right {
			t.buf = appendSpaces(t.buf, space)
		}
		if text != "" && role != RolePlain {
			t.buf = t.painter.paint(t.buf, role, text)
		} else {
			t.buf = append(t.buf, text...)
		}
		if i == len(kept)-1 {
			break
		}
		if !c.Right {
			t.buf = appendSpaces(t.buf, space)
		}
		t.buf = appendSpaces(t.buf, gutter)
	}
	t.buf = append(trimBlanks(t.buf), '\n')
}

// trimBlanks takes away blanks at the end of a line whose last cells are empty.
func trimBlanks(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return b
}

// shortenMiddle cuts harmless text to a number of cells and keeps both ends: names of functions begin
// alike, and differ at their end.
func shortenMiddle(s string, room int, ellipsis string) string {
	n := cells(s)
	if n <= room {
		return s
	}
	mark := cells(ellipsis)
	if room <= 2*mark {
		return fit(s, room, ellipsis)
	}
	head := (room - mark) / 3
	tail := room - mark - head
	return ansi.Truncate(s, head, "") + ansi.TruncateLeft(s, n-tail, ellipsis)
}
