package render

import (
	"io"
	"strings"

	"kitescope/table"
)

func writeSheetJSON(w io.Writer, s *sheet) error {
	spread := itemsOnly
	if s.alone {
		spread = everything
	}
	e := newJSON(w, spread)
	s.document(e)
	return e.flush()
}

func writeSheetYAML(w io.Writer, s *sheet) error {
	e := newYAML(w)
	s.document(e)
	return e.flush()
}

// writeSheetLines writes an item a line.
func writeSheetLines(w io.Writer, s *sheet) error {
	e := newJSON(w, 0)
	it := s.list()
	for i := range s.items {
		it.write(e, i)
		e.line()
	}
	return e.output.flush()
}

// list is what scripts read of each item.
func (s *sheet) list() *items {
	it := newItems(forScripts(s.fields, s.items, s.all))
	it.more = s.nested
	return it
}

// document is the report with its envelope.
func (s *sheet) document(e encoder) {
	e.beginObject()
	e.key("apiVersion")
	e.text(APIVersion)
	e.key("kind")
	e.text(s.kind)
	s.about(e)
	it := s.list()
	switch {
	case s.alone:
		e.key("item")
		it.write(e, 0)
	default:
		if s.items < s.all {
			e.key("matched")
			e.integer(int64(s.all))
		}
		it.writeAll(e)
	}
	it.writeUnknown(e)
	e.endObject()
}

// writeSheetCSV writes plain numbers in the unit of the samples. An empty field is a value that does not
// exist, "?" one that is unknown.
func writeSheetCSV(w io.Writer, s *sheet) error {
	if s.flat != nil {
		return writeCSV(w, forScripts(s.flat, s.flatRows, s.flatRows), &s.o.Options)
	}
	return writeCSV(w, forScripts(s.fields, s.items, s.all), &s.o.Options)
}

// writeSheetMarkdown writes tables of GitHub flavoured Markdown.
func writeSheetMarkdown(w io.Writer, s *sheet) error {
	m := &markdown{newOutput(w)}
	for i, l := range s.head {
		if i == 0 {
			m.line("**" + mdText(l.all()) + "**")
			continue
		}
		m.sheetLine(&l)
	}
	for i := 0; i < len(s.parts); {
		end := tableEnd(s.parts, i)
		m.sheetTable(s.parts[i:end])
		i = end
	}
	for i := range s.foot {
		m.sheetLine(&s.foot[i])
	}
	return m.out.flush()
}

// sheetLine writes a paragraph. Indented by four blanks it would be code.
func (m *markdown) sheetLine(l *sheetLine) {
	m.line("", mdBlock(strings.TrimSpace(l.all())))
}

func (m *markdown) sheetTable(parts []sheetPart) {
	if len(parts) == 1 {
		m.sheetHead(&parts[0])
	}
	var columns []int
	titles, rules := []string{}, []string{}
	for i := range parts[0].columns {
		if c := &parts[0].columns[i]; c.Show == table.Always {
			columns = append(columns, i)
			titles, rules = append(titles, mdText(c.Title)), append(rules, []string{"---", "--:"}[b2i(c.Right)])
		}
	}
	if len(columns) == 0 {
		return
	}
	m.line("", "| "+strings.Join(titles, " | ")+" |", "|"+strings.Join(rules, "|")+"|")
	texts := make([]string, len(columns))
	for i := range parts {
		p := &parts[i]
		if len(parts) > 1 {
			m.sheetBetween(p, columns)
		}
		for row := range p.rows {
			for j, column := range columns {
				texts[j] = mdText(strings.TrimSpace(p.columns[column].Shown(row)))
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
func (m *markdown) sheetBetween(p *sheetPart, columns []int) {
	for _, l := range p.head {
		m.out.buf = append(m.out.buf, '|')
		for _, column := range columns {
			if p.columns[column].Shorten {
				m.out.buf = append(append(append(m.out.buf, " **"...), mdText(l.all())...), "**"...)
			}
			m.out.buf = append(m.out.buf, " |"...)
		}
		m.line("")
	}
}
