package read

import (
	"bytes"
	"strconv"
)

// perfHeader is the first line of a sample of `perf script`. Its fields depend on the events and on -F
// (tools/perf/builtin-script.c of Linux: perf_sample__fprintf_start).
type perfHeader struct {
	comm, thread []byte
	pid          int64
	// time is in nanoseconds; -1 if not printed.
	time   int64
	event  []byte
	period int64 // 0 if not printed
	// rest is the text after the event: the fields of a tracepoint, or the only frame.
	rest []byte
}

// isSampleStart reports whether the line is certainly the first one of a sample: it has a time, or a thread and an
// event.
func (h *perfHeader) isSampleStart() bool { return h.time >= 0 || len(h.event) > 0 && h.thread != nil }

// maxFields is how many words of a line are parsed.
const maxFields = 64

// field is the byte range of a word in a line.
type field struct{ from, to int }

func fields(line []byte, out []field) []field {
	for i := 0; i < len(line) && len(out) < maxFields; {
		for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
			i++
		}
		from := i
		for i < len(line) && line[i] != ' ' && line[i] != '\t' {
			i++
		}
		if i > from {
			out = append(out, field{from, i})
		}
	}
	return out
}

// parsePerfHeader parses the first line of a sample. A comm may contain any characters, including spaces, so
// the unambiguous part is located first: the time, or the event if there is no time.
func parsePerfHeader(line []byte, buffer []field) perfHeader {
	h := perfHeader{time: -1}
	words := fields(line, buffer[:0])
	word := func(i int) []byte { return line[words[i].from:words[i].to] }
	after := len(words)
	for i := range words {
		// A comm can look like a time, but not like a time that follows a thread.
		if t, ok := perfTime(word(i)); ok && (h.parseThread(line, words[:i]) || h.time < 0) {
			h.time, after = t, i+1
			if h.thread != nil {
				break
			}
		}
	}
	if h.time < 0 {
		after = eventStart(line, words)
		h.parseThread(line, words[:after])
	}
	h.parseEvent(line, words[after:])
	return h
}

// eventStart returns the index of the first word after comm, pid and cpu in a line without a time. That word is
// the period or, without a period, the event: the first word that ends with a colon.
func eventStart(line []byte, words []field) int {
	event := len(words)
	for i, w := range words {
		if word := line[w.from:w.to]; i > 0 && word[len(word)-1] == ':' && len(word) > 1 {
			event = i
			break
		}
	}
	if event == 0 || !isCount(line[words[event-1].from:words[event-1].to]) {
		return event
	}
	if event > 1 {
		if id := line[words[event-2].from:words[event-2].to]; isPid(id) || isCPU(id) {
			return event - 1
		}
	}
	// There is only one number, either a thread or a period. perf pads threads to at least 5 or 7 characters
	// and periods to 10.
	start := 0
	if event > 1 {
		start = words[event-2].to + 1
	}
	if words[event-1].to-start >= 8 {
		return event - 1
	}
	return event
}

// parseThread sets comm, thread and pid from the words before the time, and reports whether there is a thread.
func (h *perfHeader) parseThread(line []byte, words []field) bool {
	n := len(words)
	word := func(i int) []byte { return line[words[i].from:words[i].to] }
	if n > 0 && isFlags(word(n-1)) {
		n--
	}
	if n > 0 && isCPU(word(n-1)) {
		n--
	}
	h.comm, h.thread, h.pid = nil, nil, -1
	if n > 0 && isPid(word(n-1)) {
		n--
		h.thread = word(n)
		pid, _, _ := bytes.Cut(h.thread, []byte("/"))
		h.pid, _ = strconv.ParseInt(string(pid), 10, 64)
	}
	if n > 0 {
		h.comm = line[words[0].from:words[n-1].to]
	}
	return h.thread != nil
}

