package main

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"strings"
)

// Sizes and colors of the picture. A cell is cellWidth by cellHeight units.
const (
	cellWidth  = 8.4
	cellHeight = 18
	margin     = 12
	ink, paper = "#d4d4d4", "#1e1e1e"
)

// picture writes an SVG in pieces. Its bufio.Writer keeps the first error, which Flush returns.
type picture struct{ w *bufio.Writer }

func (p picture) printf(format string, args ...any) { _, _ = fmt.Fprintf(p.w, format, args...) }

// draw writes the picture. Each frame is a group that is visible for its duration. The animation repeats.
func draw(to *bufio.Writer, frames []frame, title string, columns, rows int) {
	w := picture{to}
	width, height := float64(columns)*cellWidth+2*margin, float64(rows)*cellHeight+2*margin
	w.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">`+"\n", width,
		height, escaped(title))
	w.printf("<title>%s</title>\n", escaped(title))
	total := 0
	for _, f := range frames {
		total += f.milliseconds
	}
	w.printf("<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans "+
		"Mono',monospace;white-space:pre;fill:%s}g.f{visibility:hidden}", ink)
	at := 0
	for i, f := range frames {
		from, to := 100*float64(at)/float64(total), 100*float64(at+f.milliseconds)/float64(total)
		w.printf(
			"@keyframes k%d{0%%{visibility:hidden}%.3f%%{visibility:visible}%.3f%%{visibility:hidden}100%%{visibility:hidden}}",
			i, from, to,
		)
		w.printf("#f%d{animation:k%d %dms step-end infinite}", i, i, total)
		at += f.milliseconds
	}
	// With reduced motion, only the last screen is shown.
	w.printf("@media (prefers-reduced-motion:reduce){g.f{animation:none!important}#f%d{visibility:visible}}</style>\n",
		len(frames)-1)
	w.printf(`<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", paper)
	for i, f := range frames {
		w.printf(`<g class="f" id="f%d">`+"\n", i)
		for row, runs := range f.lines {
			line(w, runs, row)
		}
		w.printf("</g>\n")
	}
	w.printf("</svg>\n")
}

// line draws the backgrounds of a line first, then its text.
func line(w picture, runs []span, row int) {
	y := margin + float64(row)*cellHeight
	for _, r := range runs {
		_, behind := r.colors()
		if behind != "" {
			w.printf(`<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s"/>`, margin+float64(r.column)*cellWidth,
				y, float64(len([]rune(r.text)))*cellWidth, cellHeight, behind)
		}
	}
	var b strings.Builder
	for _, r := range runs {
		if strings.TrimSpace(r.text) == "" {
			continue
		}
		before, _ := r.colors()
		lead := len([]rune(r.text)) - len([]rune(strings.TrimLeft(r.text, " ")))
		text := strings.TrimSpace(r.text)
		fmt.Fprintf(&b, `<tspan x="%.1f" textLength="%.1f"`, margin+float64(r.column+lead)*cellWidth,
			float64(len([]rune(text)))*cellWidth)
		if before != "" {
			fmt.Fprintf(&b, ` fill="%s"`, before)
		}
		if r.bold {
			b.WriteString(` font-weight="bold"`)
		}
		if r.faint {
			b.WriteString(` opacity=".6"`)
		}
		b.WriteString(">" + escaped(text) + "</tspan>")
	}
	if b.Len() > 0 {
		w.printf(`<text y="%.1f">%s</text>`+"\n", y+13.5, b.String())
	}
}

// colors returns the colors of the text and of its background, or "" for the picture's own.
func (s style) colors() (before, behind string) {
	if !s.reverse {
		return s.foreground, s.background
	}
	before, behind = s.background, s.foreground
	if before == "" {
		before = paper
	}
	if behind == "" {
		behind = ink
	}
	return before, behind
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder never returns an error
	return b.String()
}
