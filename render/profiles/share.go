package profiles

import (
	"io"
	"math"
	"strings"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/profile/report"
	"kitescope/render"
)

// WriteShare writes how large a part of a profile matches a pattern, and how sure that is.
func WriteShare(w io.Writer, s *report.Share, f render.Format, o render.ReportOptions) error {
	return newShareSheet(s, &o).Write(w, f)
}

// ShareText is the answer in a line: "SearchHits.toXContent 1.27%, 61 samples, 0.98 to 1.63%".
func ShareText(s *report.Share) string {
	return render.Harmless(s.Pattern) + " " + countedText(s.Part, s.Matched, s.Low, s.High)
}

// countedText is a part of 1 with what it is known from: "1.27%, 61 samples, 0.98 to 1.63%".
func countedText(part float64, samples int64, low, high float64) string {
	text := partText(part) + ", " + samplesText(samples)
	if math.IsNaN(low) || math.IsNaN(high) {
		return text + ", no interval: the counts are unknown"
	}
	return text + ", " + strings.TrimSuffix(partText(low), "%") + " to " + partText(high)
}

// partText is a part of 1 in percent: "1.27%".
func partText(part float64) string {
	return PercentText(100 * part)
}

func samplesText(n int64) string {
	if n < 0 {
		return words.UnknownMark + " samples"
	}
	return words.Plural(int(n), "sample")
}

func newShareSheet(s *report.Share, o *render.ReportOptions) *render.Sheet {
	unit := s.Type.Unit
	values := oneScale(unit, s.Value)
	lines := []render.Line{{Text: ShareText(s)}}
	leaf := "as leaf " + Scaled(s.LeafValue, unit) + ", " + countedText(s.Percent(s.LeafValue)/100, s.LeafMatched, s.LeafLow, s.LeafHigh)
	lines = append(lines, render.Line{Text: values.text(s.Value) + " of " + Scaled(s.Total, unit) + "; " + leaf})
	lines = append(lines, noteLines(&s.Header, "")...)
	n := o.Shown(len(s.Functions))
	part := render.Part{}
	if n > 0 {
		part = render.Part{List: render.Places(n, []table.ColumnOf[int]{{Column: table.Column{Title: "MATCHING " + byTitle(o), Shorten: true}, Shown: func(i int) string { return s.Functions[i] }}})}
	}
	sheet := &render.Sheet{
		Kind: "ProfileShare", Options: o,
		Head:  append([]render.Line{titleLine(&s.Header), {Text: headText(&s.Header)}, {}}, lines...),
		Foot:  o.More(len(s.Functions)),
		About: func(e *encode.Encoder) { writeProfileHead(e, &s.Header) },
		Items: render.ForScripts(1, 1, shareFields(s)), Alone: true,
	}
	if n > 0 {
		sheet.Parts = []render.Part{part}
	}
	return sheet
}

func shareFields(s *report.Share) []table.ColumnOf[int] {
	field := func(name string, kind table.Kind, c table.Cell) table.ColumnOf[int] {
		return render.Key(name, kind, func(int) table.Cell { return c })
	}
	percent := func(part float64) table.Cell {
		if math.IsNaN(part) {
			return table.OfUnknown()
		}
		return table.OfFloat(100 * part)
	}
	return []table.ColumnOf[int]{
		field("pattern", table.Text, table.Of(s.Pattern)),
		field("value", table.Int, table.OfInt(s.Value)),
		field("matched_samples", table.Int, table.OfCount(s.Matched)),
		field("percent", table.Number, percent(s.Part)),
		field("percent_low", table.Number, percent(s.Low)),
		field("percent_high", table.Number, percent(s.High)),
		field("leaf_value", table.Int, table.OfInt(s.LeafValue)),
		field("leaf_samples", table.Int, table.OfCount(s.LeafMatched)),
		field("leaf_percent", table.Number, table.OfFloat(s.Percent(s.LeafValue))),
		field("leaf_percent_low", table.Number, percent(s.LeafLow)),
		field("leaf_percent_high", table.Number, percent(s.LeafHigh)),
		field("functions", table.List, table.OfList(s.Functions)),
	}
}
