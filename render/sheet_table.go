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

// WriteTable writes a report as text. It iterates over rows twice, to measure widths and to write, because
// computing cells again is cheaper than keeping the texts of a million rows.
func WriteTable(w io.Writer, s *Sheet) error {
	t := &sheetText{Output: encode.NewOutput(w, encode.Pieces), s: s}
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
	s *Sheet
}

func (t *sheetText) lines(list []Line) { WriteLines(&t.Output, list, &t.s.Options.Options) }

// WriteLines writes lines of text, wrapped at blanks to the terminal width. If the text after a label (After)
// is a single piece, continuation lines are indented to the start of that piece.
func WriteLines(out *encode.Output, list []Line, o *Options) {
	p := NewPainter(o)
	ellipsis := "…"
	if o.ASCII {
		ellipsis = "~"
	}
	for i := range list {
		l := &list[i]
		text := words.Sanitize(l.Text)
		switch {
		case o.Width == 0 || l.NoWrap || l.Code || l.width() <= o.Width:
			out.Buf = p.Paint(out.Buf, l.Role, text)
			for _, x := range l.After {
				out.Buf = p.Paint(out.Buf, x.Role, words.Sanitize(x.Text))
			}
			out.Buf = append(out.Buf, '\n')
		case len(l.After) == 1:
			for k, line := range Hang(text, words.Sanitize(l.After[0].Text), o.Width) {
				if rest, ok := strings.CutPrefix(line, text); k == 0 && ok {
					out.Buf, line = p.Paint(out.Buf, l.Role, text), rest
				}
				out.Buf = append(p.Paint(out.Buf, l.After[0].Role, line), '\n')
			}
		default:
			for _, line := range WrapLine(l.EscapedText(), o.Width, ellipsis) {
				out.Buf = append(p.Paint(out.Buf, l.Role, line), '\n')
			}
		}
		out.Drain()
	}
}

// EscapedText returns the text of a line with all its pieces, escaped.
func (l *Line) EscapedText() string {
	pieces := []string{l.Text}
	for _, p := range l.After {
		pieces = append(pieces, p.Text)
	}
	return words.Sanitize(strings.Join(pieces, ""))
}

func (l *Line) width() int { return Cells(l.EscapedText()) }

// tableEnd returns the index after the last part of the table that begins at a part.
func tableEnd(parts []Part, begin int) int {
	end := begin + 1
	for end < len(parts) && parts[end].Joined {
		end++
	}
	return end
}

func (t *sheetText) layout(list []*table.Grid) *textTable {
	if t.s.TableOnly {
		return newTable(list[0], &t.s.Options.Options, "")
	}
	return newReportTable(list, &t.s.Options.Options)
}

// table writes a part and the parts joined to it.
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
		layout.withGrid(g).rows(&t.Output)
	}
}

// TablesWidth returns the width of the table that parts form, in cells, if nothing is cut.
func TablesWidth(parts []Part) int {
	return measuredTable(grids(parts, table.Always), &Options{}, "").total()
}
