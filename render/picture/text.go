// Package picture draws the plots of all subjects as SVG or PNG. A subject defines a Chart: a title, panels with
// axes and short lists of series, and notes. This package determines its appearance:
//
//  1. It escapes texts, and shortens or wraps them to the available width.
//  2. Axes fit their values, with ticks at round numbers. LogAxis, RecallAxis and Axis.Log are for values of
//     different magnitudes.
//  3. Series differ by color, dash and mark, and pieces of bars by color and hatching. The legend names them.
package picture

import (
	"errors"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"kitescope/internal/hints"
	"kitescope/render"
)

// EmptyError returns an error with the reason why a picture cannot be drawn, and a hint about alternatives.
func EmptyError(why, hint string) error {
	return &hints.Error{Err: errors.New(why), Advice: hint}
}

// fit shortens the middle of a text until it fits the width.
func fit(style *draw.TextStyle, s string, width vg.Length) string {
	s = Text(s)
	for room := render.Cells(s); room > 2 && style.Width(s) > width; {
		room = max(2, min(room-1, int(float64(room)*float64(width/style.Width(s)))))
		s = render.ShortenMiddle(s, room, "…")
	}
	return s
}

// wrapAll wraps texts at blanks.
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

// Text escapes text for a picture and limits it to 170 cells. Without escaping, fonts show boxes for characters
// without a glyph, and some characters are invalid in SVG.
func Text(s string) string { return render.ShortenMiddle(render.Harmless(s), 170, "…") }
