package draw

import (
	"strings"

	"kitescope/render"
)

// Line is a line of plain pieces, each with its role.
type Line []Piece

// Piece is a text and the role it is styled by.
type Piece struct {
	Role render.Role
	Text string
}

// Styled returns the line with the escape sequences of a terminal.
func (l Line) Styled(st *Styles) string {
	var b strings.Builder
	for _, p := range l {
		b.WriteString(st.Roles[p.Role].On(p.Text))
	}
	return b.String()
}

// Width returns the width of the line in cells.
func (l Line) Width() int {
	n := 0
	for _, p := range l {
		n += Width(p.Text)
	}
	return n
}

// Plain returns the text of the line without styles.
func (l Line) Plain() string {
	var b strings.Builder
	for _, p := range l {
		b.WriteString(p.Text)
	}
	return b.String()
}

// CutTo returns the line cut to at most w cells.
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
