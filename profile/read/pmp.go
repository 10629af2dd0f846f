package read

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"kitescope/profile"
)

// readPMP reads the output of Percona's pt-pmp and of its predecessor, the script of poormansprofiler.org. Each
// line has the number of threads with a stack, and its frames separated by commas, leaf first. pt-pmp also
// prints a date above, and the place of a frame after its name, e.g. "vio_io_wait(viosocket.c:945)" or
// "poll(libc.so.6)".
func readPMP(ctx context.Context, r io.Reader, o *Options) (*profile.Profile, error) {
	m := pmp{b: newBuilder(o, samplesType), frames: map[string]uint32{}}
	if err := newLines(ctx, r).each(m.line); err != nil {
		return nil, err
	}
	m.b.Note("counts are threads per stop, including waiting ones: they are not CPU time", 1)
	p := m.b.Meta()
	p.Origin.Format, p.Time = "pt-pmp", m.at
	return m.b.Profile(), nil
}

// localDate matches the output of date(1) in most languages: a day with its year, and the time in digits. Only
// AM or PM, the zone and the year may follow the time, unlike in a log line, where words follow.
var localDate = profile.NewPattern(`^(?:[^\s:;=]+ +){0,6}\d{1,2}[:.]\d\d[:.]\d\d(?: [AaPp]\.?[Mm]\.?)?` +
	`(?: \(?(?:[A-Z]{2,5}|[+-]\d\d)(?:[+-]?\d\d(?::?\d\d)?)?\)?)?(?: \d{4})?$`)

var hasYear = profile.NewPattern(`\b(?:19|20)\d\d(?:\D|$)`)

type pmp struct {
	b      *profile.Builder
	at     time.Time
	frames map[string]uint32
	words  []string
	stack  []uint32
	total  int64
}

func (m *pmp) line(line []byte) error {
	count, rest, ok := cutPMP(line)
	text := bytes.TrimSpace(line)
	switch {
	case len(text) == 0 || isDigits(text): // the script also counts the empty text before the first thread
		return nil
	case !ok:
		at, err := time.Parse(time.UnixDate, string(text))
		if err == nil && m.at.IsZero() {
			m.at = at.UTC()
		}
		if err == nil || localDate().Match(text) && hasYear().Match(text) {
			return nil
		}
		return malformedLine("pt-pmp", "remove lines that are not stacks: a count, frames between commas", line)
	}
	var err error
	if m.total, err = addAbs(m.total, count); err != nil {
		return err
	}
	m.words, m.stack = pmpFrames(rest, m.words[:0]), m.stack[:0]
	if len(m.words) > maxDepth {
		return fmt.Errorf("a stack has more than %d frames", maxDepth)
	}
	for _, word := range m.words {
		at, known := m.frames[word]
		if !known {
			at = m.frame(word)
			m.frames[word] = at
		}
		m.stack = append(m.stack, at)
	}
	return m.b.Sample(m.stack, []int64{count})
}

// frame returns the location of "name", "name(file.c:12)" or "name(libc.so.6)".
func (m *pmp) frame(word string) uint32 {
	name, place := cutPlace(word)
	name = strings.TrimRight(name, ",")
	file, line, mapping := "", int64(0), int32(profile.NoMapping)
	if of, number, ok := cutLast(place, ":"); ok {
		file = of
		line, _ = strconv.ParseInt(number, 10, 32) // 0 is unknown
	} else if place != "" {
		mapping = m.b.Mapping(profile.Mapping{File: place, HasFunctions: true})
	}
	if name == "??" || strings.HasSuffix(name, "::??") { // a missing symbol in gdb, and in pt-pmp with the library
		return m.b.Location(mapping, 0)
	}
	f := m.b.Function(profile.Function{Name: name, SystemName: name, File: file})
	return m.b.Location(mapping, 0, profile.Line{Function: f, Line: line})
}

// cutLast cuts s around the last separator.
func cutLast(s, separator string) (before, after string, ok bool) {
	at := strings.LastIndex(s, separator)
	if at < 0 {
		return s, "", false
	}
	return s[:at], s[at+len(separator):], true
}

