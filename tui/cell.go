package tui

import (
	"strings"

	"kitescope/render"
	"kitescope/table"
	"kitescope/tui/draw"
)

// cellText is a cell as every table of kitescope shows it.
func cellText(c *table.Column, cell table.Cell) string { return render.Text(cell, c.Kind) }

// appendCell appends cellText.
func appendCell(dst []byte, c *table.Column, cell table.Cell) []byte {
	return render.AppendText(dst, cell, c.Kind)
}

// shownText is cellText with a glyph behind a state that wants a look, so that it is
// seen without colour too.
func shownText(c *table.Column, cell table.Cell) string {
	text := cellText(c, cell)
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

// stateStyle is the look of a text of shownText. What is as it should be has no
// colour: colour is for what is not.
func stateStyle(st *draw.Styles, text string) draw.Style {
	word, _, _ := strings.Cut(text, " ")
	role := render.StateRole(word)
	if role == render.RoleGood {
		role = render.RolePlain
	}
	return st.Roles[role]
}
