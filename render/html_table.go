package render

import (
	"io"
	"slices"
	"strings"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/render/webpage"
)

var htmlWriter = &writer{name: "html", doc: "a single page to keep or mail", show: table.Always, sheet: writeSheetHTML}

// writeSheetHTML writes a self-contained page.
func writeSheetHTML(w io.Writer, s *Sheet) error {
	p := &webpage.Page{}
	head := s.Head
	p.Headline = s.Items.Table.Schema().Name
	if len(head) > 0 {
		p.Headline, head = strings.TrimSpace(head[0].EscapedText()), head[1:]
	}
	p.Window = p.Headline
	p.Add("Summary", webpage.Lines(PageLines(head)...))
	p.Add(Title(s.Items.Table.Schema().Name), s.Blocks()...)
	p.Add("Plots", s.Figures...)
	for _, l := range PageLines(s.Foot) {
		p.Notes = append(p.Notes, strings.TrimSpace(l.Name+" "+l.Text))
	}
	return WritePage(w, p)
}

// Title returns a name or text with a capital first letter, e.g. "Metrics" for "metrics".
func Title(name string) string {
	if name == "" {
		return name
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// Blocks returns the tables of a sheet as blocks of a page.
func (s *Sheet) Blocks() []webpage.Block {
	var blocks []webpage.Block
	for i := range s.Parts {
		blocks = append(blocks, PartTable(&s.Parts[i]).HTML())
	}
	return blocks
}

// PartTable converts a part of a sheet, with the lines above its table, for a page. It omits columns of text
// bars, because pages have pictures.
func PartTable(p *Part) *webpage.Table {
	t := &webpage.Table{Notes: PageLines(p.Head)}
	if len(t.Notes) > 0 && t.Notes[0].Class == "title" {
		t.Title, t.Notes = t.Notes[0].Text, t.Notes[1:]
	}
	if p.List == nil {
		return t
	}
	g := p.List(table.Always)
	g.Columns = slices.DeleteFunc(slices.Clone(g.Columns), func(i int) bool {
		title := g.Table.Schema().Columns[i].Title
		return title == "" || title == "SPLIT"
	})
	for j := range g.Columns {
		c := g.Column(j)
		t.Heads = append(t.Heads, webpage.Cell{
			Text: strings.TrimSpace(c.Title), Class: []string{"", "n"}[BoolInt(c.RightAligned())],
		})
	}
	for i := range g.Len() {
		cells := make([]webpage.Cell, len(t.Heads))
		for j := range cells {
			text, role := DisplayCell(g, i, j)
			cells[j] = webpage.Cell{
				Text: strings.TrimSpace(text), Class: strings.TrimSpace(t.Heads[j].Class + " " + toneOf(role)),
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// PageLines converts lines of a sheet for a page. It omits empty lines.
func PageLines(list []Line) []webpage.Line {
	var out []webpage.Line
	for i := range list {
		l := &list[i]
		line := webpage.Line{
			Class: toneOf(l.Role), Text: strings.TrimSuffix(strings.TrimSpace(l.EscapedText()), LimitHint),
		}
		if line.Text == "" {
			continue
		}
		if len(l.After) == 1 && l.NoWrap { // a value with a label
			line = webpage.Line{
				Class: toneOf(l.After[0].Role), Text: l.After[0].Text, Named: true, Name: strings.TrimSpace(l.Text),
			}
		}
		out = append(out, line)
	}
	return out
}

// toneOf returns the CSS class of a role.
func toneOf(r Role) string {
	switch r {
	case RoleDim:
		return "dim"
	case RoleGood:
		return "good"
	case RoleWarn:
		return "warn"
	case RoleBad:
		return "bad"
	case RoleTitle:
		return "title"
	case RolePlain, RoleAccent, RoleProgress, RoleAdded, RoleRemoved, RoleChanged, RoleSelected, RoleMore, RoleLess,
		table.Roles:
	}
	return ""
}

// WritePage writes a page through a buffer.
func WritePage(w io.Writer, p *webpage.Page) error {
	out := encode.NewOutput(w, encode.Pieces)
	if err := webpage.Write(&out, p); err != nil {
		return err
	}
	return out.Flush()
}

// NonBlank returns the texts without surrounding white space, except empty ones.
func NonBlank(list ...string) []string {
	var left []string
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" {
			left = append(left, s)
		}
	}
	return left
}
