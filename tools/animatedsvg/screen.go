package main

import (
	"fmt"
	"strconv"
	"strings"
)

// style is the style of a run of text.
type style struct {
	foreground, background string // "#rrggbb", or "" for the terminal's own
	bold, faint, reverse   bool
}

// span is a run of text of one style that starts at a column.
type span struct {
	style
	column int
	text   string
}

// parse parses a screen with SGR sequences (ECMA-48 8.3.117). A style may extend over the end of a line.
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
			case end == 0: // another sequence, e.g. for a character set
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

// apply changes the style by the parameters of an SGR sequence.
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

// extended parses the parameters after 38 or 48: an indexed color or an RGB color. It returns the number of
// parameters used.
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

// basic holds the first sixteen colors, for a dark terminal.
var basic = [16]string{
	"#1e1e1e", "#f14c4c", "#23d18b", "#e5c07b", "#3b8eea", "#d670d6", "#29b8db", "#d4d4d4",
	"#7f7f7f", "#f14c4c", "#23d18b", "#f5f543", "#3b8eea", "#d670d6", "#29b8db", "#ffffff",
}

// indexed returns one of 256 colors: 16 basic colors, a cube of 6x6x6, and 24 shades of gray.
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
