package render

import (
	"strconv"

	"kitescope/inspect/check"
	"kitescope/inspect/view"
	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
)

// Judged is what the tables of a cluster show of a report.
func Judged(r *check.Report) *view.Judgement {
	findings := make([]view.Finding, len(r.Findings))
	for i, f := range r.Findings {
		findings[i] = view.Finding{Objects: append([]view.Ref{f.Object}, f.Objects...), Severity: view.Severity(f.Severity), Check: f.Check}
	}
	return view.NewJudgement(findings)
}

// severities are the parts of a tally, the worst first.
func severities(t table.Tally) [3]struct {
	of    check.Severity
	count int
} {
	return [3]struct {
		of    check.Severity
		count int
	}{{check.Error, t.Errors}, {check.Warning, t.Warnings}, {check.Info, t.Infos}}
}

// TallyGlyph is the sign of the worst of some findings, "" if there are none.
func TallyGlyph(t table.Tally) string {
	for _, s := range severities(t) {
		if s.count > 0 {
			return SeverityGlyph(s.of, false)
		}
	}
	return ""
}

// appendTally appends findings as people see them: "✖2 ▲1".
func appendTally(dst []byte, t table.Tally) []byte {
	empty := len(dst)
	for _, s := range severities(t) {
		if s.count == 0 {
			continue
		}
		if len(dst) > empty {
			dst = append(dst, ' ')
		}
		dst = strconv.AppendInt(append(dst, SeverityGlyph(s.of, false)...), int64(s.count), 10)
	}
	if len(dst) == empty {
		return append(dst, words.NoneMark...)
	}
	return dst
}

// appendTallyJSON is writeCellTally for a line of JSON.
func appendTallyJSON(dst []byte, c *table.Cell) []byte {
	dst = append(dst, '{')
	if c.Int == 0 {
		return append(dst, '}')
	}
	for _, s := range severities(table.TallyOf(*c)) {
		if s.count > 0 {
			dst = append(append(words.AppendJSON(dst, s.of.String()), ':'), strconv.Itoa(s.count)+","...)
		}
	}
	dst = append(dst, `"checks":[`...)
	for i, id := range c.List {
		dst = words.AppendJSON(comma(dst, i > 0), id)
	}
	return append(dst, ']', '}')
}

// writeCellTally writes an object: how many there are of each severity that there are any of, and the ids of the checks.
func writeCellTally(e *encode.Encoder, c table.Cell) {
	e.BeginObject()
	if c.Absent == table.Present && c.Int > 0 {
		for _, s := range severities(table.TallyOf(c)) {
			e.NonZero(s.of.String(), s.count)
		}
		e.Entry("checks", c.List)
	}
	e.EndObject()
}

// appendTallyCSV is the same in one field: "error=2;warning=1".
func appendTallyCSV(dst []byte, c table.Cell) []byte {
	separator := ""
	for _, s := range severities(table.TallyOf(c)) {
		if s.count > 0 {
			dst = append(append(dst, separator+s.of.String()...), '=')
			dst = strconv.AppendInt(dst, int64(s.count), 10)
			separator = ";"
		}
	}
	return dst
}
