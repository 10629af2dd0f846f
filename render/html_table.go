package render

import (
	"html/template"
	"io"
	"strings"

	"kitescope/doc"
	"kitescope/table"
)

var htmlWriter = &writer{name: "html", doc: "a single page to keep or mail", show: table.Always, sheet: writeSheetHTML}

// htmlTableStyle is what a page of tables looks like: nothing that is fetched, light and dark, and on paper.
const htmlTableStyle = `<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;margin:2rem;overflow-wrap:anywhere}
h1{font-size:1.4rem}p{margin:.2rem 0}
table{border-collapse:collapse;font-size:.9rem;margin:1rem 0}
td,th{border-bottom:1px solid #8884;padding:.2rem .8rem .2rem 0;text-align:left;vertical-align:top}
.n{font-variant-numeric:tabular-nums;text-align:right;white-space:nowrap}
@media print{body{font-size:9pt;margin:0}tr{break-inside:avoid}}
</style>
`

// writeSheetHTML writes a page that needs nothing but itself.
func writeSheetHTML(w io.Writer, s *Sheet) error {
	p := &htmlTables{Output: doc.NewOutput(w, doc.Pieces)}
	head, title := s.Head, s.Items.Table.Schema().Name
	if len(head) > 0 {
		title, head = head[0].All(), head[1:]
	}
	p.put("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<title>", p.text(title), "</title>\n", htmlTableStyle, "</head>\n<body>\n<h1>", p.text(title), "</h1>\n")
	p.prose(head)
	for i := 0; i < len(s.Parts); {
		end := tableEnd(s.Parts, i)
		p.table(s.Parts[i:end])
		i = end
	}
	p.prose(s.Foot)
	p.put("</body>\n</html>\n")
	return p.Flush()
}

type htmlTables struct{ doc.Output }

func (p *htmlTables) put(pieces ...string) {
	for _, s := range pieces {
		p.Buf = append(p.Buf, s...)
	}
	p.Drain()
}

func (p *htmlTables) text(s string) string {
	return template.HTMLEscapeString(Harmless(strings.TrimSpace(s)))
}

func (p *htmlTables) prose(lines []Line) {
	for i := range lines {
		if text := p.text(lines[i].All()); text != "" {
			p.put("<p>", text, "</p>\n")
		}
	}
}

// table writes a part and those that go on with it: their heads stand between its rows.
func (p *htmlTables) table(parts []Part) {
	if len(parts) == 1 {
		p.prose(parts[0].Head)
	}
	if parts[0].List == nil {
		return
	}
	list := grids(parts, table.Always)
	class := make([]string, len(list[0].Columns))
	p.put("<table>\n<tr>")
	for j := range class {
		c := list[0].Column(j)
		class[j] = []string{"", ` class="n"`}[BoolInt(c.RightAligned())]
		p.put("<th", class[j], ">", p.text(c.Title), "</th>")
	}
	p.put("</tr>\n")
	for i, g := range list {
		if len(parts) > 1 {
			p.put("<tr><td>")
			p.prose(parts[i].Head)
			p.put("</td></tr>\n")
		}
		for row := range g.Len() {
			p.put("<tr>")
			for j := range class {
				text, _ := Seen(g, row, j)
				p.put("<td", class[j], ">", p.text(text), "</td>")
			}
			p.put("</tr>\n")
		}
	}
	p.put("</table>\n")
}
