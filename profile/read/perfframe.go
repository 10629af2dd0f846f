package read

import (
	"bytes"
	"slices"
	"strconv"
)

// perfFrame is a line of a stack of `perf script`: "  7f7b1c2d symbol+0x1f (/usr/lib/libc.so.6)"
// (tools/perf/util/evsel_fprintf.c of Linux: sample__fprintf_callchain).
type perfFrame struct {
	ip uint64
	// symbol is without its offset, empty if unknown; dso is empty if unknown or not printed.
	symbol, dso []byte
	// relative says that ip is an offset into dso, as -F dsoff prints it.
	relative, inlined bool
}

// parsePerfFrame reads a frame, ok is false if the line is none.
func parsePerfFrame(line []byte) (f perfFrame, ok bool) {
	line = bytes.TrimSpace(line)
	at := bytes.IndexByte(line, ' ')
	if at < 0 {
		at = len(line)
	}
	ip := bytes.TrimPrefix(line[:at], []byte("0x"))
	if !isHex(ip) {
		return f, false
	}
	f.ip, _ = strconv.ParseUint(string(ip), 16, 64)
	rest := bytes.TrimSpace(line[at:])
	if cut, found := bytes.CutSuffix(rest, []byte("(inlined)")); found {
		f.inlined, rest = true, bytes.TrimSpace(cut)
	}
	f.symbol, f.dso = cutDSO(rest)
	f.symbol = cutOffset(f.symbol)
	if bytes.Equal(f.symbol, []byte(unknown)) {
		f.symbol = nil
	}
	f.dso = bytes.TrimSuffix(f.dso, []byte(" (deleted)"))
	if cut := cutOffset(f.dso); len(cut) < len(f.dso) {
		offset, err := strconv.ParseUint(string(f.dso[len(cut)+len("+0x"):]), 16, 64)
		if err == nil {
			f.ip, f.relative = offset, true
		}
		f.dso = cut
	}
	if bytes.Equal(f.dso, []byte(unknown)) {
		f.dso = nil
	}
	return f, true
}

// cutDSO cuts "(file)" off the end. Both symbols and files may have spaces and parentheses in
// them: the file begins at the one that matches the last, if a space stands before it.
func cutDSO(s []byte) (symbol, dso []byte) {
	if len(s) == 0 || s[len(s)-1] != ')' {
		return s, nil
	}
	if at, ok := afterOffset(s); ok {
		return s[:at], s[at+2 : len(s)-1]
	}
	depth := 0
	for i, c := range slices.Backward(s) {
		switch c {
		case ')':
			depth++
		case '(':
			if depth--; depth > 0 {
				continue
			}
			if i > 0 && s[i-1] != ' ' {
				return s, nil
			}
			return bytes.TrimSpace(s[:i]), s[i+1 : len(s)-1]
		}
	}
	return s, nil
}

// afterOffset finds where the file begins, if what stands before it can be told apart for sure:
// the offset into a symbol, or that there is none.
func afterOffset(s []byte) (int, bool) {
	if bytes.HasPrefix(s, []byte(unknown+" (")) {
		return len(unknown), true
	}
	for at := len(s); ; {
		if at = bytes.LastIndex(s[:at], []byte(" (")); at < 0 {
			return 0, false
		}
		if len(cutOffset(s[:at])) < at {
			return at, true
		}
	}
}

// cutOffset cuts "+0x1f" off the end.
func cutOffset(s []byte) []byte {
	at := bytes.LastIndex(s, []byte("+0x"))
	if at < 0 || !isHex(s[at+3:]) {
		return s
	}
	return s[:at]
}

// perfMap is a file that a process had mapped, of a line PERF_RECORD_MMAP2.
type perfMap struct {
	start, limit, offset uint64
	file, buildID        string
	code                 bool // it may be executed
}

// parsePerfMap reads what --show-mmap-events prints (tools/perf/util/event.c of Linux:
// perf_event__fprintf_mmap2), from "PERF_RECORD_MMAP" on:
//
//	PERF_RECORD_MMAP2 23825/23825: [0x558765f59000(0x13000) @ 0x4000 fe:00 247072 0]: r-xp /usr/bin/dash
//	PERF_RECORD_MMAP2 23825/23825: [0x558765f59000(0x13000) @ 0x4000 <be6397ddffc3e384c505d7deab3bed190c884df9>]: r-xp /usr/bin/dash
func parsePerfMap(s []byte) (pid int64, m perfMap, ok bool) {
	_, s, _ = bytes.Cut(s, []byte(" "))
	who, s, ok := bytes.Cut(s, []byte(": ["))
	if !ok {
		return 0, m, false
	}
	id, _, _ := bytes.Cut(bytes.TrimSpace(who), []byte("/"))
	pid, err := strconv.ParseInt(string(id), 10, 64)
	if err != nil {
		return 0, m, false
	}
	inside, s, ok := bytes.Cut(s, []byte("]: "))
	if !ok {
		return 0, m, false
	}
	protection, file, ok := bytes.Cut(s, []byte(" "))
	if !ok {
		return 0, m, false
	}
	words := bytes.Fields(inside)
	if len(words) < 3 || len(words[2]) == 0 {
		return 0, m, false
	}
	start, length, ok := bytes.Cut(bytes.TrimSuffix(words[0], []byte(")")), []byte("("))
	if !ok {
		return 0, m, false
	}
	size, ok1 := hex(length)
	from, ok2 := hex(start)
	offset, ok3 := hex(words[2])
	if !ok1 || !ok2 || !ok3 || from+size < from {
		return 0, m, false
	}
	m = perfMap{start: from, limit: from + size, offset: offset, file: string(file), code: bytes.IndexByte(protection, 'x') >= 0}
	if last := words[len(words)-1]; len(words) == 4 && last[0] == '<' && last[len(last)-1] == '>' {
		m.buildID = string(last[1 : len(last)-1])
	}
	return pid, m, true
}

func hex(w []byte) (uint64, bool) {
	n, err := strconv.ParseUint(string(bytes.TrimPrefix(w, []byte("0x"))), 16, 64)
	return n, err == nil
}

// parseBuildID reads a line of `perf buildid-list`: 40 hexadecimal digits and a file.
func parseBuildID(line []byte) (id, file string, ok bool) {
	a, b, found := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
	b = bytes.TrimSpace(b)
	if !found || len(a) < 16 || len(a) > 64 || len(a)%2 != 0 || len(b) == 0 || b[0] != '/' && b[0] != '[' {
		return "", "", false
	}
	for _, c := range a {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return "", "", false
		}
	}
	return string(a), string(b), true
}
