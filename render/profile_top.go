package render

import (
	"io"

	"kitescope/doc"
	"kitescope/profile/report"
	"kitescope/table"
	"kitescope/words"
)

// WriteProfileTop writes where the time goes.
func WriteProfileTop(w io.Writer, t *report.Top, f ReportFormat, o ReportOptions) error {
	return newTopSheet(t, &o).write(w, f)
}

func newTopSheet(t *report.Top, o *ReportOptions) *sheet {
	n := o.shown(len(t.Entries))
	part := sheetPart{list: places(n, topColumns(t, t.Entries[:n], o))}
	if n == 0 {
		part = sheetPart{head: []sheetLine{{text: "no samples"}}}
	}
	return &sheet{
		kind: "ProfileTop", o: o,
		head:  headLines(&t.Header),
		parts: []sheetPart{part},
		foot:  o.more(len(t.Entries)),
		about: func(e *doc.Encoder) {
			writeProfileHead(e, &t.Header)
			writeBy(e, o)
		},
		items: forScripts(n, len(t.Entries), placed(entryKeys(&t.Header), func(i int) *report.Entry { return &t.Entries[i] })),
	}
}

func topColumns(t *report.Top, list []report.Entry, o *ReportOptions) []table.ColumnOf[int] {
	s := newScale(t.Type.Unit, t.Total, magnitudes(list, flatOf, cumOf))
	sums := make([]int64, len(list)) // as pprof prints them: of what stands above, too
	var sum int64
	for i := range list {
		sum += list[i].Flat
		sums[i] = sum
	}
	entry := func(title string, text func(e *report.Entry) string) table.ColumnOf[int] {
		return table.ColumnOf[int]{Column: table.Column{Title: title, Right: true}, Shown: func(i int) string { return text(&list[i]) }}
	}
	flat := entry("FLAT", func(e *report.Entry) string { return s.text(e.Flat) })
	flatPercent := entry("FLAT%", func(e *report.Entry) string { return percentText(t.Percent(e.Flat)) })
	running := table.ColumnOf[int]{Column: table.Column{Title: "SUM%", Right: true, Priority: 2}, Shown: func(i int) string { return percentText(t.Percent(sums[i])) }}
	cum := entry("CUM", func(e *report.Entry) string { return s.text(e.Cum) })
	cumPercent := entry("CUM%", func(e *report.Entry) string { return percentText(t.Percent(e.Cum)) })
	flat.Priority, cum.Priority = 3, 1
	samples := entry("SAMPLES", func(e *report.Entry) string { return countText(e.FlatSamples) })
	cumSamples := entry("CUM SAMPLES", func(e *report.Entry) string { return countText(e.CumSamples) })
	class := entry("CLASS", func(e *report.Entry) string { return e.Class.String() })
	name := entry(byTitle(o), entryName)
	file := entry("FILE", func(e *report.Entry) string { return orUnknown(e.File) })
	for _, c := range []*table.ColumnOf[int]{&samples, &cumSamples, &class, &file} {
		c.Show = table.Wide
	}
	class.Right, file.Right, name.Right, name.Shorten = false, false, false, true
	return []table.ColumnOf[int]{flat, flatPercent, running, cum, cumPercent, samples, cumSamples, class, name, file}
}

func flatOf(e *report.Entry) int64 { return e.Flat }
func cumOf(e *report.Entry) int64  { return e.Cum }

func orUnknown(s string) string {
	if s == "" {
		return words.UnknownMark
	}
	return Harmless(s)
}

// entryKeys are the keys of an entry. Values are in the unit of the samples.
func entryKeys(h *report.Header) []table.ColumnOf[*report.Entry] {
	return []table.ColumnOf[*report.Entry]{
		key("function", table.Text, func(e *report.Entry) table.Cell { return table.Of(e.Function) }),
		key("flat", table.Int, func(e *report.Entry) table.Cell { return table.OfInt(e.Flat) }),
		key("cum", table.Int, func(e *report.Entry) table.Cell { return table.OfInt(e.Cum) }),
		key("flat_percent", table.Number, func(e *report.Entry) table.Cell { return table.OfFloat(h.Percent(e.Flat)) }),
		key("cum_percent", table.Number, func(e *report.Entry) table.Cell { return table.OfFloat(h.Percent(e.Cum)) }),
		key("flat_samples", table.Int, func(e *report.Entry) table.Cell { return table.OfCount(e.FlatSamples) }),
		key("cum_samples", table.Int, func(e *report.Entry) table.Cell { return table.OfCount(e.CumSamples) }),
		key("class", table.Text, func(e *report.Entry) table.Cell { return table.Of(e.Class.String()) }),
		key("file", table.Text, func(e *report.Entry) table.Cell { return table.Of(e.File) }),
		key("inlined", table.Text, func(e *report.Entry) table.Cell { return table.Of(inlinedWord(e)) }),
	}
}

// inlinedWord says whether calls of a function were inlined.
func inlinedWord(e *report.Entry) string {
	switch {
	case e.PartlyInlined:
		return "partly"
	case e.Inlined:
		return "always"
	}
	return "no"
}
