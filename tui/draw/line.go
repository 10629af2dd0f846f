package draw

import (
	"strings"

	"kitescope/render"
)

// Line is a line of a drawing: plain pieces, each with its role.
type Line []Piece

// Piece is a text in the look of a role.
type Piece struct {
	Role render.Role
	Text string
}

// Styled is the line for a terminal.
func (l Line) Styled(st *Styles) string {
	var b strings.Builder
	for _, p := range l {
		b.WriteString(st.Roles[p.Role].On(p.Text))
	}
	return b.String()
}

// Width is the cells of a line.
func (l Line) Width() int {
	n := 0
	for _, p := range l {
		n += Width(p.Text)
	}
	return n
}

// Plain is a line's text.
func (l Line) Plain() string {
	var b strings.Builder
	for _, p := range l {
		b.WriteString(p.Text)
	}
	return b.String()
}

// CutTo leaves out what is beyond w cells.
func (l Line) CutTo(w int) Line {
	if l.Width() <= w {
		return l
	}
	out := Line{}
	for _, p := range l {
		if Width(p.Text) > w {
			p.Text = Cut(p.Text, w)
		}
		w -= Width(p.Text)
		out = append(out, p)
		if w <= 0 {
			break
		}
	}
	return out
}
