package flame

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"kitescope/internal/words"
	"kitescope/profile/flame"
)

// textStyle is a font of a picture.
type textStyle uint8

const (
	frameText textStyle = iota // monospaced
	plainText
	titleText
)

func (s textStyle) size() float64 { return [...]float64{11, 12, 15}[s] }

// Dimensions of pictures in pixels.
const (
	rowHeight  = 17.0
	pad        = 10.0
	lineHeight = 18.0
	// advance is the width of a character in a frame's name: 0.6 of the size, as in Liberation Mono, Courier,
	// Menlo and Consolas, plus a margin for wider fonts.
	advance = 11 * 0.605
)

// picture is a flame graph with its layout.
type picture struct {
	tree          *flame.Tree
	o             *Options
	palette       *Palette
	width, height int
	widths        []int64
	rows          [][]flame.Span
	cut           int // number of rows that did not fit
	narrow        float64
	top           float64
	legend        [][]legendEntry
	notes         []string
}

type legendEntry struct {
	x    float64
	key  Key
	text string
}

// newPicture lays out a tree. It omits frames narrower than minWidth pixels.
func newPicture(t *flame.Tree, o *Options, minWidth float64) *picture {
	p := &picture{tree: t, o: o, palette: NewPalette(t, o.Dark), width: o.width(), narrow: minWidth}
	p.top = pad + lineHeight + 6
	if o.Subtitle != "" {
		p.top += lineHeight
	}
	p.widths = t.Widths()
	p.rows = t.Layout(nil, p.widths, 0, float64(p.width)-2*pad, minWidth)
	p.layLegend()
	most := int((float64(o.maxHeight()) - p.top - float64(len(p.legend)+4)*lineHeight) / rowHeight)
	if most = max(most, 1); len(p.rows) > most {
		p.cut = len(p.rows) - most
		p.rows = p.rows[:most]
	} else if len(p.gaps(p.rows[len(p.rows)-1], nil)) > 0 {
		p.rows = append(p.rows, nil)
	}
	p.layNotes()
	p.height = int(math.Ceil(p.top + float64(len(p.rows))*rowHeight + float64(len(p.legend)+len(p.notes))*lineHeight +
		2*pad))
	return p
}

// measure estimates the width of a text in pixels. The mean width of a character is about half of the size.
func measure(style textStyle, s string) float64 {
	return 0.55 * style.size() * float64(utf8.RuneCountInString(s))
}

// layLegend arranges the keys of the legend in lines.
func (p *picture) layLegend() {
	x := pad
	for _, key := range p.palette.Legend() {
		e := legendEntry{key: key, text: key.Label}
		if key.Part >= 0 {
			e.text += " " + words.Percent(100*key.Part)
		}
		wide := 18 + measure(plainText, e.text) + 16
		if x+wide > float64(p.width) && x > pad || len(p.legend) == 0 {
			p.legend = append(p.legend, nil)
			x = pad
		}
		e.x = x
		x += wide
		last := len(p.legend) - 1
		p.legend[last] = append(p.legend[last], e)
	}
}

// layNotes writes notes about omitted frames and the meaning of widths.
func (p *picture) layNotes() {
	t := p.tree
	var notes []string
	if t.Root().Total == 0 && t.Root().Base == 0 {
		notes = append(notes, "There are no samples: nothing to draw.")
	}
	if t.Pruned > 0 {
		notes = append(notes,
			fmt.Sprintf("Left out: %s frames, with all below them, worth %.2g%% of the total or less each.",
				words.Number(int64(t.Pruned)), 100*t.PrunedMin))
	}
	notes = append(notes,
		fmt.Sprintf("Not drawn: frames narrower than %.2g pixels, %.2g%% of the total.", p.narrow,
			100*p.narrow/(float64(p.width)-2*pad)))
	if p.cut > 0 {
		notes = append(notes, fmt.Sprintf("Not drawn: %d more rows, deeper than fits.", p.cut))
	}
	if t.Diff {
		words := "Widths: the larger of both sides, so vanished frames are visible."
		if t.Normalized {
			words += " The new profile is scaled to the base's total."
		}
		notes = append(notes, words)
	}
	line := ""
	for _, note := range notes {
		if line != "" && measure(plainText, line+" "+note) > float64(p.width)-2*pad {
			p.notes = append(p.notes, line)
			line = ""
		}
		line = strings.TrimSpace(line + " " + note)
	}
	p.notes = append(p.notes, line)
}

