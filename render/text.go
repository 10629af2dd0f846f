package render

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"kitescope/internal/encode"
	"kitescope/internal/words"
)

// Harmless calls words.Sanitize.
func Harmless(s string) string { return words.Sanitize(s) }

// Width returns the width of escaped text in terminal cells.
func Width(s []byte) int {
	for _, c := range s {
		if c >= utf8.RuneSelf {
			return ansi.StringWidth(string(s))
		}
	}
	return len(s)
}

// Fit cuts escaped text to the given number of cells and appends an ellipsis.
func Fit(s string, cells int, ellipsis string) string {
	return ansi.Truncate(s, cells, ellipsis)
}

// ShortenMiddle cuts the middle of escaped text to fit the given number of cells. Function names have common
// prefixes and differ at the end.
func ShortenMiddle(s string, room int, ellipsis string) string {
	n := Cells(s)
	if n <= room {
		return s
	}
	mark := Cells(ellipsis)
	if room <= 2*mark {
		return Fit(s, room, ellipsis)
	}
	head := (room - mark) / 3
	tail := room - mark - head
	return ansi.Truncate(s, head, "") + ansi.TruncateLeft(s, n-tail, ellipsis)
}

// Cells returns the width of escaped text in terminal cells.
func Cells(s string) int { return Width([]byte(s)) }

// BoolInt returns 1 for true and 0 for false.
func BoolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Ratio formats a ratio with two decimals.
func Ratio(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

// Arrow returns an arrow with blanks around it, to write between old and new values.
func Arrow(o *Options) string {
	if o.ASCII {
		return " -> "
	}
	return " → "
}

// LeftPad pads ASCII text on the left to n cells.
func LeftPad(s string, n int) string { return strings.Repeat(" ", max(0, n-len(s))) + s }

// RatioText formats a ratio as a relative change: "+7.3%".
func RatioText(ratio float64) string {
	text := ChangeNumber(ratio)
	if text == words.UnknownMark {
		return text
	}
	return text + "%"
}

// ChangeNumber formats a ratio as a relative change in percent, without the percent sign. It does not round
// nonzero changes to 0.
func ChangeNumber(ratio float64) string {
	x := 100 * (ratio - 1)
	switch size := math.Abs(x); {
	case math.IsNaN(x):
		return words.UnknownMark
	case math.IsInf(x, 0):
		return "+inf"
	case x == 0:
		return "0"
	case size < 0.005:
		return []string{"", "+"}[BoolInt(x > 0)] + strconv.FormatFloat(x, 'g', 1, 64)
	case size < 0.995:
		return signed(x, 2)
	case size < 99.95:
		return signed(x, 1)
	}
	return signed(x, 0)
}

func signed(x float64, decimals int) string {
	text := strconv.FormatFloat(x, 'f', decimals, 64)
	if x > 0 {
		return "+" + text
	}
	return text
}

// OrNone returns the escaped text, or "-" if it is empty.
func OrNone(s string) string {
	return words.OrNone(Harmless(s))
}

// HarmlessAll returns the escaped texts.
func HarmlessAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = Harmless(s)
	}
	return out
}

// Stamp formats a time as RFC 3339 in UTC, in whole seconds, or returns "" for the zero time.
func Stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return string(encode.AppendTime(nil, t.Unix()*1e9))
}

// OrUnknown returns the escaped text, or "?" if it is empty.
func OrUnknown(s string) string {
	return words.OrUnknown(Harmless(s))
}

// PValueText formats a p-value with enough digits to compare it with the usual significance levels, or "<0.0001"
// for smaller values, or "?" for NaN.
func PValueText(p float64) string {
	switch {
	case math.IsNaN(p):
		return words.UnknownMark
	case p < 0.0001:
		return "<0.0001"
	case p < 0.01:
		return strconv.FormatFloat(p, 'f', 4, 64)
	case p < 0.1:
		return strconv.FormatFloat(p, 'f', 3, 64)
	}
	return strconv.FormatFloat(p, 'f', 2, 64)
}

// Padded pads escaped text on the right to the given number of cells.
func Padded(s string, room int) string { return s + strings.Repeat(" ", max(0, room-Cells(s))) }

// WrapLine wraps escaped text at blanks. It keeps the indent of the first line and indents further lines by two
// more cells.
func WrapLine(text string, width int, ellipsis string) []string {
	if width <= 0 {
		return []string{text}
	}
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = indent + word
		case Cells(line)+1+Cells(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = indent + "  " + word
		}
	}
	if line == "" {
		return []string{""}
	}
	lines = append(lines, line)
	for i := range lines {
		lines[i] = Fit(lines[i], width, ellipsis)
	}
	return lines
}

// Hang wraps escaped text after a prefix. It indents continuation lines by the prefix's width.
func Hang(prefix, text string, width int) []string {
	if width <= 0 {
		return []string{prefix + text}
	}
	lines := Wrap(text, width-Cells(prefix))
	for i := range lines {
		if i > 0 {
			prefix = strings.Repeat(" ", Cells(prefix))
		}
		lines[i] = prefix + lines[i]
	}
	return lines
}

// Wrap breaks escaped text into lines of at most w cells, but at least 20. It breaks at blanks, so that commands
// are not broken at dashes, and inside a word only if it is longer than a line.
func Wrap(text string, w int) []string {
	const least = 20 // narrower columns are unreadable
	w = max(least, w)
	var lines []string
	line := ""
	for i, word := range strings.Split(text, " ") {
		if i > 0 && Width([]byte(line))+1+Width([]byte(word)) <= w {
			line += " " + word
			continue
		}
		if i > 0 {
			lines = append(lines, strings.TrimRight(line, " "))
		}
		for Width([]byte(word)) > w {
			head := ansi.Truncate(word, w, "")
			lines, word = append(lines, head), word[len(head):]
		}
		line = word
	}
	return append(lines, line)
}
