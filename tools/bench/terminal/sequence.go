package terminal

import (
	"bytes"
	"strings"
)

const escape = 0x1b

// sequence returns the length of the control sequence at the start of data, or 0 if it is incomplete.
// According to ECMA-48, CSI ends at 0x40 to 0x7e. Strings end at ST or, as in xterm, at BEL.
func sequence(data []byte) int {
	if len(data) < 2 {
		return 0
	}
	switch data[1] {
	case '[':
		for i := 2; i < len(data); i++ {
			if data[i] >= 0x40 && data[i] <= 0x7e {
				return i + 1
			}
		}
		return 0
	case ']', 'P', '_', '^', 'X':
		bell, st := bytes.IndexByte(data, 0x07), bytes.Index(data, []byte("\x1b\\"))
		switch {
		case bell >= 0 && (st < 0 || bell < st):
			return bell + 1
		case st >= 0:
			return st + 2
		}
		return 0
	case '(', ')', '#', ' ', '%':
		if len(data) < 3 {
			return 0
		}
		return 3
	}
	return 2
}

// response returns the response of an xterm with a dark background and 256 colours to a query. It returns "" if
// the sequence is not a query (xterm's ctlseqs; contour's mode 2026).
func response(sequence string) string {
	switch sequence {
	case "\x1b[c", "\x1b[0c": // DA1
		return "\x1b[?62;22c"
	case "\x1b[>c", "\x1b[>0c": // DA2
		return "\x1b[>41;390;0c"
	case "\x1b[>q", "\x1b[>0q": // XTVERSION
		return "\x1bP>|XTerm(390)\x1b\\"
	case "\x1b[5n":
		return "\x1b[0n"
	case "\x1b[6n": // cursor position
		return "\x1b[1;1R"
	case "\x1b[?u": // kitty's keyboard protocol: not supported
		return ""
	}
	switch {
	case strings.HasPrefix(sequence, "\x1b]10;?"):
		return "\x1b]10;rgb:e5e5/e5e5/e5e5\x1b\\"
	case strings.HasPrefix(sequence, "\x1b]11;?"):
		return "\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\"
	case strings.HasPrefix(sequence, "\x1b[?") && strings.HasSuffix(sequence, "$p"): // DECRQM
		mode := strings.TrimSuffix(strings.TrimPrefix(sequence, "\x1b[?"), "$p")
		if mode == "2026" {
			return "\x1b[?2026;2$y" // synchronized output: supported, off
		}
		return "\x1b[?" + mode + ";0$y"
	case strings.HasPrefix(sequence, "\x1bP+q"): // XTGETTCAP
		return "\x1bP0+r\x1b\\"
	}
	return ""
}
