package read

import (
	"bytes"
	"slices"
	"strconv"
)

// perfFrame is a stack line of `perf script`, e.g. "  7f7b1c2d symbol+0x1f (/usr/lib/libc.so.6)"
// (tools/perf/util/evsel_fprintf.c of Linux: sample__fprintf_callchain).
type perfFrame struct {
	ip uint64
	// symbol excludes the offset and is empty if unknown; dso is empty if unknown or not printed.
	symbol, dso []byte
	inlined     bool
}

// parsePerfFrame parses a frame. ok is false if the line is not a frame.
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
			f.ip = offset // -F dsoff
		}
		f.dso = cut
	}
	if bytes.Equal(f.dso, []byte(unknown)) {
		f.dso = nil
	}
	return f, true
}

// cutDSO splits off "(file)" at the end. Symbols and files may contain spaces and parentheses: the file begins
// at the parenthesis that matches the last one, if a space precedes it.
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

// afterOffset returns the position of " (" before the file. It returns false unless the text before that
// position is unambiguous: it ends with the offset into a symbol, or is "[unknown]".
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

// cutOffset removes an offset such as "+0x1f" from the end.
func cutOffset(s []byte) []byte {
	at := bytes.LastIndex(s, []byte("+0x"))
	if at < 0 || !isHex(s[at+3:]) {
		return s
	}
	return s[:at]
}
