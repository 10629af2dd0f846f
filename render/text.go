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

// Harmless is words.Harmless.
func Harmless(s string) string { return words.Harmless(s) }

// Width is the number of terminal cells of harmless text.
func Width(s []byte) int {
	for _, c := range s {
		if c >= utf8.RuneSelf {
			return ansi.StringWidth(string(s))
		}
	}
	return len(s)
}

// Fit cuts harmless text to a number of cells, with an ellipsis.
func Fit(s string, cells int, ellipsis string) string {
	return ansi.Truncate(s, cells, ellipsis)
}

// ShortenMiddle cuts harmless text to a number of cells and keeps both ends: names of functions begin
// alike, and differ at their end.
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

// Cells is how many cells of a terminal harmless text takes.
func Cells(s string) int { return Width([]byte(s)) }

// BoolInt is 1 if something is so, else 0.
func BoolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Ratio is a ratio with two decimals.
func Ratio(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

// Arrow stands between what was before and what is after, with blanks.
func Arrow(o *Options) string {
	if o.ASCII {
		return " -> "
	}
	return " → "
}

// LeftPad puts blanks before ASCII text until it has n cells.
func LeftPad(s string, n int) string { return strings.Repeat(" ", max(0, n-len(s))) + s }

// RatioText is a ratio as a change: "+7.3%".
func RatioText(ratio float64) string {
	text := ChangeNumber(ratio)
	if text == words.UnknownMark {
		return text
	}
	return text + "%"
}

// ChangeNumber is a ratio as a change in percent, which is not rounded to nothing if it is something.
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

// OrNone is text made harmless, "-" if there is none.
func OrNone(s string) string {
	return words.OrNone(Harmless(s))
}

// HarmlessAll is Harmless of each.
func HarmlessAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = Harmless(s)
	}
	return out
}

// Stamp is a time as most formats have it.
func Stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return string(encode.AppendTime(nil, t.Unix()*1e9))
}

// OrUnknown is text made harmless, "?" if there is none.
func OrUnknown(s string) string {
	return words.OrUnknown(Harmless(s))
}

// ChanceText is a p value: digits enough to tell it from the usual levels, and "<0.0001" below what anybody tells apart.
func ChanceText(p float64) string {
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

// Padded puts blanks behind harmless text until it takes the room.
func Padded(s string, room int) string { return s + strings.Repeat(" ", max(0, room-Cells(s))) }

// WrapLine breaks a harmless text at blanks to a width; what follows the first line is indented as it is.
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

// Hang breaks harmless text behind a prefix; what follows the first line is indented by the prefix's cells.
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

// Wrap breaks harmless text into lines of at most w cells: between words, as a command must
// not be cut at its dashes; in a word only if it is longer than a line.
func Wrap(text string, w int) []string {
	const least = 20 // a narrower column cannot be read
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
