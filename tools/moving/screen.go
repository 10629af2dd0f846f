package main

import (
	"fmt"
	"strconv"
	"strings"
)

// style is how a run of text is drawn.
type style struct {
	foreground, background string // "#rrggbb", "" for the terminal's own
	bold, faint, reverse   bool
}

// span is text of one style, which begins at a column.
type span struct {
	style
	column int
	text   string
}

// parse reads a screen: lines with SGR sequences (ECMA-48 8.3.117), of which a style may go on over the end of a line.
func parse(text string, rows int) [][]span {
	var now style
	lines := make([][]span, 0, rows)
	for line := range strings.Lines(text) {
		if len(lines) == rows {
			break
		}
		var runs []span
		column := 0
		line = strings.TrimRight(line, "\n")
		for line != "" {
			if strings.HasPrefix(line, "\x1b[") {
				end := strings.IndexFunc(line[2:], func(r rune) bool { return r >= 0x40 && r <= 0x7e })
				if end < 0 {
					break
				}
				if line[2+end] == 'm' {
					now.apply(line[2 : 2+end])
				}
				line = line[2+end+1:]
				continue
			}
			end := strings.IndexByte(line, 0x1b)
			switch {
			case end < 0:
				end = len(line)
			case end == 0: // another sequence, such as of a character set
				line = line[min(3, len(line)):]
				continue
			}
			runs = append(runs, span{now, column, line[:end]})
			column += len([]rune(line[:end]))
			line = line[end:]
		}
		lines = append(lines, runs)
	}
	return lines
}

// apply changes the style as the parameters of an SGR sequence say.
func (s *style) apply(parameters string) {
	words := strings.FieldsFunc(parameters, func(r rune) bool { return r == ';' || r == ':' })
	if len(words) == 0 {
		*s = style{}
	}
	for i := 0; i < len(words); i++ {
		n, _ := strconv.Atoi(words[i])
		switch {
		case n == 0:
			*s = style{}
		case n == 1:
			s.bold = true
		case n == 2:
			s.faint = true
		case n == 7:
			s.reverse = true
		case n == 22:
			s.bold, s.faint = false, false
		case n == 27:
			s.reverse = false
		case n >= 30 && n <= 37:
			s.foreground = indexed(n - 30)
		case n >= 90 && n <= 97:
			s.foreground = indexed(n - 90 + 8)
		case n >= 40 && n <= 47:
			s.background = indexed(n - 40)
		case n >= 100 && n <= 107:
			s.background = indexed(n - 100 + 8)
		case n == 39:
			s.foreground = ""
		case n == 49:
			s.background = ""
		case n == 38 || n == 48:
			color, taken := extended(words[i+1:])
			i += taken
			if n == 38 {
				s.foreground = color
			} else {
				s.background = color
			}
		}
	}
}

// extended reads a color of 256, or of all, behind 38 or 48.
func extended(words []string) (color string, taken int) {
	at := func(i int) int {
		if i >= len(words) {
			return 0
		}
		n, _ := strconv.Atoi(words[i])
		return n
	}
	switch at(0) {
	case 5:
		return indexed(at(1)), 2
	case 2:
		return fmt.Sprintf("#%02x%02x%02x", at(1), at(2), at(3)), 4
	}
	return "", 0
}

// basic are the sixteen colors, of a dark terminal.
var basic = [16]string{
	"#1e1e1e", "#f14c4c", "#23d18b", "#e5c07b", "#3b8eea", "#d670d6", "#29b8db", "#d4d4d4",
	"#7f7f7f", "#f14c4c", "#23d18b", "#f5f543", "#3b8eea", "#d670d6", "#29b8db", "#ffffff",
}

// indexed is a color of 256: sixteen, a cube of 6x6x6, 24 greys.
func indexed(n int) string {
	switch {
	case n < 16:
		return basic[max(0, n)]
	case n < 232:
		n -= 16
		level := func(x int) int {
			if x == 0 {
				return 0
			}
			return 55 + 40*x
		}
		return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6))
	}
	grey := 8 + 10*(min(n, 255)-232)
	return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
}
