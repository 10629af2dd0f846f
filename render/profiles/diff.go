package profiles

import (
	"io"
	"math"
	"strconv"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/profile/report"
	"kitescope/render"
)

// WriteDiff writes the changes between two profiles.
func WriteDiff(w io.Writer, c *report.Comparison, f render.Format, o render.ReportOptions) error {
	return newDiffSheet(c, &o).Write(w, f)
}

// DiffSchema returns the schema of the changes that WriteDiff writes.
func DiffSchema(o render.ReportOptions) *table.Schema {
	return diffTable(&report.Comparison{}, new(changeScale), &o).Schema()
}

// Verdict returns the mark and role of a verdict: increases are red, decreases blue, and noise is dim. The mark
// makes the verdict clear without color.
func Verdict(v report.Verdict, ascii bool) (mark string, role render.Role) {
	switch v {
	case report.Increased:
		return render.Glyph(render.RoleMore, ascii), render.RoleMore
	case report.Decreased:
		return render.Glyph(render.RoleLess, ascii), render.RoleLess
	case report.Noise:
		return []string{"≈", "~"}[render.BoolInt(ascii)], render.RoleDim
	case report.Undecided:
	}
	return words.UnknownMark, render.RolePlain
}

func newDiffSheet(c *report.Comparison, o *render.ReportOptions) *render.Sheet {
	var scale changeScale
	asked := render.Select(o, diffTable(c, &scale, o), nil)
	scale = newChangeScale(c, asked.Rows)
	empty := "nothing changed"
	if c.Base.Total == 0 && c.New.Total == 0 {
		empty = "nothing was sampled on either side"
	}
	return &render.Sheet{
		Kind: "ProfileDiff", Options: o, Head: diffHead(c, o),
		Foot: append(asked.More(o), render.Line{Role: render.RoleDim, Text: verdictLegend(o)}),
		About: func(e *encode.Encoder) {
			writeProfileHead(e, &c.New)
			e.Key("base")
			e.BeginObject()
			writeProfileHead(e, &c.Base)
			e.EndObject()
			writeBy(e, o)
			e.Entry("percent_of", []string{"differences", "base"}[render.BoolInt(c.OfBase)])
			e.Entry("percent_total", c.Total)
			e.Entry("normalized", c.Normalized)
			e.Entry("factor", encode.Exact(c.Factor))
			e.Entry("hypothesis", c.Hypothesis.String())
			e.Entry("level", encode.Exact(c.Level))
		},
		Items: asked.Items,
		Parts: []render.Part{asked.List(empty)},
	}
}

func diffHead(c *report.Comparison, o *render.ReportOptions) []render.Line {
	title := typeText(c.Type)
	if base, now := originText(&c.Base.Origin), originText(&c.New.Origin); base != "" || now != "" {
		title += " of " + render.OrUnknown(base) + render.Arrow(&o.Options) + render.OrUnknown(now)
	}
	lines := []render.Line{
		{Role: render.RoleTitle, Text: title},
		{Text: "before: " + headText(&c.Base)},
		{Text: "after:  " + headText(&c.New)},
	}
	if c.Normalized {
		lines = append(lines,
			render.Line{
				Text: "normalized: samples after are multiplied by " + string(encode.AppendNumber(nil, c.Factor)),
			})
	}
	of := "percentages are of the sum of all differences, " + Scaled(c.Total, c.Type.Unit)
	switch {
	case c.OfBase:
		of = "percentages are of the total before, " + Scaled(c.Total, c.Type.Unit)
	case c.Total != 0:
		of = "nothing was sampled before: " + of
	}
	lines = append(lines, render.Line{Role: render.RoleDim, Text: of},
		render.Line{Role: render.RoleDim, Text: pValueLegend(c)})
	lines = append(lines, noteLines(&c.Base, "before: ")...)
	return append(lines, noteLines(&c.New, "after: ")...)
}

