package rounds

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
)

// The text of /metrics is the same from round to round but for some values, and most of these are counters that have moved by the
// same: all buckets of a histogram behind the one that counts. A difference between two such texts is a list of steps by lines, each
// behind a number of lines that stay as they are.
const (
	stepEnd    = iota // the rest stays
	stepRun           // so many lines, whose values have all moved by this
	stepNumber        // one, whose value has other digits behind its point
	stepText          // one, whose value is this text
	stepInsert        // a line that is new
	stepDrop          // so many lines that are gone
)

// cutLine cuts the first line off a text, with its end.
func cutLine(text []byte) (line, rest []byte) {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return text[:i+1], text[i+1:]
	}
	return text, nil
}

// cutValue cuts a line before its last word, which is the value of a sample. value is nil where there is but one.
func cutValue(line []byte) (head, value []byte) {
	end := len(line)
	if end > 0 && line[end-1] == '\n' {
		end--
	}
	if i := bytes.LastIndexByte(line[:end], ' '); i >= 0 && end == len(line)-1 {
		return line[:i+1], line[i+1 : end]
	}
	return line, nil
}

// number is a decimal, digits * 10^exponent, as a text gives it: it is written in the same way again.
type number struct {
	digits   int64
	exponent int
}

// most digits of a number: so that ten times as much still fits an int64.
const maxDigits = 1e17

// parseNumber reads a text that appendNumber would write, and no other.
func parseNumber(text []byte) (n number, ok bool) {
	rest, negative := bytes.CutPrefix(text, []byte("-"))
	digits, point := 0, false
	for len(rest) > 0 {
		c := rest[0]
		switch {
		case c >= '0' && c <= '9' && digits < 17:
			n.digits = n.digits*10 + int64(c-'0')
			if digits++; point {
				n.exponent--
			}
		case c == '.' && !point:
			point = true
		case c == 'e' && digits > 0:
			e, err := strconv.Atoi(string(rest[1:]))
			if err != nil || e < -400 || e > 400 {
				return n, false
			}
			n.exponent += e
			rest = rest[:1]
		default:
			return n, false
		}
		rest = rest[1:]
	}
	if digits == 0 {
		return n, false
	}
	for n.exponent > 0 && n.digits < maxDigits/10 { // whole numbers as such
		n.digits, n.exponent = n.digits*10, n.exponent-1
	}
	if negative {
		n.digits = -n.digits
	}
	var buf [32]byte
	return n, bytes.Equal(n.append(buf[:0]), text)
}

// append writes a number as Prometheus's libraries do.
func (n number) append(out []byte) []byte {
	if n.exponent == 0 && n.digits > -1e15 && n.digits < 1e15 {
		return strconv.AppendFloat(out, float64(n.digits), 'g', -1, 64)
	}
	var buf [40]byte
	text := strconv.AppendInt(buf[:0], n.digits, 10)
	text = append(text, 'e')
	text = strconv.AppendInt(text, int64(n.exponent), 10)
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		f = math.NaN()
	}
	return strconv.AppendFloat(out, f, 'g', -1, 64)
}

// scaled are the digits of a number with another exponent, about.
func (n number) scaled(exponent int) int64 {
	d := n.digits
	for e := n.exponent; e != exponent && d != 0; {
		if e > exponent {
			if d >= maxDigits || d <= -maxDigits {
				return 0
			}
			d, e = d*10, e-1
		} else {
			d, e = d/10, e+1
		}
	}
	return d
}

// sampleWriter writes the steps from one text to another.
type sampleWriter struct {
	out []byte
	// stays are lines since the last step; run lines that moved by moved.
	stays, run int
	moved      int64
}

// appendSamples appends what turns one text of /metrics into another.
func appendSamples(out, before, now []byte) []byte {
	w := sampleWriter{out: out}
	var index map[string]int // how many bytes of the text before are behind the end of a head's line
	for len(now) > 0 {
		old, oldRest := cutLine(before)
		line, rest := cutLine(now)
		if bytes.Equal(old, line) && len(old) > 0 {
			w.stay()
			before, now = oldRest, rest
			continue
		}
		head, value := cutValue(line)
		oldHead, oldValue := cutValue(old)
		if value != nil && oldValue != nil && bytes.Equal(head, oldHead) {
			w.value(oldValue, value)
			before, now = oldRest, rest
			continue
		}
		if index == nil {
			index = indexLines(before)
		}
		if at, ok := index[string(head)]; ok && at < len(oldRest) {
			gone := 0
			for len(before) > 0 {
				_, r := cutLine(before)
				if len(r) == at {
					break
				}
				before = r
				gone++
			}
			w.step(stepDrop)
			w.out = binary.AppendUvarint(w.out, uint64(gone))
			continue
		}
		w.step(stepInsert)
		w.text(line)
		now = rest
	}
	if len(before) > 0 {
		w.step(stepDrop)
		gone := 0
		for ; len(before) > 0; gone++ {
			_, before = cutLine(before)
		}
		w.out = binary.AppendUvarint(w.out, uint64(gone))
	}
	w.step(stepEnd)
	return w.out
}

func indexLines(text []byte) map[string]int {
	index := map[string]int{}
	for len(text) > 0 {
		line, rest := cutLine(text)
		head, _ := cutValue(line)
		if _, twice := index[string(head)]; !twice {
			index[string(head)] = len(rest)
		}
		text = rest
	}
	return index
}

func (w *sampleWriter) stay() {
	w.endRun()
	w.stays++
}

