package profiles

import (
	"io"
	"math"
	"strconv"

	"kitescope/doc"
	"kitescope/profile/report"
	"kitescope/render"
	"kitescope/table"
	"kitescope/words"
)

// WriteDiff writes what changed between two profiles.
func WriteDiff(w io.Writer, c *report.Comparison, f render.Format, o render.ReportOptions) error {
	return newDiffSheet(c, &o).Write(w, f)
}

// Verdict is how a verdict looks: more is red and less blue, noise is dim. The mark says the same without
// colour.
func Verdict(v report.Verdict, ascii bool) (mark string, role render.Role) {
	switch v {
	case report.More:
		return render.Glyph(render.RoleMore, ascii), render.RoleMore
	case report.Less:
		return render.Glyph(render.RoleLess, ascii), render.RoleLess
	case report.Noise:
		return []string{"≈", "~"}[render.BoolInt(ascii)], render.RoleDim
	case report.Undecided:
	}
	return words.UnknownMark, render.RolePlain
}

func newDiffSheet(c *report.Comparison, o *render.ReportOptions) *render.Sheet {
	n := o.Shown(len(c.Changes))
	s := &render.Sheet{
		Kind: "ProfileDiff", Options: o, Head: diffHead(c, o),
		Foot: append(o.More(len(c.Changes)), render.Line{Role: render.RoleDim, Text: verdictLegend(o)}),
		About: func(e *doc.Encoder) {
			writeProfileHead(e, &c.New)
			e.Key("base")
			e.BeginObject()
			writeProfileHead(e, &c.Base)
			e.EndObject()
			writeBy(e, o)
			e.Entry("percent_of", []string{"differences", "base"}[render.BoolInt(c.OfBase)])
			e.Entry("percent_total", c.Total)
			e.Entry("normalized", c.Normalized)
			e.Entry("factor", doc.Exact(c.Factor))
			e.Entry("hypothesis", c.Hypothesis.String())
			e.Entry("level", doc.Exact(c.Level))
		},
		Items: render.ForScripts(n, len(c.Changes), diffFields(c)),
	}
	if n > 0 {
		s.Parts = []render.Part{{List: render.Places(n, diffColumns(c, c.Changes[:n], o))}}
	} else {
		text := "nothing changed"
		if c.Base.Total == 0 && c.New.Total == 0 {
			text = "nothing was sampled on either side"
		}
		s.Parts = []render.Part{{Head: []render.Line{{Text: text}}}}
	}
	return s
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
		lines = append(lines, render.Line{Text: "normalized: what was sampled after is multiplied by " + string(doc.AppendNumber(nil, c.Factor))})
	}
	of := "percentages are of the sum of all differences, " + Scaled(c.Total, c.Type.Unit)
	switch {
	case c.OfBase:
		of = "percentages are of the total before, " + Scaled(c.Total, c.Type.Unit)
	case c.DiffBase && c.Total != 0:
		of = "nothing was sampled before: " + of
	}
	lines = append(lines, render.Line{Role: render.RoleDim, Text: of},
		render.Line{Role: render.RoleDim, Text: chanceLegend(c)})
	lines = append(lines, noteLines(&c.Base, "before: ")...)
	return append(lines, noteLines(&c.New, "after: ")...)
}

// chanceLegend says what the columns P are, which verdicts follow from.
func chanceLegend(c *report.Comparison) string {
	if c.Base.Samples < 0 || c.New.Samples < 0 {
		return "how many events were sampled is not known, so that nothing tells a change from noise"
	}
	return "P is the chance that any line would change as much if " + hypothesisText(c.Hypothesis) + "; from " +
		strconv.FormatFloat(c.Level, 'g', 3, 64) + " on it is noise"
}

// hypothesisText is what a comparison takes to be so unless its counts say otherwise.
func hypothesisText(h report.Hypothesis) string {
	if h == report.EqualRates {
		return "as many samples came in the same time"
	}
	return "the same part of all samples came"
}

