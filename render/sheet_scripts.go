package render

import (
	"io"
	"strings"

	"kitescope/internal/encode"
	"kitescope/internal/table"
)

// lines writes an item per line.
func (s *Sheet) lines(w io.Writer) error {
	if s.Nested == nil { // use all processors
		out := encode.NewOutput(w, encode.Pieces)
		writeRows(&out, s.Items.Len(), func() *jsonLine { return &jsonLine{NewItems(s.Items)} })
		return out.Flush()
	}
	e := encode.JSON(w, 0)
	it := s.list()
	for i := range s.Items.Len() {
		it.Write(e, i)
		e.Line()
	}
	return e.Flush()
}

// list returns the encoder of the items.
func (s *Sheet) list() *items {
	it := NewItems(s.Items)
	it.extra = s.Nested
	return it
}

// Document writes the report with its envelope.
func (s *Sheet) Document(e *encode.Encoder) {
	if s.WriteAll != nil && !s.Options.HasQuery() {
		s.WriteAll(e)
		return
	}
	e.BeginObject()
	e.Entry("apiVersion", APIVersion)
	e.Entry("kind", s.Kind)
	s.About(e)
	it := s.list()
	switch {
	case s.SingleItem:
		e.Key("item")
		it.Write(e, 0)
	default:
		if s.Items.Len() < s.Items.Matched {
			e.Entry("matched", s.Items.Matched)
		}
		it.writeAll(e)
	}
	it.writeUnknown(e)
	if s.After != nil {
		s.After(e)
	}
	e.EndObject()
}

var markdownWriter = &writer{
	name: "markdown", doc: "a table for pull requests and tickets", show: table.Always, sheet: writeSheetMarkdown,
}

// writeSheetMarkdown writes tables in GitHub Flavored Markdown.
func writeSheetMarkdown(w io.Writer, s *Sheet) error {
	m := &Markdown{encode.NewOutput(w, encode.Pieces)}
	if len(s.Head) == 0 {
		m.Line("**" + MarkdownText(s.Items.Table.Schema().Name) + "**")
	}
	for i, l := range s.Head {
		if i == 0 {
			m.Line("**" + MarkdownText(l.EscapedText()) + "**")
			continue
		}
		m.Lines([]Line{l})
	}
	m.Tables(s.Parts)
	m.Lines(s.Foot)
	return m.Out.Flush()
}

// Lines writes paragraphs, and consecutive lines of code as a block. It removes leading blanks, because Markdown
// treats a paragraph indented by four blanks as code.
func (m *Markdown) Lines(list []Line) {
	var code []string
	for i := range list {
		l := &list[i]
		if l.Code {
			text := strings.TrimSpace(l.Text)
			if len(l.After) > 0 {
				text = l.After[0].Text
			}
			if code = append(code, text); i+1 == len(list) || !list[i+1].Code {
				m.Fence(strings.Join(code, "\n"), "")
				code = nil
			}
			continue
		}
		text := mdBlock(strings.TrimSpace(l.EscapedText()))
		if len(l.After) > 0 && l.After[0].Role == RoleTitle {
			text = "**" + text + "**"
		}
		m.Line("", text)
	}
}

// Tables writes the tables of a report, with the lines above each table.
func (m *Markdown) Tables(parts []Part) {
	for i := 0; i < len(parts); {
		end := tableEnd(parts, i)
		m.sheetTable(parts[i:end])
		i = end
	}
}

func (m *Markdown) sheetTable(parts []Part) {
	if len(parts) == 1 {
		m.Lines(parts[0].Head)
	}
	if parts[0].List == nil {
		return
	}
	titles, rules := []string{}, []string{}
	list := grids(parts, table.Always)
	for j := range list[0].Columns {
		c := list[0].Column(j)
		titles, rules = append(titles, MarkdownText(c.Title)),
			append(rules, []string{"---", "--:"}[BoolInt(c.RightAligned())])
	}
	m.Line("", "| "+strings.Join(titles, " | ")+" |", "|"+strings.Join(rules, "|")+"|")
	texts := make([]string, len(titles))
	for i, g := range list {
		if len(parts) > 1 {
			m.sheetSubheading(&parts[i], g)
		}
		for row := range g.Len() {
			for j := range texts {
				text, _ := DisplayCell(g, row, j)
				texts[j] = MarkdownText(strings.TrimSpace(text))
			}
			m.Line("| " + strings.Join(texts, " | ") + " |")
		}
	}
}

// sheetSubheading writes the head of a joined part as a table row, in the columns of names.
func (m *Markdown) sheetSubheading(p *Part, g *table.Grid) {
	for _, l := range p.Head {
		m.Out.Buf = append(m.Out.Buf, '|')
		for j := range g.Columns {
			if g.Column(j).Shorten {
				m.Out.Buf = append(append(append(m.Out.Buf, " **"...), MarkdownText(l.EscapedText())...), "**"...)
			}
			m.Out.Buf = append(m.Out.Buf, " |"...)
		}
		m.Line("")
	}
}