// draw draws the whole picture.
func (p *picture) draw(b *svgBrush) {
	c := flameRamps(p.o.Dark)
	title := cutName(p.o.Title)
	b.begin(p.width, p.height, c.background, title)
	y := pad
	room := float64(p.width) - 2*pad
	b.text(pad, y, titleText, c.text, clipTitle(title, room))
	if p.o.Subtitle != "" {
		y += lineHeight + 4
		b.text(pad, y, plainText, c.dim, clip(plainText, cutName(p.o.Subtitle), room))
	}
	for depth, row := range p.rows {
		at := p.top + float64(depth)*rowHeight
		for _, span := range row {
			p.drawFrame(b, span, at)
		}
		if depth == 0 {
			continue
		}
		for _, gap := range p.gaps(p.rows[depth-1], row) {
			b.rect(pad+gap.From, at, gap.To-gap.From, rowHeight-1, c.rest)
		}
	}
	y = p.top + float64(len(p.rows))*rowHeight + pad
	for _, line := range p.legend {
		for _, e := range line {
			b.rect(e.x, y+3, 12, 12, c.edge)
			b.rect(e.x+1, y+4, 10, 10, e.key.Color)
			b.text(e.x+18, y, plainText, c.text, e.text)
		}
		y += lineHeight
	}
	for _, note := range p.notes {
		b.text(pad, y, plainText, c.dim, clip(plainText, note, room))
		y += lineHeight
	}
}

// gaps returns the spans of frames in a row that are too small to draw. callers is the row above. The space below
// a frame's self time stays empty.
func (p *picture) gaps(callers, row []flame.Span) (gaps []flame.Span) {
	i := 0
	for _, caller := range callers {
		f, width := &p.tree.Frames[caller.Frame], p.widths[caller.Frame]
		self := max(f.Self, f.BaseSelf)
		end := caller.From + (caller.To-caller.From)*(1-part64(min(self, width), width))
		at := caller.From
		for ; i < len(row) && p.tree.Frames[row[i].Frame].Parent == caller.Frame; i++ {
			if row[i].From-at >= 1 {
				gaps = append(gaps, flame.Span{From: at, To: row[i].From})
			}
			at = row[i].To
		}
		if end-at >= 1 {
			gaps = append(gaps, flame.Span{From: at, To: end})
		}
	}
	return gaps
}

func (p *picture) drawFrame(b *svgBrush, s flame.Span, y float64) {
	b.frame(Lines(p.tree, s.Frame))
	defer b.end()
	fill := p.palette.Fill(s.Frame)
	x, w := pad+s.From, s.To-s.From
	if w > 2 { // leave a gap between neighbors
		w -= 0.5
	}
	if p.tree.Diff && w > 3 {
		b.rect(x, y, w, rowHeight-1, flameRamps(p.o.Dark).edge)
		b.rect(x+0.5, y+0.5, w-1, rowHeight-2, fill)
	} else {
		b.rect(x, y, max(w, 0.3), rowHeight-1, fill)
	}
	name := cutName(p.tree.NameOf(&p.tree.Frames[s.Frame]))
	if mark := p.palette.Mark(s.Frame); mark != "" {
		name = mark + " " + name
	}
	if name = Label(name, int((w-6)/advance)); name != "" {
		b.text(x+3, y, frameText, p.palette.Text(fill), name)
	}
}

// clipTitle cuts a title to a width in pixels. It removes the directories of file names first.
func clipTitle(title string, width float64) string {
	if measure(titleText, title) > width {
		files := strings.Split(title, " → ")
		for i, file := range files {
			files[i] = file[strings.LastIndexByte(strings.TrimRight(file, "/"), '/')+1:]
		}
		title = strings.Join(files, " → ")
	}
	return clip(titleText, title, width)
}

// clip cuts a line to a width in pixels.
func clip(style textStyle, s string, width float64) string {
	if measure(style, s) <= width {
		return s
	}
	return string([]rune(s)[:max(0, int(width/measure(style, "…"))-1)]) + "…"
}

// Label shortens a frame's name to at most room characters. It removes the import path first and cuts the end
// after that. It returns "" if there is room for fewer than three characters.
func Label(name string, room int) string {
	if utf8.RuneCountInString(name) <= room {
		return name
	}
	if room < 3 {
		return ""
	}
	mark := ""
	if after, ok := strings.CutPrefix(name, "+ "); ok {
		mark, name = "+ ", after
	} else if after, ok := strings.CutPrefix(name, "− "); ok {
		mark, name = "− ", after
	}
	name = mark + withoutPath(name)
	runes := []rune(name)
	if len(runes) <= room {
		return name
	}
	return string(runes[:room-1]) + "…"
}

// withoutPath removes the import path from a function's name. If the last element is a major version, it keeps
// the element before.
func withoutPath(name string) string {
	path := name
	if end := strings.IndexAny(name, "([<"); end >= 0 {
		path = name[:end]
	}
	cut := strings.LastIndexByte(path, '/')
	if cut > 0 && cut+2 < len(name) && name[cut+1] == 'v' && name[cut+2] >= '0' && name[cut+2] <= '9' {
		cut = strings.LastIndexByte(path[:cut], '/')
	}
	return name[cut+1:]
}
