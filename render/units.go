package render

import (
	"strconv"
	"time"

	"kitescope/inspect/view"
	"kitescope/words"
)

// Text is a cell for people: bytes as "1.2 MiB", ages as "3m12s", counts exact. Nothing
// in it can move a terminal's cursor.
func Text(c view.Cell, k view.Kind) string { return string(AppendText(nil, c, k)) }

// AppendText appends Text.
func AppendText(dst []byte, c view.Cell, k view.Kind) []byte {
	switch c.Absent {
	case view.Unknown:
		return append(dst, words.UnknownMark...)
	case view.None:
		return append(dst, words.NoneMark...)
	case view.Present:
	}
	switch k {
	case view.ID, view.Int:
		return strconv.AppendInt(dst, c.Int, 10)
	case view.Bytes:
		return words.AppendBytes(dst, c.Int)
	case view.Percent:
		return words.AppendPercent(dst, c.Float)
	case view.Time:
		return appendTime(dst, c.Int-c.Int%1e9)
	case view.Duration:
		return words.AppendAge(dst, time.Duration(c.Int))
	case view.Bool:
		if c.Int != 0 {
			return append(dst, "yes"...)
		}
		return append(dst, "no"...)
	case view.List:
		return appendList(dst, c.List, ",")
	case view.Pairs:
		return appendPairs(dst, c.List, ",")
	default:
		return words.AppendHarmless(dst, c.Text)
	}
}

func appendList(dst []byte, list []string, separator string) []byte {
	if len(list) == 0 {
		return append(dst, words.NoneMark...)
	}
	for i, s := range list {
		if i > 0 {
			dst = append(dst, separator...)
		}
		dst = words.AppendHarmless(dst, s)
	}
	return dst
}

func appendPairs(dst []byte, flat []string, separator string) []byte {
	if len(flat) == 0 {
		return append(dst, words.NoneMark...)
	}
	for i := 0; i+1 < len(flat); i += 2 {
		if i > 0 {
			dst = append(dst, separator...)
		}
		dst = words.AppendHarmless(dst, flat[i])
		dst = append(dst, '=')
		dst = words.AppendHarmless(dst, flat[i+1])
	}
	return dst
}
