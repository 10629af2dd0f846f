package render

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Glyphs are the characters that a terminal can show. Whatever kitescope draws goes through Text on its way to a terminal, so that this is
// the one place which knows what stands for what.
type Glyphs uint8

// Kinds of terminals.
const (
	// AllGlyphs: every character.
	AllGlyphs Glyphs = iota
	// ConsoleGlyphs: what the fonts of the Linux console have: Latin, lines and blocks, no signs.
	ConsoleGlyphs
	// ASCIIGlyphs: bytes below 0x80.
	ASCIIGlyphs
)

// Text is a text, plain or styled, in characters that the terminal can show; each takes as many cells as what it stands for. Characters
// of others that have no stand-in are question marks.
func (g Glyphs) Text(s string) string {
	if g == AllGlyphs || isASCII(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for len(s) > 0 {
		if s[0] < utf8.RuneSelf {
			n := 1
			for n < len(s) && s[n] < utf8.RuneSelf {
				n++
			}
			b.WriteString(s[:n])
			s = s[n:]
			continue
		}
		cluster, cells := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		b.WriteString(g.cluster(cluster, cells))
		s = s[len(cluster):]
	}
	return b.String()
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// cluster is what stands for a character of so many cells.
func (g Glyphs) cluster(s string, cells int) string {
	r, size := utf8.DecodeRuneInString(s)
	if g == ConsoleGlyphs {
		if stands, ok := onConsole(r); ok {
			return string(stands) + s[size:]
		}
	}
	if size == len(s) {
		if stands, ok := inASCII(r); ok {
			return string(stands)
		}
	}
	if g == ConsoleGlyphs { // a name in a script that the font may have
		return s
	}
	return strings.Repeat("?", cells)
}

// onConsole is a character in a font of 256 or 512; ok is false where another one stands for it.
func onConsole(r rune) (stands rune, ok bool) {
	switch r {
	case '╭':
		return '┌', true
	case '╮':
		return '┐', true
	case '╰':
		return '└', true
	case '╯':
		return '┘', true
	case '▆', '▇', '▉', '▊': // parts of a cell are the half or the whole that is nearest
		return '█', true
	case '▃', '▅':
		return '▄', true
	case '▋', '▍':
		return '▌', true
	case '─', '│', '┌', '┐', '└', '┘', '├', '┤', '┬', '┴', '┼', '█', '▄', '▌', '▐', '▀', '░', '▒', '▓':
		return r, true
	}
	return r, r >= 0xa1 && r <= 0xff && r != 0xad
}

// inASCII is the character that stands for one of kitescope's own. Bars of parts of a cell become steps, as light as the part is small.
func inASCII(r rune) (stands rune, ok bool) {
	const ours, stand = "±µμ·×–‖’•…›←↑→↓−≈≠≤≥─━│╎╷┌┐└┘├┤┬┴┼╭╮╯╰▁▂▃▄▅▆▇█▉▊▋▌▍▎▏▐▀░▒▓▲△▶▸▼▾◂◆●○◌✓✖",
		"~uu-x-|'-~><^>v-~!<>-=|:'++++|++++++++_.--==####==--.='.:%!^>>vv<**o.+x"
	at := 0
	for _, one := range ours {
		if one == r {
			return rune(stand[at]), true
		}
		at++
	}
	if r > 0x2800 && r <= 0x28ff { // dots of braille
		dots := 0
		for bits := r - 0x2800; bits > 0; bits >>= 1 {
			dots += int(bits & 1)
		}
		return rune(".:#"[min(2, (dots-1)/3)]), true
	}
	return ' ', r == 0x2800
}