// pValueLegend explains the columns P, which determine the verdicts.
func pValueLegend(c *report.Comparison) string {
	if c.Base.Samples < 0 || c.New.Samples < 0 {
		return "the number of sampled events is unknown: changes cannot be distinguished from noise"
	}
	return "P: chance of a change this large in any line by sampling alone (" + hypothesisText(c.Hypothesis) + "); " +
		strconv.FormatFloat(c.Level, 'g', 3, 64) + " and above is shown as noise"
}

// hypothesisText returns the null hypothesis of a comparison.
func hypothesisText(h report.Hypothesis) string {
	if h == report.EqualRates {
		return "equal rates of samples"
	}
	return "equal shares of all samples"
}

func verdictLegend(o *render.ReportOptions) string {
	text := ""
	for _, x := range []struct {
		v    report.Verdict
		text string
	}{
		{report.Increased, "more"},
		{report.Decreased, "less"},
		{report.Noise, "within sampling noise"},
		{report.Undecided, "counts unknown"},
	} {
		mark, _ := Verdict(x.v, o.ASCII)
		if text != "" {
			text += ", "
		}
		text += mark + " " + x.text
	}
	return text
}

// diffPercent returns a value as a percentage of the comparison's total. The table shows its sign. Scripts get
// its absolute value, as printed by `go tool pprof`, and the sign with the value.
func diffPercent(c *report.Comparison, value int64) float64 {
	if c.Total == 0 {
		return 0
	}
	return 100 * float64(value) / float64(c.Total)
}

// changeScale is the unit of values, and the widths of the values before and after in cells.
type changeScale struct {
	scale
	before, after int
}

func newChangeScale(c *report.Comparison, list []*report.Change) changeScale {
	s := changeScale{
		scale: newScale(c.Type.Unit, c.Total,
			magnitudes(list, func(x *report.Change) int64 { return x.Flat }, func(x *report.Change) int64 {
				return x.Cum
			})),
	}
	for _, x := range list {
		s.before, s.after = max(s.before, render.Cells(s.text(x.FlatBefore))),
			max(s.after, render.Cells(s.text(x.FlatAfter)))
	}
	return s
}

