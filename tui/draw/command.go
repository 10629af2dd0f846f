package draw

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// BreakCommand breaks a command into pieces of at most w cells, without losing any text. A shell command is broken with
// a backslash between words. Only a word longer than a line is broken elsewhere.
func BreakCommand(text string, w int, shell bool) []string {
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

// lastGap returns the offset of the last blank between shell words within the given number of cells, or 0 if there
// is none. Blanks that are quoted or escaped do not count.
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
