package render

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Glyphs is the set of characters that a terminal can display. All terminal output goes through Text, so that no
// other code has to replace characters.
type Glyphs uint8

// The kinds of terminals.
const (
	// AllGlyphs is the set of all characters.
	AllGlyphs Glyphs = iota
	// ConsoleGlyphs is the set of the Linux console's fonts: Latin, lines and blocks, no symbols.
	ConsoleGlyphs
	// ASCIIGlyphs is the set of bytes below 0x80.
	ASCIIGlyphs
)

// Text replaces the characters of a plain or styled text that the terminal cannot display. Replacements have the
// same width. Characters without a replacement become question marks.
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

// cluster returns the replacement of a grapheme cluster with the given width in cells.
func (g Glyphs) cluster(s string, cells int) string {
	r, size := utf8.DecodeRuneInString(s)
	if g == ConsoleGlyphs {
		if stands, ok := consoleRune(r); ok {
			return string(stands) + s[size:]
		}
	}
	if size == len(s) {
		if stands, ok := asciiRune(r); ok {
			return string(stands)
		}
	}
	if g == ConsoleGlyphs { // a name in a script that the font might have
		return s
	}
	return strings.Repeat("?", cells)
}

// consoleRune returns a character of console fonts, which have 256 or 512 characters. ok is false if the
// replacement must be in ASCII.
func consoleRune(r rune) (replacement rune, ok bool) {
	switch r {
	case '╭':
		return '┌', true
	case '╮':
		return '┐', true
	case '╰':
		return '└', true
	case '╯':
		return '┘', true
	case '▆', '▇', '▉', '▊': // partial blocks become the nearest half or full block
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

// asciiRune returns the replacement of a character that kitescope draws. Partial blocks become characters of
// similar density.
func asciiRune(r rune) (replacement rune, ok bool) {
	const ours, stand = "±µμ·×–‖’•…›←↑→↓−≈≠≤≥─━│╎╷┌┐└┘├┤┬┴┼╭╮╯╰▁▂▃▄▅▆▇█▉▊▋▌▍▎▏▐▀░▒▓▲△▶▸▼▾◂◆●○◌✓✖",
		"~uu-x-|'-~><^>v-~!<>-=|:'++++|++++++++_.--==####==--.='.:%!^>>vv<**o.+x"
	at := 0
	for _, one := range ours {
		if one == r {
			return rune(stand[at]), true
		}
		at++
	}
	if r > 0x2800 && r <= 0x28ff { // braille patterns
		dots := 0
		for bits := r - 0x2800; bits > 0; bits >>= 1 {
			dots += int(bits & 1)
		}
		return rune(".:#"[min(2, (dots-1)/3)]), true
	}
	return ' ', r == 0x2800
}
