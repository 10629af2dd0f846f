package draw

import (
	"strings"

	"kitescope/inspect/view"
	"kitescope/internal/table"
	"kitescope/render"
)

// CellText returns the text of a cell as all tables of kitescope show it.
func CellText(c *table.Column, cell table.Cell) string { return render.Text(cell, c.Kind) }

// AppendCell appends the text that CellText returns to dst.
func AppendCell(dst []byte, c *table.Column, cell table.Cell) []byte {
	return render.AppendText(dst, cell, c.Kind)
}

// CanHold reports whether the lower-cased output of AppendCell can contain word in a column of kind k.
func CanHold(k table.Kind, word []byte) bool { return render.CanHold(k, word) }

// ShownText returns the text of a cell for reading rather than copying. It groups the thousands of a count, and
// appends a glyph to a state of role warn or bad, so that the state is visible without colour too.
func ShownText(c *table.Column, cell table.Cell) string {
	text := string(render.AppendShown(nil, cell, c.Kind))
	if c.Kind != table.State || cell.Absent != table.Present {
		return text
	}
	switch role := render.StateRole(cell.Text); role {
	case render.RoleWarn, render.RoleBad:
		return text + " " + render.Glyph(role, false)
	default:
	}
	return text
}

// StateStyle returns the style of a state that ShownText returned. A good state has no colour; only problems do.
func StateStyle(st *Styles, text string) Style {
	word, _, _ := strings.Cut(text, " ")
	role := render.StateRole(word)
	if role == render.RoleGood {
		role = render.RolePlain
	}
	return st.Roles[role]
}

// Flexible reports whether a cell of kind k is still useful after it is cut. Half a time is not.
func Flexible(k table.Kind) bool {
	switch k {
	case table.Text, table.State, table.List, table.Pairs, table.NamedIDs, table.NamedPairs, table.NamedText:
		return true
	default:
	}
	return false
}

// PlainTable lays out the first n rows of a grid in w cells without colours.
func PlainTable(g *view.Grid, n, w int) (head string, rows []string) {
	all := g.Table.Resource().Columns
	texts := make([][]string, n)
	tracks := make([]Track, len(g.Columns))
	for j, c := range g.Columns {
		tracks[j] = Track{Natural: Width(all[c].Title), Priority: all[c].Priority, Flexible: Flexible(all[c].Kind)}
	}
	for i := range texts {
		texts[i] = make([]string, len(g.Columns))
		for j, c := range g.Columns {
			texts[i][j] = ShownText(&all[c], g.Cell(i, j))
			tracks[j].Natural = max(tracks[j].Natural, Width(texts[i][j]))
		}
	}
	places := Arrange(tracks, w, 0)
	line := func(text func(j int) string) string {
		var b strings.Builder
		for k, p := range places {
			if k > 0 {
				b.WriteString(Pad(Gap))
			}
			if all[g.Columns[p.Column]].RightAligned() {
				b.WriteString(FitRight(text(p.Column), p.Width))
			} else {
				b.WriteString(FitName(text(p.Column), p.Width))
			}
		}
		return strings.TrimRight(b.String(), " ")
	}
	head = line(func(j int) string { return all[g.Columns[j]].Title })
	for i := range texts {
		rows = append(rows, line(func(j int) string { return texts[i][j] }))
	}
	return head, rows
}