func verdictLegend(o *render.ReportOptions) string {
	text := ""
	for _, x := range []struct {
		v    report.Verdict
		text string
	}{{report.More, "more"}, {report.Less, "less"}, {report.Noise, "no more than two samplings of the same program may differ"}, {report.Undecided, "counts unknown"}} {
		mark, _ := Verdict(x.v, o.ASCII)
		if text != "" {
			text += ", "
		}
		text += mark + " " + x.text
	}
	return text
}

// diffPercent is a value in percent of what the percentages of a comparison refer to. The table shows
// its sign; scripts get its size, as `go tool pprof` prints it, and the sign with the value.
func diffPercent(c *report.Comparison, value int64) float64 {
	if c.Total == 0 {
		return 0
	}
	return 100 * float64(value) / float64(c.Total)
}

func diffColumns(c *report.Comparison, list []report.Change, o *render.ReportOptions) []table.ColumnOf[int] {
	s := newScale(c.Type.Unit, c.Total, magnitudes(list, func(x *report.Change) int64 { return x.Flat }, func(x *report.Change) int64 { return x.Cum }))
	column := func(title string, priority int, role func(x *report.Change) render.Role, text func(x *report.Change) string) table.ColumnOf[int] {
		return table.ColumnOf[int]{Column: table.Column{Title: title, Right: true, Priority: priority}, Shown: func(i int) string { return text(&list[i]) }, Role: func(i int) render.Role { return role(&list[i]) }}
	}
	flat := func(x *report.Change) render.Role { return flatLook(x, o).role }
	cum := func(x *report.Change) render.Role { return cumLook(x, o).role }
	before, after := 0, 0
	for i := range list {
		before, after = max(before, render.Cells(s.text(list[i].FlatBefore))), max(after, render.Cells(s.text(list[i].FlatAfter)))
	}
	columns := []table.ColumnOf[int]{
		column("", 0, flat, func(x *report.Change) string { return flatLook(x, o).mark }),
		column("FLAT", 0, flat, func(x *report.Change) string { return s.change(x.Flat) }),
		column("FLAT%", 3, flat, func(x *report.Change) string { return SignedPercent(diffPercent(c, x.Flat)) }),
		column("BEFORE"+render.Arrow(&o.Options)+"AFTER", 5, flat, func(x *report.Change) string {
			return render.LeftPad(s.text(x.FlatBefore), before) + render.Arrow(&o.Options) + render.LeftPad(s.text(x.FlatAfter), after)
		}),
		column("P", 4, flat, func(x *report.Change) string { return flatLook(x, o).chance }),
		column("", 1, cum, func(x *report.Change) string { return cumLook(x, o).mark }),
		column("CUM", 1, cum, func(x *report.Change) string { return s.change(x.Cum) }),
		column("CUM%", 2, cum, func(x *report.Change) string { return SignedPercent(diffPercent(c, x.Cum)) }),
		column("P", 0, cum, func(x *report.Change) string { return cumLook(x, o).chance }),
		column("CLASS", 0, flat, func(x *report.Change) string { return x.Class.String() }),
		column(byTitle(o), 0, nameLook, func(x *report.Change) string { return entryName(&x.Entry) }),
	}
	columns[8].Show, columns[9].Show = table.Wide, table.Wide
	name := &columns[len(columns)-1]
	name.Right, name.Shorten, columns[9].Right = false, true, false
	return columns
}

// look is a verdict on one value of a change.
type look struct {
	mark, chance string
	role         render.Role
}

// verdictLook has nothing to say of a value that was and is nothing.
func verdictLook(before, after int64, v report.Verdict, p float64, o *render.ReportOptions) look {
	if before == 0 && after == 0 {
		return look{chance: words.NoneMark, role: render.RoleDim}
	}
	mark, role := Verdict(v, o.ASCII)
	return look{mark, render.ChanceText(p), role}
}

