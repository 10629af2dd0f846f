package flame

import (
	"bytes"
	"encoding/xml"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"

	"kitescope/profile/flame"
)

// maxSVG limits the size of an SVG in bytes. SVG omits the narrowest frames of larger pictures.
const maxSVG = 1_900_000

// SVG draws a picture without scripts. Frames have their values as tooltips, and names are text that can be
// searched and copied.
func SVG(w io.Writer, t *flame.Tree, o Options) error {
	for least := 0.4; ; least *= 1.5 {
		var b svgBrush
		newPicture(t, &o, least).draw(&b)
		b.WriteString("</svg>\n")
		if b.Len() <= maxSVG || least > float64(o.width()) {
			_, err := w.Write(b.Bytes())
			return err
		}
	}
}

type svgBrush struct {
	bytes.Buffer
	inFrame bool
}

func (b *svgBrush) begin(width, height int, background color.RGBA, title string) {
	wide, high := strconv.Itoa(width), strconv.Itoa(height)
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" width="` + wide + `" height="` + high + `" viewBox="0 0 ` +
		wide + " " + high + `" role="img" aria-label="`)
	b.escape(title)
	b.WriteString(`">` + "\n<style>text{white-space:pre}" +
		`.f{font:11px "Liberation Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}.p{font:12px "Liberation Sans",Helvetica,Arial,sans-serif}.t{font:bold 15px "Liberation Sans",Helvetica,Arial,sans-serif}g:hover>rect{stroke:#888;stroke-width:1}</style>` + "\n")
	b.WriteString(`<rect width="100%" height="100%" fill="` + hexText(background) + `"/>` + "\n")
}

func (b *svgBrush) frame(lines []string) {
	b.WriteString("<g><title>")
	b.escape(strings.Join(lines, "\n"))
	b.WriteString("</title>")
	b.inFrame = true
}

func (b *svgBrush) end() {
	b.WriteString("</g>\n")
	b.inFrame = false
}

func (b *svgBrush) rect(x, y, w, h float64, fill color.RGBA) {
	b.WriteString(`<rect x="` + short(x) + `" y="` + short(y) + `" width="` + short(w) + `" height="` + short(h) +
		`" fill="` + hexText(fill) + `"/>`)
	b.newline()
}

func (b *svgBrush) text(x, y float64, style textStyle, ink color.RGBA, s string) {
	b.WriteString(`<text class="` + [...]string{"f", "p", "t"}[style] + `" x="` + short(x) + `" y="` +
		short(y+baseline(style)) + `" fill="` + hexText(ink) + `">`)
	b.escape(s)
	b.WriteString("</text>")
	b.newline()
}

func (b *svgBrush) newline() {
	if !b.inFrame {
		b.WriteByte('\n')
	}
}

// escape writes text. It replaces characters that XML cannot represent by U+FFFD.
func (b *svgBrush) escape(s string) { _ = xml.EscapeText(b, []byte(s)) }

// baseline returns the distance of the baseline from the top of a line, in pixels.
func baseline(style textStyle) float64 { return [...]float64{12, 13, 14}[style] }

// short formats a number with at most two decimals.
func short(v float64) string { return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64) }
