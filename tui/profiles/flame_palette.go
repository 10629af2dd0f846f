package profiles

import (
	"image/color"

	"kitescope/profile"
	"kitescope/render"
	flamegraph "kitescope/render/flame"
	"kitescope/tui/draw"
)

// tint is the colour class of a frame: the class of its code or, in a comparison, its change.
type tint uint8

// Tints of comparisons follow those of the classes.
const (
	tintClass tint = 0 // + profile.Class
	tintLess  tint = iota + 15
	tintLess2      // much less
	tintLess3      // very much less
	tintMore       // more
	tintMore2      // much more
	tintMore3      // very much more
	tintNoise      // no change, or one that may be noise
	tintGroup      // the root, and nodes below it
	tints
)

// emphasis is the emphasis of a frame, in addition to its tint.
type emphasis uint8

const (
	emphasisPlain emphasis = iota
	emphasisFaint          // does not match the search
	emphasisMatch
	emphasisCursor
	emphases
)

// flamePalette holds the styles of frames: [tint][shade][emphasis].
type flamePalette struct {
	styles *draw.Styles // the theme that the palette was made for
	looks  [tints][2][emphases]draw.Style
	// mono means that no colours are used, so signs must carry all meaning.
	mono bool
}

// look returns the style of a frame. Two shades distinguish neighbours.
func (p *flamePalette) look(t tint, shade uint32, m emphasis) draw.Style {
	return p.looks[t][shade&1][m]
}

// newFlamePalette returns the styles for a theme. Frames have their own colours, because no theme has a role for
// classes of code, and because the colours of comparisons must be safe for colour-blind users.
func newFlamePalette(st *draw.Styles) *flamePalette {
	t := st.Theme
	p := &flamePalette{styles: st, mono: st.NoColor || colorless(t)}
	if st.SixteenColors && !p.mono {
		p.fill16()
		return p
	}
	ink, paper := "#101418", "#f6f8fa"
	faintFront, faintBack := "#8a8a8a", "#303030"
	cursor := render.Style{Foreground: ink, Background: "#ffffff", Bold: true}
	if !t.Dark {
		faintFront, faintBack = "#8a8a8a", "#e4e4e4"
		cursor = render.Style{Foreground: paper, Background: ink, Bold: true}
	}
	for x := range tints {
		backs := backgroundsOf(x)
		for shade := range backs {
			front := ink
			if x == tintLess3 || x == tintMore3 {
				front = paper
			}
			base := render.Style{Foreground: front, Background: backs[shade]}
			faint := render.Style{Foreground: faintFront, Background: faintBack}
			match := render.Style{Foreground: front, Background: backs[shade], Bold: true}
			look := &p.looks[x][shade]
			if p.mono {
				look[emphasisFaint] = draw.NewStyle(render.Style{Faint: true}, true)
				look[emphasisMatch] = draw.NewStyle(render.Style{Bold: true}, true)
				look[emphasisCursor] = draw.NewStyle(render.Style{Reverse: true, Bold: true}, true)
				continue
			}
			look[emphasisPlain], look[emphasisFaint] = draw.NewStyle(base, false), draw.NewStyle(faint, false)
			look[emphasisMatch] = draw.Underlined(match, false)
			look[emphasisCursor] = draw.NewStyle(cursor, false)
		}
	}
	return p
}

// fill16 fills the palette for a terminal with sixteen colours. Each class of code has one colour, and bold
// distinguishes neighbours. Comparisons use hues that nothing else in the graph uses.
func (p *flamePalette) fill16() {
	backs := [tints]string{
		tintLess: "14", tintLess2: "6", tintLess3: "4", tintMore: "11", tintMore2: "3", tintMore3: "1", tintNoise: "7",
		tintGroup: "15",
	}
	for class, back := range map[profile.Class]string{
		profile.Unknown: "7", profile.GoCode: "6", profile.Runtime: "5", profile.GC: "13", profile.Cgo: "11",
		profile.Native:   "3",
		profile.Assembly: "14", profile.Syscall: "9", profile.Kernel: "1", profile.Idle: "8", profile.Managed: "2",
	} {
		backs[tintClass+tint(class)] = back
	}
	for x, back := range backs {
		front := "0"
		if back == "1" || back == "4" || back == "8" {
			front = "15"
		}
		for shade := range p.looks[x] {
			base := render.Style{Foreground: front, Background: back, Bold: shade == 1}
			p.looks[x][shade] = [emphases]draw.Style{
				emphasisPlain:  draw.NewStyle(base, false),
				emphasisFaint:  draw.NewStyle(render.Style{Faint: true}, false),
				emphasisMatch:  draw.Underlined(base, false),
				emphasisCursor: draw.NewStyle(render.Style{Reverse: true, Bold: true}, false),
			}
		}
	}
}

func colorless(t *render.Theme) bool {
	for _, s := range t.Styles {
		if s.Foreground != "" || s.Background != "" {
			return false
		}
	}
	return true
}

// backgroundsOf returns the two shades of a tint. Classes of code have two, to distinguish neighbours. Changes have
// one, because the shade shows the size of the change. The colours are those of exported pictures except for the greys,
// because terminals with 256 colours have other greys.
func backgroundsOf(t tint) [2]string {
	less, more := flamegraph.ChangeColors(false)
	one := func(c color.RGBA) [2]string { return [2]string{flamegraph.Hex(c), flamegraph.Hex(c)} }
	switch t {
	case tintLess:
		return one(less[1])
	case tintLess2:
		return one(less[2])
	case tintLess3:
		return one(less[len(less)-1])
	case tintMore:
		return one(more[1])
	case tintMore2:
		return one(more[2])
	case tintMore3:
		return one(more[len(more)-1])
	case tintNoise:
		return [2]string{"#9e9e9e", "#a8a8a8"}
	case tintGroup:
		return [2]string{"#c6c6c6", "#bcbcbc"}
	default:
	}
	c := flamegraph.ClassColor(profile.Class(t), false)
	return [2]string{flamegraph.Hex(c), flamegraph.Hex(neighborColor(c))}
}

// neighborColor returns a colour that is distinguishable from c: paler, or darker if c is a pale grey.
func neighborColor(c color.RGBA) color.RGBA {
	const pale, some = 0xc0, 6
	shift := func(v uint8) uint8 { return v + (0xff-v)/some }
	if min(c.R, c.G, c.B) > pale {
		shift = func(v uint8) uint8 { return v - (0xff-v)/3 }
	}
	return color.RGBA{shift(c.R), shift(c.G), shift(c.B), 0xff}
}