// diffTable returns the table of changes. The caller sets the scale after selecting the rows to show.
func diffTable(c *report.Comparison, s *changeScale, o *render.ReportOptions) *table.Rows[*report.Change] {
	type change = *report.Change
	flat := func(x change) render.Role { return flatLook(x, o).role }
	cum := func(x change) render.Role { return cumLook(x, o).role }
	number := func(name string, of func(x change) int64) table.ColumnOf[change] {
		return render.Key(name, table.Int, func(x change) table.Cell { return table.OfInt(of(x)) })
	}
	events := func(name string, of func(x change) int64) table.ColumnOf[change] {
		return render.Key(name, table.Int, func(x change) table.Cell { return table.OfCount(of(x)) })
	}
	percent := func(name, title string, priority int, of func(x change) int64) table.ColumnOf[change] {
		return render.Key(name, table.Number, func(x change) table.Cell {
			return table.OfFloat(math.Abs(diffPercent(c, of(x))))
		}).
			WithTitle(title, priority, func(x change) string { return SignedPercent(diffPercent(c, of(x))) })
	}
	chance := func(name string, of func(x change) float64) table.ColumnOf[change] {
		return render.Key(name, table.Exact, func(x change) table.Cell { return render.FiniteCell(of(x)) })
	}
	function := render.TextKey("function", func(x change) string { return x.Function }).WithTitle(byTitle(o), 0,
		func(x change) string { return render.OrUnknown(x.Function) }).WithRole(nameLook)
	function.Shorten = true
	arrow := render.Arrow(&o.Options)
	return table.New(table.Schema{
		Name: "changes", Singular: "change", Names: []string{"function"}, Sparse: true,
		Order: []string{
			"flat_mark", "flat", "flat_percent", "flat_before_after", "flat_p_corrected", "cum_mark", "cum",
			"cum_percent", "cum_p_corrected", "class", "function",
		},
	}, render.Pointers(c.Changes), []table.ColumnOf[change]{
		function,
		number("flat", func(x change) int64 { return x.Flat }).WithTitle("FLAT", 0, func(x change) string {
			return s.change(x.Flat)
		}).WithRole(flat),
		number("cum", func(x change) int64 { return x.Cum }).WithTitle("CUM", 1, func(x change) string {
			return s.change(x.Cum)
		}).WithRole(cum),
		percent("flat_percent", "FLAT%", 3, func(x change) int64 { return x.Flat }).WithRole(flat),
		percent("cum_percent", "CUM%", 2, func(x change) int64 { return x.Cum }).WithRole(cum),
		number("flat_before", func(x change) int64 { return x.FlatBefore }),
		number("flat_after", func(x change) int64 { return x.FlatAfter }),
		number("cum_before", func(x change) int64 { return x.CumBefore }),
		number("cum_after", func(x change) int64 { return x.CumAfter }),
		events("flat_samples_before", func(x change) int64 { return x.FlatEventsBefore }),
		events("flat_samples_after", func(x change) int64 { return x.FlatEventsAfter }),
		events("cum_samples_before", func(x change) int64 { return x.CumEventsBefore }),
		events("cum_samples_after", func(x change) int64 { return x.CumEventsAfter }),
		render.TextKey("flat_verdict", func(x change) string { return x.FlatVerdict.String() }).WithVocabulary(),
		render.TextKey("cum_verdict", func(x change) string { return x.CumVerdict.String() }).WithVocabulary(),
		chance("flat_p", func(x change) float64 { return x.FlatP }),
		chance("cum_p", func(x change) float64 { return x.CumP }),
		chance("flat_p_corrected", func(x change) float64 { return x.FlatCorrectedP }).WithTitle("P", 4,
			func(x change) string { return flatLook(x, o).pValue }).WithRole(flat),
		chance("cum_p_corrected", func(x change) float64 { return x.CumCorrectedP }).WithTitle("P", 0,
			func(x change) string { return cumLook(x, o).pValue }).WithRole(cum).WideOnly(),
		render.TextKey("class", func(x change) string { return x.Class.String() }).WithTitle("CLASS", 0,
			func(x change) string { return x.Class.String() }).WithRole(flat).WideOnly().WithVocabulary(),
		render.TextKey("file", func(x change) string { return x.File }),
		table.DisplayColumn("flat_mark", "", 0, func(x change) string { return flatLook(x, o).mark }).WithRole(flat),
		table.DisplayColumn("flat_before_after", "BEFORE"+arrow+"AFTER", 5, func(x change) string {
			return render.LeftPad(s.text(x.FlatBefore), s.before) + arrow + render.LeftPad(s.text(x.FlatAfter), s.after)
		}).WithRole(flat),
		table.DisplayColumn("cum_mark", "", 1, func(x change) string { return cumLook(x, o).mark }).WithRole(cum),
	})
}

// look is the style of a verdict on one value of a change.
type look struct {
	mark, pValue string
	role         render.Role
}

// verdictLook returns the look of a verdict. It shows none for a value that is 0 on both sides.
func verdictLook(before, after int64, v report.Verdict, p float64, o *render.ReportOptions) look {
	if before == 0 && after == 0 {
		return look{pValue: words.NoneMark, role: render.RoleDim}
	}
	mark, role := Verdict(v, o.ASCII)
	return look{mark, render.PValueText(p), role}
}

func flatLook(x *report.Change, o *render.ReportOptions) look {
	return verdictLook(x.FlatBefore, x.FlatAfter, x.FlatVerdict, x.FlatCorrectedP, o)
}

func cumLook(x *report.Change, o *render.ReportOptions) look {
	return verdictLook(x.CumBefore, x.CumAfter, x.CumVerdict, x.CumCorrectedP, o)
}

// nameLook dims names whose values are all noise.
func nameLook(x *report.Change) render.Role {
	quiet := func(v report.Verdict, before, after int64) bool {
		return v == report.Noise || before == 0 && after == 0
	}
	if quiet(x.FlatVerdict, x.FlatBefore, x.FlatAfter) && quiet(x.CumVerdict, x.CumBefore, x.CumAfter) {
		return render.RoleDim
	}
	return render.RolePlain
}
