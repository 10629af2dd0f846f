package render

import (
	"io"
	"strings"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
)

func writeSheetWide(w io.Writer, s *Sheet) error {
	wide := *s.Options
	wide.Width = 0
	s.Options, s.wide = &wide, true
	return WriteTable(w, s)
}

// WriteTable goes over rows twice: once to find widths, once to write. Cells are cheap to compute again; keeping the texts
// of a million rows would not be.
func WriteTable(w io.Writer, s *Sheet) error {
	t := &sheetText{Output: encode.NewOutput(w, encode.Pieces), painter: NewPainter(&s.Options.Options), s: s}
	if !s.Options.NoHeader {
		t.lines(s.Head)
	}
	for i := 0; i < len(s.Parts); {
		end := tableEnd(s.Parts, i)
		if i > 0 || len(s.Head) > 0 && !s.Options.NoHeader {
			t.Buf = append(t.Buf, '\n')
		}
		t.table(s.Parts[i:end])
		i = end
	}
	if len(s.Foot) > 0 && len(s.Parts) > 0 && s.Parts[len(s.Parts)-1].List == nil {
		t.Buf = append(t.Buf, '\n')
	}
	t.lines(s.Foot)
	return t.Flush()
}

type sheetText struct {
	encode.Output
	painter Painter
	s       *Sheet
}

// lines writes prose, broken at blanks where a terminal is narrow.
func (t *sheetText) lines(list []Line) {
	for _, l := range list {
		if t.s.Options.Width > 0 && !l.Whole && l.width() > t.s.Options.Width {
			ellipsis := "…"
			if t.s.Options.ASCII {
				ellipsis = "~"
			}
			wrapped := WrapLine(l.All(), t.s.Options.Width, ellipsis)
			for _, text := range wrapped {
				t.Buf = append(t.painter.Paint(t.Buf, l.Role, text), '\n')
			}
			continue
		}
		t.Buf = t.painter.Paint(t.Buf, l.Role, words.Harmless(l.Text))
		for _, p := range l.After {
			t.Buf = t.painter.Paint(t.Buf, p.Role, words.Harmless(p.Text))
		}
		t.Buf = append(t.Buf, '\n')
		t.Drain()
	}
}

// All is the text of a line with that of its pieces.
func (l *Line) All() string {
	pieces := []string{l.Text}
	for _, p := range l.After {
		pieces = append(pieces, p.Text)
	}
	return words.Harmless(strings.Join(pieces, ""))
}

func (l *Line) width() int { return Cells(l.All()) }

// tableEnd is where the table ends that begins with a part.
func tableEnd(parts []Part, begin int) int {
	end := begin + 1
	for end < len(parts) && parts[end].Joined {
		end++
	}
	return end
}

func (t *sheetText) layout(list []*table.Grid) *textTable {
	if t.s.AsIs {
		return newTable(list[0], &t.s.Options.Options, "")
	}
	return newReportTable(list, &t.s.Options.Options)
}

// table writes a part, and those that go on with it.
func (t *sheetText) table(parts []Part) {
	if len(parts) == 1 {
		t.lines(parts[0].Head)
	}
	if parts[0].List == nil {
		return
	}
	list := grids(parts, []table.Show{table.Always, table.Wide}[BoolInt(t.s.wide)])
	layout := t.layout(list)
	layout.header(&t.Output)
	for i, g := range list {
		if len(parts) > 1 {
			t.lines(parts[i].Head)
		}
		layout.on(g).rows(&t.Output)
	}
}

// TablesWidth is how wide the table would be that parts make together, if nothing was cut.
func TablesWidth(parts []Part) int {
	return measuredTable(grids(parts, table.Always), &Options{}, "").total()
}