// cutPMP splits off the count at the beginning of a line.
func cutPMP(line []byte) (count int64, rest []byte, ok bool) {
	number, rest, ok := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
	rest = bytes.TrimLeft(rest, " ")
	if !ok || !isDigits(number) || len(rest) == 0 || isDigits(rest[:1]) || bytes.IndexByte(rest, ';') >= 0 {
		return 0, nil, false
	}
	count, err := strconv.ParseInt(string(number), 10, 64)
	return count, rest, err == nil
}

// isPMP reports whether a line is a count and frames separated by commas. maybe is also true for a line with a
// single frame.
func isPMP(line []byte) (is, maybe bool) {
	_, rest, ok := cutPMP(line)
	if !ok || line[0] == '\t' {
		return false, false
	}
	frames := pmpFrames(rest, nil)
	for _, f := range frames {
		if spaced(f) && !strings.HasPrefix(f, "operator") {
			return false, false
		}
	}
	return len(frames) > 1, true
}

// spaced reports whether a name has blanks outside its parameters. For "find(Key const&) const" it is false.
func spaced(name string) bool {
	depth := 0
	for _, c := range strings.TrimSuffix(name, " const") {
		switch c {
		case '(', '<':
			depth++
		case ')', '>':
			depth--
		case ' ', '\t':
			if depth <= 0 {
				return true
			}
		}
	}
	return false
}

// pmpFrames splits a list of frames. Commas between brackets do not separate frames. pt-pmp cuts names at their
// first space, so brackets may stay open, but only up to the place of the frame: "invoke<void,(thread.h:60)".
func pmpFrames(list []byte, frames []string) []string {
	closed := make(map[int]int) // closing position by opening position of each bracket
	var open []int
	for i, c := range list {
		switch c {
		case '(', '<':
			if c == '(' || !isOperator(list[:i]) {
				open = append(open, i)
			}
		case ')', '>':
			at := len(open) - 1
			for c == ')' && at >= 0 && list[open[at]] == '<' {
				at--
			}
			if c == ')' {
				open = open[:at+1] // brackets still open after it belong to cut names
			}
			if at < 0 || (c == ')') != (list[open[at]] == '(') || c == '>' && isOperator(list[:i]) {
				continue
			}
			closed[open[at]] = i
			if open = open[:at+1]; isPlace(list[open[at]+1 : i]) {
				at = 0 // a frame ends here
			}
			open = open[:at]
		}
	}
	from := 0
	add := func(to int) {
		if f := bytes.TrimSpace(bytes.Trim(list[from:to], ", ")); len(f) > 0 {
			frames = append(frames, string(f))
		}
		from = to + 1
	}
	for i := 0; i < len(list); i++ {
		if to, ok := closed[i]; ok && to > i {
			i = to
			continue
		}
		if list[i] != ',' {
			continue
		}
		if to, ok := closed[i+1]; ok && list[i+1] == '(' && isPlace(list[i+2:to]) {
			continue // the name was cut before its place
		}
		add(i)
	}
	add(len(list))
	return frames
}

// isPlace reports whether the text between brackets is a file with a line, or a library with its extension.
func isPlace(text []byte) bool {
	const longest = 255 // bytes of a file name
	return len(text) <= longest && bytes.ContainsAny(text, ".:") && !bytes.ContainsAny(text, notInPlace)
}

// notInPlace lists characters that are common in parameters and rare in file names.
const notInPlace = " ,<>()*&="

// isOperator reports whether the next character is not a bracket but part of an operator: operator<,
// operator->, ->.
func isOperator(before []byte) bool {
	return bytes.HasSuffix(before, []byte("operator")) || bytes.HasSuffix(before, []byte("-")) ||
		bytes.HasSuffix(before, []byte("operator<")) || bytes.HasSuffix(before, []byte("operator>"))
}

// cutPlace splits off the place of a frame: a file with a line, or a library.
func cutPlace(frame string) (name, place string) {
	inner, ok := strings.CutSuffix(frame, ")")
	name, place, cut := cutLast(inner, "(")
	if !ok || !cut || name == "" || place == "" || strings.ContainsAny(place, notInPlace) {
		return frame, ""
	}
	return name, place
}
