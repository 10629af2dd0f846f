package replay

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"kitescope/words"
)

// writing appends JSON. The outermost object, and the lists in it, have a line for each entry.
type writing struct {
	text  []byte
	depth int
	first bool // nothing stands in the innermost object or list
}

func (w *writing) begin(bracket byte) {
	w.text = append(w.text, bracket)
	w.depth++
	w.first = true
}

func (w *writing) end(bracket byte) {
	w.depth--
	if !w.first && (w.depth == 0 || w.depth == 1 && bracket == ']') {
		w.line()
	}
	w.text = append(w.text, bracket)
	w.first = false
}

// key begins an entry of an object.
func (w *writing) key(name string) {
	w.separate(w.depth == 1)
	w.quoted(name)
	w.text = append(w.text, ':')
	if w.depth == 1 {
		w.text = append(w.text, ' ')
	}
}

// element begins one of a list.
func (w *writing) element() { w.separate(w.depth == 2) }

func (w *writing) separate(line bool) {
	if !w.first {
		w.text = append(w.text, ',')
	}
	w.first = false
	if line {
		w.line()
	}
}

func (w *writing) line() {
	w.text = append(w.text, '\n')
	w.text = append(w.text, strings.Repeat("  ", w.depth)...)
}

// quoted is a string, with escapes for what acts on a terminal or hides in an editor, as docs/JSON.md has it.
func (w *writing) quoted(s string) { w.text = words.AppendJSON(w.text, valid(s)) }

// valid is a text in which U+FFFD stands for what is not UTF-8.
func valid(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

// appendFloat appends the shortest text that is read as the same number of so many bits.
func appendFloat(text []byte, x float64, size int) []byte {
	format := byte('f')
	if abs := math.Abs(x); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(text, x, format, -1, size)
}

// AppendSeconds appends a duration in seconds, with all its digits, as durations stand in all of replay's JSON.
func AppendSeconds(text []byte, d time.Duration) []byte {
	ns := uint64(d) //nolint:gosec // of a negative one the sign is taken off
	if d < 0 {
		text = append(text, '-')
		ns = -ns
	}
	text = strconv.AppendUint(text, ns/1e9, 10)
	if ns%1e9 == 0 {
		return text
	}
	fraction := strconv.FormatUint(ns%1e9+1e9, 10)
	return append(append(text, '.'), strings.TrimRight(fraction[1:], "0")...)
}

// ParseSeconds reads a JSON number of seconds as a duration, to the nanosecond; false if it is no number or too large.
func ParseSeconds(s string) (time.Duration, bool) {
	// A number as 1e999999999 is no duration, and would take as many digits.
	if x, err := strconv.ParseFloat(s, 64); err != nil || math.Abs(x) > float64(math.MaxInt64)/1e9+1 {
		return 0, false
	} else if strings.ContainsAny(s, "eE") || len(s) > 40 {
		return time.Duration(math.Round(x * 1e9)), math.Abs(x*1e9) < math.MaxInt64
	}
	exact, ok := new(big.Rat).SetString(s)
	if !ok {
		return 0, false
	}
	exact.Mul(exact, big.NewRat(1e9, 1))
	ns := new(big.Int).Quo(exact.Num(), exact.Denom())
	return time.Duration(ns.Int64()), ns.IsInt64()
}
