// Package picture draws the plots of all subjects. What enters is a Chart: a title, panels with axes and a short list of series, notes; what leaves
// is SVG or PNG. Subjects say which values there are, and this package alone how they look:
//
//  1. Texts are made harmless, and are shortened or broken to the room that there is.
//  2. Axes are as long as their values need, with round numbers; Doubling, Recall and Axis.Log are for values far apart.
//  3. Series differ by colour, dash and mark, pieces of bars by colour and hatching; the legend names them.
package picture

import (
	"errors"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"kitescope/internal/hints"
	"kitescope/render"
)

// Nothing says why there is no picture, and what can be drawn instead.
func Nothing(why, hint string) error {
	return &hints.Error{Err: errors.New(why), Advice: hint}
}

// fit shortens text in its middle until it is no wider than there is room.
func fit(style *draw.TextStyle, s string, width vg.Length) string {
	s = Text(s)
	for room := render.Cells(s); room > 2 && style.Width(s) > width; {
		room = max(2, min(room-1, int(float64(room)*float64(width/style.Width(s)))))
		s = render.ShortenMiddle(s, room, "…")
	}
	return s
}

// wrapAll breaks texts at blanks.
func wrapAll(style *draw.TextStyle, texts []string, width vg.Length) []string {
	var all []string
	for _, s := range texts {
		var lines []string
		for word := range strings.FieldsSeq(render.Harmless(s)) {
			if n := len(lines); n > 0 && style.Width(lines[n-1]+" "+word) <= width {
				lines[n-1] += " " + word
				continue
			}
			lines = append(lines, fit(style, word, width))
		}
		all = append(all, lines...)
	}
	return all
}

// Text is text for a picture: what a font has no glyph for would be a box, and what SVG has no place for would break it: Harmless escapes both.
func Text(s string) string { return render.ShortenMiddle(render.Harmless(s), 170, "…") }