// step begins one that is no run.
func (w *sampleWriter) step(kind byte) {
	w.endRun()
	w.out = binary.AppendUvarint(w.out, uint64(w.stays))
	w.out = append(w.out, kind)
	w.stays = 0
}

func (w *sampleWriter) endRun() {
	if w.run == 0 {
		return
	}
	n := w.run
	w.run = 0
	w.step(stepRun)
	w.out = binary.AppendUvarint(w.out, uint64(n))
	w.out = binary.AppendVarint(w.out, w.moved)
}

func (w *sampleWriter) text(t []byte) {
	w.out = binary.AppendUvarint(w.out, uint64(len(t)))
	w.out = append(w.out, t...)
}

// value writes another value of the same sample.
func (w *sampleWriter) value(before, now []byte) {
	old, okOld := parseNumber(before)
	n, ok := parseNumber(now)
	switch {
	case !ok || !okOld:
		w.step(stepText)
		w.text(now)
	case n.exponent != old.exponent:
		w.step(stepNumber)
		w.out = binary.AppendVarint(w.out, int64(n.exponent))
		w.out = binary.AppendVarint(w.out, n.digits-old.scaled(n.exponent))
	default:
		moved := n.digits - old.digits
		if w.run > 0 && w.moved != moved {
			w.endRun()
		}
		w.run, w.moved = w.run+1, moved
	}
}

// sampleText is a text of /metrics that steps are applied to: its lines, of which most stay as they are.
type sampleText struct {
	lines []sampleLine
	bytes int // of all heads
}

// sampleLine is a line; a value that is a number is held as such, as it moves.
type sampleLine struct {
	head   string
	number number
	kind   byte // lineWhole, lineNumber or lineText
	text   string
}

const (
	lineWhole  = iota // head is all
	lineNumber        // number is behind head
	lineText          // text is behind head
)

func newSampleText(text []byte) *sampleText {
	t := &sampleText{lines: make([]sampleLine, 0, bytes.Count(text, []byte("\n"))+1), bytes: len(text)}
	for whole := string(text); len(text) > 0; {
		line, rest := cutLine(text)
		head, value := cutValue(line)
		at := len(whole) - len(text)
		l := sampleLine{head: whole[at : at+len(head)]}
		if value != nil {
			l.set(value)
		}
		t.lines = append(t.lines, l)
		text = rest
	}
	return t
}

func (l *sampleLine) set(value []byte) {
	n, ok := parseNumber(value)
	if l.number, l.kind, l.text = n, lineNumber, ""; !ok {
		l.kind, l.text = lineText, string(value)
	}
}

// append writes the text as it is.
func (t *sampleText) append(out []byte) []byte {
	for i := range t.lines {
		l := &t.lines[i]
		out = append(out, l.head...)
		switch l.kind {
		case lineNumber:
			out = append(l.number.append(out), '\n')
		case lineText:
			out = append(append(out, l.text...), '\n')
		}
	}
	return out
}

// apply takes steps; limit bounds the text that comes of it.
func (t *sampleText) apply(steps []byte, limit int) error {
	r := reader{b: steps}
	inserted, dropped := map[int][]sampleLine(nil), map[int]int(nil)
	for at := 0; ; {
		at += r.length(len(t.lines) - at)
		kind := r.byte()
		if r.err != nil {
			return r.err
		}
		switch kind {
		case stepEnd:
			t.splice(inserted, dropped)
			return nil
		case stepRun:
			n := r.length(len(t.lines) - at)
			at = t.move(at, n, r.varint(), &r)
		case stepNumber:
			e := r.varint()
			if at >= len(t.lines) || t.lines[at].kind != lineNumber || e < -1000 || e > 1000 {
				return errBroken
			}
			l := &t.lines[at]
			l.number = number{l.number.scaled(int(e)) + r.varint(), int(e)}
			at++
		case stepText:
			value := r.text(limit)
			if at >= len(t.lines) || t.lines[at].kind == lineWhole || bytes.IndexByte(value, '\n') >= 0 {
				return errBroken
			}
			t.lines[at].set(value)
			at++
		case stepInsert:
			line := r.text(limit - t.bytes)
			if t.bytes += len(line); inserted == nil {
				inserted = map[int][]sampleLine{}
			}
			inserted[at] = append(inserted[at], newSampleText(line).lines...)
		case stepDrop:
			n := r.length(len(t.lines) - at)
			if dropped == nil {
				dropped = map[int]int{}
			}
			dropped[at] = n
			at += n
		default:
			return errBroken
		}
		if r.err != nil {
			return r.err
		}
	}
}

// move adds to the values of lines.
func (t *sampleText) move(at, n int, by int64, r *reader) int {
	for range n {
		l := &t.lines[at]
		if l.kind != lineNumber {
			r.fail()
			return at
		}
		l.number.digits += by
		at++
	}
	return at
}

// splice takes out lines, and puts others before those at a place.
func (t *sampleText) splice(inserted map[int][]sampleLine, dropped map[int]int) {
	if inserted == nil && dropped == nil {
		return
	}
	lines := make([]sampleLine, 0, len(t.lines))
	for at := 0; at <= len(t.lines); at++ {
		lines = append(lines, inserted[at]...)
		if n := dropped[at]; n > 0 {
			for _, l := range t.lines[at : at+n] {
				t.bytes -= len(l.head)
			}
			at += n - 1
			continue
		}
		if at < len(t.lines) {
			lines = append(lines, t.lines[at])
		}
	}
	t.lines = lines
}
