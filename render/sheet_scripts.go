package render

import (
	"io"
	"strconv"
	"strings"

	"kitescope/inspect/view"
	"kitescope/words"
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
	for i := range s.items {
		s.item(e, i, nil)
		e.line()
	}
	return e.output.flush()
}

// document is the report with its envelope.
func (s *sheet) document(e encoder) {
	e.beginObject()
	e.key("apiVersion")
	e.text(APIVersion)
	e.key("kind")
	e.text(s.kind)
	s.about(e)
	unknown := make([]bool, len(s.fields))
	switch {
	case s.alone:
		e.key("item")
		s.item(e, 0, unknown)
	default:
		if s.items < s.all {
			e.key("matched")
			e.integer(int64(s.all))
		}
		e.key("items")
		e.beginList()
		for i := range s.items {
			s.item(e, i, unknown)
		}
		e.endList()
	}
	var names []string
	for i, is := range unknown {
		if is {
			names = append(names, s.fields[i].name)
		}
	}
	writeNames(e, "unknown", names)
	e.endObject()
}

// item writes an entry. What does not exist is left out, as is what is unknown, which is marked.
func (s *sheet) item(e encoder, i int, unknown []bool) {
	e.beginObject()
	for j := range s.fields {
		d := s.fields[j].of(i)
		switch d.absent {
		case view.Unknown:
			if unknown != nil {
				unknown[j] = true
			}
		case view.None:
		case view.Present:
			e.key(s.fields[j].name)
			d.tell(e)
		}
	}
	if s.nested != nil {
		s.nested(e, i)
	}
	e.endObject()
}

// writeSheetCSV writes plain numbers in the unit of the samples. An empty field is a value that does not
// exist, "?" one that is unknown.
func writeSheetCSV(w io.Writer, s *sheet) error {
	out := newOutput(w)
	fields, rows := s.fields, s.items
	if s.flat != nil {
		fields, rows = s.flat, s.flatRows
	}
	if !s.o.NoHeader {
		for j := range fields {
			out.buf = append(out.buf, fields[j].name...)
			out.buf = append(out.buf, ",\n"[b2i(j == len(fields)-1)])
		}
	}
	var field []byte
	for i := range rows {
		for j := range fields {
			d := fields[j].of(i)
			field = d.appendCSV(field[:0])
			out.buf = appendField(out.buf, field)
			out.buf = append(out.buf, ",\n"[b2i(j == len(fields)-1)])
		}
		out.drain()
	}
	return out.flush()
}

func (d *datum) appendCSV(dst []byte) []byte {
	switch d.absent {
	case view.Unknown:
		return append(dst, words.UnknownMark...)
	case view.None:
		return dst
	case view.Present:
	}
	switch d.kind {
	case datumInt:
		return strconv.AppendInt(dst, d.n, 10)
	case datumNumber:
		return appendNumber(dst, d.f)
	case datumExact:
		return appendExact(dst, d.f)
	case datumBool:
		return strconv.AppendBool(dst, d.n != 0)
	case datumTime:
		return appendTime(dst, d.n)
	case datumSeconds:
		return appendSeconds(dst, d.n)
	case datumTexts:
		return append(dst, words.HarmlessLines(strings.Join(d.list, ";"))...)
	default:
		return append(dst, words.HarmlessLines(d.s)...)
	}
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
		if c := &parts[0].columns[i]; !c.wide {
			columns = append(columns, i)
			titles, rules = append(titles, mdText(c.title)), append(rules, []string{"---", "--:"}[b2i(c.right)])
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
				texts[j] = mdText(strings.TrimSpace(p.columns[column].text(row)))
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
			if p.columns[column].name {
				m.out.buf = append(append(append(m.out.buf, " **"...), mdText(l.all())...), "**"...)
			}
			m.out.buf = append(m.out.buf, " |"...)
		}
		m.line("")
	}
}
