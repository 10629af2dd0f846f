package render

import (
	"io"
	"strings"

	"kitescope/doc"
	"kitescope/table"
)

func writeSheetWide(w io.Writer, s *sheet) error {
	wide := *s.o
	wide.Width = 0
	s.o, s.wide = &wide, true
	return writeSheet(w, s)
}

// writeSheet goes over rows twice: once to find widths, once to write. Cells are cheap to compute again; keeping the texts
// of a million rows would not be.
func writeSheet(w io.Writer, s *sheet) error {
	t := &sheetText{Output: doc.NewOutput(w, doc.Pieces), painter: newPainter(&s.o.Options), s: s}
	if !s.o.NoHeader {
		t.lines(s.head)
	}
	for i := 0; i < len(s.parts); {
		end := tableEnd(s.parts, i)
		if i > 0 || len(s.head) > 0 && !s.o.NoHeader {
			t.Buf = append(t.Buf, '\n')
		}
		t.table(s.parts[i:end])
		i = end
	}
	if len(s.foot) > 0 && len(s.parts) > 0 && s.parts[len(s.parts)-1].list == nil {
		t.Buf = append(t.Buf, '\n')
	}
	t.lines(s.foot)
	return t.Flush()
}

type sheetText struct {
	doc.Output
	painter painter
	s       *sheet
}

// lines writes prose, broken at blanks where a terminal is narrow.
func (t *sheetText) lines(list []sheetLine) {
	for _, l := range list {
		if t.s.o.Width > 0 && !l.whole && l.width() > t.s.o.Width {
			wrapped := (&balanceText{o: &t.s.o.Options}).wrap(l.all(), t.s.o.Width)
			for _, text := range wrapped {
				t.Buf = append(t.painter.paint(t.Buf, l.role, text), '\n')
			}
			continue
		}
		t.Buf = t.painter.paint(t.Buf, l.role, l.text)
		for _, p := range l.after {
			t.Buf = t.painter.paint(t.Buf, p.Role, p.Text)
		}
		t.Buf = append(t.Buf, '\n')
		t.Drain()
	}
}

func (l *sheetLine) all() string {
	pieces := []string{l.text}
	for _, p := range l.after {
		pieces = append(pieces, p.Text)
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

func (t *sheetText) layout(list []*table.Grid) *textTable {
	if t.s.asIs {
		return newTable(list[0], &t.s.o.Options, "")
	}
	return newReportTable(list, &t.s.o.Options)
}

// table writes a part, and those that go on with it.
func (t *sheetText) table(parts []sheetPart) {
	if len(parts) == 1 {
		t.lines(parts[0].head)
	}
	if parts[0].list == nil {
		return
	}
	list := grids(parts, []table.Show{table.Always, table.Wide}[b2i(t.s.wide)])
	layout := t.layout(list)
	layout.header(&t.Output)
	for i, g := range list {
		if len(parts) > 1 {
			t.lines(parts[i].head)
		}
		layout.on(g).rows(&t.Output)
	}
}

// sheetWidth is how wide the table would be that parts make together, if nothing was cut.
func sheetWidth(parts []sheetPart) int {
	return measuredTable(grids(parts, table.Always), &Options{}, "").total()
}