// parseEvent sets the period and the event from the words after the time.
func (h *perfHeader) parseEvent(line []byte, words []field) {
	word := func(i int) []byte { return line[words[i].from:words[i].to] }
	at := 0
	if len(words) > 0 {
		if n, ok := perfCount(word(0)); ok {
			h.period, at = n, 1
		} else if len(words) > 1 && isDigits(bytes.TrimPrefix(word(0), []byte("-"))) {
			at = 1 // an impossible period counts as missing
		}
	}
	// The name of a raw event contains a space: "raw 0x1a8:".
	for end := at; end < min(len(words), at+3); end++ {
		if w := word(end); len(w) > 1 && w[len(w)-1] == ':' {
			h.event = line[words[at].from : words[end].to-1]
			h.rest = bytes.TrimSpace(line[words[end].to:])
			return
		}
	}
	if at < len(words) {
		h.rest = bytes.TrimSpace(line[words[at].from:])
		if at == 1 && isHex(word(0)) && !isHex(word(1)) {
			// Without event and period, the number is the address of the only frame.
			h.period, h.rest = 0, bytes.TrimSpace(line[words[0].from:])
		}
	}
}

// perfTime parses seconds since boot, e.g. "23380.041165:", into nanoseconds.
func perfTime(w []byte) (int64, bool) {
	if len(w) < 9 || w[len(w)-1] != ':' {
		return 0, false
	}
	w = w[:len(w)-1]
	at := bytes.IndexAny(w, ".,")
	if at < 1 || len(w)-at-1 != 6 && len(w)-at-1 != 9 {
		return 0, false
	}
	s, err := strconv.ParseInt(string(w[:at]), 10, 32)
	if err != nil {
		return 0, false
	}
	fraction, err := strconv.ParseUint(string(w[at+1:]), 10, 32)
	if err != nil {
		return 0, false
	}
	if len(w)-at-1 == 6 {
		fraction *= 1000
	}
	return s*1e9 + int64(fraction), true
}

func isDigits(w []byte) bool {
	for _, c := range w {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(w) > 0
}

func isHex(w []byte) bool {
	for _, c := range w {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(w) > 0 && len(w) <= 16
}

// isPid reports whether a word is "tid" or "pid/tid". perf prints -1 for threads that have exited.
func isPid(w []byte) bool {
	pid, tid, both := bytes.Cut(w, []byte("/"))
	if both && !isDigits(bytes.TrimPrefix(tid, []byte("-"))) {
		return false
	}
	return isDigits(bytes.TrimPrefix(pid, []byte("-")))
}

func isCPU(w []byte) bool {
	return len(w) > 2 && w[0] == '[' && w[len(w)-1] == ']' && isDigits(w[1:len(w)-1])
}

// isFlags reports whether a word is the misc field: capital letters for user, kernel, host.
func isFlags(w []byte) bool {
	for _, c := range w {
		if !bytes.ContainsRune([]byte("UKHGM"), rune(c)) {
			return false
		}
	}
	return len(w) > 0 && len(w) <= 3
}

// groupSeparators are the thousands separators of various languages: comma, point, apostrophe, and non-breaking
// spaces.
var groupSeparators = [][]byte{
	[]byte(","), []byte("."), []byte("'"), []byte("’"), []byte("\u00a0"), []byte("\u202f"), []byte("\u2009"),
}

// isCount reports whether a word is a number, with or without thousands separators.
func isCount(w []byte) bool {
	_, ok := perfCount(w)
	return ok
}

// perfCount parses a number, with or without thousands separators.
func perfCount(w []byte) (int64, bool) {
	if isDigits(w) {
		n, err := strconv.ParseInt(string(w), 10, 64)
		return n, err == nil
	}
	for _, g := range groupSeparators {
		groups := bytes.Split(w, g)
		if len(groups) < 2 || len(groups) > 7 || len(groups[0]) > 3 {
			continue
		}
		for i, part := range groups {
			if !isDigits(part) || i > 0 && len(part) != 3 {
				return 0, false
			}
		}
		n, err := strconv.ParseInt(string(bytes.Join(groups, nil)), 10, 64)
		return n, err == nil
	}
	return 0, false
}
