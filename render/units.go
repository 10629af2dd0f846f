package render

import (
	"strconv"
	"strings"
	"time"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
)

// Text formats a cell for people: bytes as "1.2 MiB", durations as "3m12s", counts exactly. The text contains no
// control characters.
func Text(c table.Cell, k table.Kind) string { return string(AppendText(nil, c, k)) }

// AppendText appends Text(c, k) to dst.
func AppendText(dst []byte, c table.Cell, k table.Kind) []byte {
	switch c.Absent {
	case table.Unknown:
		return append(dst, words.UnknownMark...)
	case table.None:
		return append(dst, words.NoneMark...)
	case table.Present:
	}
	switch k {
	case table.ID, table.Int:
		return strconv.AppendInt(dst, c.Int, 10)
	case table.Bytes:
		return words.AppendBytes(dst, c.Int)
	case table.Percent:
		return words.AppendPercent(dst, c.Float)
	case table.Number:
		return encode.AppendNumber(dst, c.Float)
	case table.Exact:
		return encode.AppendExact(dst, c.Float)
	case table.Time:
		return encode.AppendTime(dst, c.Int-c.Int%1e9)
	case table.Duration:
		return words.AppendAge(dst, time.Duration(c.Int))
	case table.Bool:
		if c.Int != 0 {
			return append(dst, "yes"...)
		}
		return append(dst, "no"...)
	case table.List:
		return appendList(dst, c.List, ",")
	case table.Pairs:
		return appendPairs(dst, c.List, ",")
	case table.NamedIDs, table.NamedPairs, table.NamedText:
		c, k = c.ForPeople(k)
		return AppendText(dst, c, k)
	case table.Findings:
		return appendTally(dst, table.TallyOf(c))
	default:
		return words.AppendSanitized(dst, c.Text)
	}
}

// AppendShown is like AppendText, with thousands separators in counts, for display instead of copying.
func AppendShown(dst []byte, c table.Cell, k table.Kind) []byte {
	if k == table.Int && c.Absent == table.Present && (c.Int >= 1000 || c.Int <= -1000) {
		return append(dst, words.Number(c.Int)...)
	}
	return AppendText(dst, c, k)
}

// CanHold reports whether texts of a kind, formatted by AppendText and lower-cased, can contain word. It checks
// the characters of word only.
func CanHold(k table.Kind, word []byte) bool {
	alphabet := ""
	switch k {
	case table.ID, table.Int:
	case table.Bytes:
		alphabet = ". bkmgtpei"
	case table.Percent:
		alphabet = ".%<e+"
	case table.Number, table.Exact:
		alphabet = ".e+naif" // "NaN", "+Inf"
	case table.Time:
		alphabet = "t:z.+"
	case table.Duration:
		alphabet = "dhms"
	case table.Bool:
		alphabet = "yesno"
	default:
		return true
	}
	for _, c := range word {
		if (c < '0' || c > '9') && c != words.NoneMark[0] && c != words.UnknownMark[0] &&
			strings.IndexByte(alphabet, c) < 0 {
			return false
		}
	}
	return true
}

func appendList(dst []byte, list []string, separator string) []byte {
	if len(list) == 0 {
		return append(dst, words.NoneMark...)
	}
	for i, s := range list {
		if i > 0 {
			dst = append(dst, separator...)
		}
		dst = words.AppendSanitized(dst, s)
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
		dst = words.AppendSanitized(dst, flat[i])
		dst = append(dst, '=')
		dst = words.AppendSanitized(dst, flat[i+1])
	}
	return dst
}