func flatLook(x *report.Change, o *render.ReportOptions) look {
	return verdictLook(x.FlatBefore, x.FlatAfter, x.FlatVerdict, x.FlatCorrectedP, o)
}

func cumLook(x *report.Change, o *render.ReportOptions) look {
	return verdictLook(x.CumBefore, x.CumAfter, x.CumVerdict, x.CumCorrectedP, o)
}

// nameLook dims what is noise altogether.
func nameLook(x *report.Change) render.Role {
	quiet := func(v report.Verdict, before, after int64) bool {
		return v == report.Noise || before == 0 && after == 0
	}
	if quiet(x.FlatVerdict, x.FlatBefore, x.FlatAfter) && quiet(x.CumVerdict, x.CumBefore, x.CumAfter) {
		return render.RoleDim
	}
	return render.RolePlain
}

func diffFields(c *report.Comparison) []table.ColumnOf[int] {
	field := func(name string, kind table.Kind, of func(x *report.Change) table.Cell) table.ColumnOf[int] {
		return render.Key(name, kind, func(i int) table.Cell { return of(&c.Changes[i]) })
	}
	events := func(name string, of func(x *report.Change) int64) table.ColumnOf[int] {
		return field(name, table.Int, func(x *report.Change) table.Cell { return table.OfCount(of(x)) })
	}
	number := func(name string, of func(x *report.Change) int64) table.ColumnOf[int] {
		return field(name, table.Int, func(x *report.Change) table.Cell { return table.OfInt(of(x)) })
	}
	return []table.ColumnOf[int]{
		field("function", table.Text, func(x *report.Change) table.Cell { return table.Of(x.Function) }),
		number("flat", func(x *report.Change) int64 { return x.Flat }),
		number("cum", func(x *report.Change) int64 { return x.Cum }),
		field("flat_percent", table.Number, func(x *report.Change) table.Cell { return table.OfFloat(math.Abs(diffPercent(c, x.Flat))) }),
		field("cum_percent", table.Number, func(x *report.Change) table.Cell { return table.OfFloat(math.Abs(diffPercent(c, x.Cum))) }),
		number("flat_before", func(x *report.Change) int64 { return x.FlatBefore }),
		number("flat_after", func(x *report.Change) int64 { return x.FlatAfter }),
		number("cum_before", func(x *report.Change) int64 { return x.CumBefore }),
		number("cum_after", func(x *report.Change) int64 { return x.CumAfter }),
		events("flat_samples_before", func(x *report.Change) int64 { return x.FlatEventsBefore }),
		events("flat_samples_after", func(x *report.Change) int64 { return x.FlatEventsAfter }),
		events("cum_samples_before", func(x *report.Change) int64 { return x.CumEventsBefore }),
		events("cum_samples_after", func(x *report.Change) int64 { return x.CumEventsAfter }),
		field("flat_verdict", table.Text, func(x *report.Change) table.Cell { return table.Of(x.FlatVerdict.String()) }),
		field("cum_verdict", table.Text, func(x *report.Change) table.Cell { return table.Of(x.CumVerdict.String()) }),
		field("flat_p", table.Exact, func(x *report.Change) table.Cell { return render.FiniteCell(x.FlatP) }),
		field("cum_p", table.Exact, func(x *report.Change) table.Cell { return render.FiniteCell(x.CumP) }),
		field("flat_p_corrected", table.Exact, func(x *report.Change) table.Cell { return render.FiniteCell(x.FlatCorrectedP) }),
		field("cum_p_corrected", table.Exact, func(x *report.Change) table.Cell { return render.FiniteCell(x.CumCorrectedP) }),
		field("class", table.Text, func(x *report.Change) table.Cell { return table.Of(x.Class.String()) }),
		field("file", table.Text, func(x *report.Change) table.Cell { return table.Of(x.File) }),
	}
}
