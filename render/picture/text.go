package picture

import (
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"kitescope/render"
)

// Fit shortens harmless text in its middle until it is no wider than there is room.
func Fit(style *draw.TextStyle, s string, width vg.Length) string {
	s = Text(s)
	for room := render.Cells(s); room > 2 && style.Width(s) > width; {
		room = max(2, min(room-1, int(float64(room)*float64(width/style.Width(s)))))
		s = render.ShortenMiddle(s, room, "…")
	}
	return s
}

// Wrap breaks text at blanks.
func Wrap(style *draw.TextStyle, s string, width vg.Length) []string {
	var lines []string
	for word := range strings.FieldsSeq(render.Harmless(s)) {
		if n := len(lines); n > 0 {
			if longer := lines[n-1] + " " + word; style.Width(longer) <= width {
				lines[n-1] = longer
				continue
			}
		}
		lines = append(lines, Fit(style, word, width))
	}
	return lines
}

// Text is text for a picture: what a font has no glyph for would be a box, and what SVG has no place for would break it: Harmless escapes both.
func Text(s string) string { return render.ShortenMiddle(render.Harmless(s), 170, "…") }
