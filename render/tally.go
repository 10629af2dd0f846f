package render

import (
	"strconv"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
)

// severities returns the parts of a tally, worst first.
func severities(t table.Tally) [3]struct {
	word  string
	role  Role
	count int
} {
	return [3]struct {
		word  string
		role  Role
		count int
	}{{"error", RoleBad, t.Errors}, {"warning", RoleWarn, t.Warnings}, {"info", RoleAccent, t.Infos}}
}

// GlyphOf returns the symbol of a severity.
func GlyphOf(role Role, ascii bool) string {
	if glyph := Glyph(role, ascii); glyph != "" {
		return glyph
	}
	if ascii {
		return "-"
	}
	return "•"
}

// TallyGlyph returns the symbol of the worst severity, or "" without findings.
func TallyGlyph(t table.Tally) string {
	for _, s := range severities(t) {
		if s.count > 0 {
			return GlyphOf(s.role, false)
		}
	}
	return ""
}

// appendTally appends findings for people: "✖2 ▲1".
func appendTally(dst []byte, t table.Tally) []byte {
	empty := len(dst)
	for _, s := range severities(t) {
		if s.count == 0 {
			continue
		}
		if len(dst) > empty {
			dst = append(dst, ' ')
		}
		dst = strconv.AppendInt(append(dst, GlyphOf(s.role, false)...), int64(s.count), 10)
	}
	if len(dst) == empty {
		return append(dst, words.NoneMark...)
	}
	return dst
}

// appendTallyJSON is like writeCellTally for a line of JSON.
func appendTallyJSON(dst []byte, c *table.Cell) []byte {
	dst = append(dst, '{')
	if c.Int == 0 {
		return append(dst, '}')
	}
	for _, s := range severities(table.TallyOf(*c)) {
		if s.count > 0 {
			dst = append(append(words.AppendJSON(dst, s.word), ':'), strconv.Itoa(s.count)+","...)
		}
	}
	dst = append(dst, `"checks":[`...)
	for i, id := range c.List {
		dst = words.AppendJSON(comma(dst, i > 0), id)
	}
	return append(dst, ']', '}')
}

// writeCellTally writes an object with the number of findings by severity, except zeros, and the ids of the
// checks.
func writeCellTally(e *encode.Encoder, c table.Cell) {
	e.BeginObject()
	if c.Absent == table.Present && c.Int > 0 {
		for _, s := range severities(table.TallyOf(c)) {
			e.NonZero(s.word, s.count)
		}
		e.Entry("checks", c.List)
	}
	e.EndObject()
}

// appendTallyCSV appends findings as one field: "error=2;warning=1".
func appendTallyCSV(dst []byte, c table.Cell) []byte {
	separator := ""
	for _, s := range severities(table.TallyOf(c)) {
		if s.count > 0 {
			dst = append(append(dst, separator+s.word...), '=')
			dst = strconv.AppendInt(dst, int64(s.count), 10)
			separator = ";"
		}
	}
	return dst
}
