package draw

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Broken breaks a line of a command into pieces of at most w cells: nothing of it is left out. A shell's is broken between words where
// a backslash lets it go on, and only what is longer than a line anywhere else.
func Broken(text string, w int, shell bool) []string {
	const least = 8
	w = max(least, w)
	var lines []string
	for Width(text) > w {
		room, end := w, ""
		if shell {
			room, end = w-len(` \`), ` \`
		}
		at := strings.LastIndexByte(ansi.Truncate(text, room+1, ""), ' ')
		if shell {
			at = lastGap(text, room)
		}
		head := ansi.Truncate(text, w, "")
		rest := text[len(head):]
		if at > 0 && strings.TrimSpace(text[:at]) != "" {
			head, rest = strings.TrimRight(text[:at], " "), strings.TrimLeft(text[at:], " ")
		} else {
			end = ""
		}
		lines, text = append(lines, head+end), rest
	}
	return append(lines, text)
}

// lastGap is the last blank between words of a shell within so many cells, 0 if there is none: none in quotes, and none that is
// escaped.
func lastGap(text string, cells int) int {
	last := 0
	var quote rune
	escaped := false
	for i, r := range text {
		if Width(text[:i]) > cells {
			break
		}
		switch {
		case escaped:
			escaped = false
		case r == '\\' && quote != '\'':
			escaped = true
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case r == ' ':
			last = i
		}
	}
	return last
}
