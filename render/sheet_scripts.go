package render

import (
	"io"
	"strings"

	"kitescope/doc"
	"kitescope/table"
)

// lines writes an item a line.
func (s *sheet) lines(w io.Writer) error {
	if s.nested == nil { // on all processors
		out := doc.NewOutput(w, doc.Pieces)
		writeRows(&out, s.items.Len(), func() *jsonLine { return &jsonLine{newItems(s.items)} })
		return out.Flush()
	}
	e := doc.JSON(w, 0)
	it := s.list()
	for i := range s.items.Len() {
		it.write(e, i)
		e.Line()
	}
	return e.Flush()
}

// list is what scripts read of each item.
func (s *sheet) list() *items {
	it := newItems(s.items)
	it.more = s.nested
	return it
}

// document is the report with its envelope.
func (s *sheet) document(e *doc.Encoder) {
	e.BeginObject()
	e.Entry("apiVersion", APIVersion)
	e.Entry("kind", s.kind)
	s.about(e)
	it := s.list()
	switch {
	case s.alone:
		e.Key("item")
		it.write(e, 0)
	default:
		if s.items.Len() < s.items.Matched {
			e.Entry("matched", s.items.Matched)
		}
		it.writeAll(e)
	}
	it.writeUnknown(e)
	if s.after != nil {
		s.after(e)
	}
	e.EndObject()
}

var markdownWriter = &writer{name: "markdown", doc: "a table for pull requests and tickets", show: table.Always, sheet: writeSheetMarkdown}

// writeSheetMarkdown writes tables of GitHub flavoured Markdown.
func writeSheetMarkdown(w io.Writer, s *sheet) error {
	m := &markdown{doc.NewOutput(w, doc.Pieces)}
	if len(s.head) == 0 {
		m.line("**" + mdText(s.items.Table.Schema().Name) + "**")
	}
	for i, l := range s.head {
		if i == 0 {
			m.line("**" + mdText(l.all()) + "**")
			continue
		}
		m.sheetLine(&l)
	}
	m.tables(s.parts)
	for i := range s.foot {
		m.sheetLine(&s.foot[i])
	}
	return m.out.Flush()
}

// sheetLine writes a paragraph. Indented by four blanks it would be code.
func (m *markdown) sheetLine(l *sheetLine) {
	m.line("", mdBlock(strings.TrimSpace(l.all())))
}

// tables writes the tables of a report, with the lines above each.
func (m *markdown) tables(parts []sheetPart) {
	for i := 0; i < len(parts); {
		end := tableEnd(parts, i)
		m.sheetTable(parts[i:end])
		i = end
	}
}

func (m *markdown) sheetTable(parts []sheetPart) {
	if len(parts) == 1 {
		m.sheetHead(&parts[0])
	}
	if parts[0].list == nil {
		return
	}
	titles, rules := []string{}, []string{}
	list := grids(parts, table.Always)
	for j := range list[0].Columns {
		c := list[0].Column(j)
		titles, rules = append(titles, mdText(c.Title)), append(rules, []string{"---", "--:"}[b2i(c.RightAligned())])
	}
	m.line("", "| "+strings.Join(titles, " | ")+" |", "|"+strings.Join(rules, "|")+"|")
	texts := make([]string, len(titles))
	for i, g := range list {
		if len(parts) > 1 {
			m.sheetBetween(&parts[i], g)
		}
		for row := range g.Len() {
			for j := range texts {
				text, _ := seen(g, row, j)
				texts[j] = mdText(strings.TrimSpace(text))
			}
			m.line("| " + strings.Join(texts, " | ") + " |")
		}
	}
}

func (m *markdown) sheetHead(p *sheetPart) {
	for i := range p.head {
		m.sheetLine(&p.head[i])
	}
}

// sheetBetween writes the head of a part below the names of the table that it goes on with.
func (m *markdown) sheetBetween(p *sheetPart, g *table.Grid) {
	for _, l := range p.head {
		m.out.Buf = append(m.out.Buf, '|')
		for j := range g.Columns {
			if g.Column(j).Shorten {
				m.out.Buf = append(append(append(m.out.Buf, " **"...), mdText(l.all())...), "**"...)
			}
			m.out.Buf = append(m.out.Buf, " |"...)
		}
		m.line("")
	}
}
