package render

import (
	"io"

	"kitescope/profile/report"
	"kitescope/words"
)

// WriteProfileTop writes where the time goes.
func WriteProfileTop(w io.Writer, t *report.Top, f ReportFormat, o ReportOptions) error {
	return f.to().write(w, newTopSheet(t, &o))
}

func newTopSheet(t *report.Top, o *ReportOptions) *sheet {
	n := o.shown(len(t.Entries))
	part := sheetPart{columns: topColumns(t, t.Entries[:n], o), rows: n}
	if n == 0 {
		part = sheetPart{head: []sheetLine{{text: "no samples"}}}
	}
	return &sheet{
		kind: "ProfileTop", o: o,
		head:  headLines(&t.Header),
		parts: []sheetPart{part},
		foot:  o.more(len(t.Entries)),
		about: func(e encoder) {
			writeProfileHead(e, &t.Header)
			writeBy(e, o)
		},
		fields: topFields(t), items: n, all: len(t.Entries),
	}
}

func topColumns(t *report.Top, list []report.Entry, o *ReportOptions) []sheetColumn {
	s := newScale(t.Type.Unit, t.Total, magnitudes(list, flatOf, cumOf))
	sums := make([]int64, len(list)) // as pprof prints them: of what stands above, too
	var sum int64
	for i := range list {
		sum += list[i].Flat
		sums[i] = sum
	}
	entry := func(title string, text func(e *report.Entry) string) sheetColumn {
		return sheetColumn{title: title, right: true, text: func(i int) string { return text(&list[i]) }}
	}
	flat := entry("FLAT", func(e *report.Entry) string { return s.text(e.Flat) })
	flatPercent := entry("FLAT%", func(e *report.Entry) string { return percentText(t.Percent(e.Flat)) })
	running := sheetColumn{title: "SUM%", right: true, priority: 2, text: func(i int) string { return percentText(t.Percent(sums[i])) }}
	cum := entry("CUM", func(e *report.Entry) string { return s.text(e.Cum) })
	cumPercent := entry("CUM%", func(e *report.Entry) string { return percentText(t.Percent(e.Cum)) })
	flat.priority, cum.priority = 3, 1
	samples := entry("SAMPLES", func(e *report.Entry) string { return countText(e.FlatSamples) })
	cumSamples := entry("CUM SAMPLES", func(e *report.Entry) string { return countText(e.CumSamples) })
	class := entry("CLASS", func(e *report.Entry) string { return e.Class.String() })
	name := entry(byTitle(o), entryName)
	file := entry("FILE", func(e *report.Entry) string { return orUnknown(e.File) })
	for _, c := range []*sheetColumn{&samples, &cumSamples, &class, &file} {
		c.wide = true
	}
	class.right, file.right, name.right, name.name = false, false, false, true
	return []sheetColumn{flat, flatPercent, running, cum, cumPercent, samples, cumSamples, class, name, file}
}

func flatOf(e *report.Entry) int64 { return e.Flat }
func cumOf(e *report.Entry) int64  { return e.Cum }

func orUnknown(s string) string {
	if s == "" {
		return words.UnknownMark
	}
	return Harmless(s)
}

func topFields(t *report.Top) []sheetField {
	var fields []sheetField
	for _, f := range entryFields(&t.Header) {
		fields = append(fields, sheetField{f.name, func(i int) datum { return f.of(&t.Entries[i]) }})
	}
	return fields
}

// entryField is a key of all items that are entries.
type entryField struct {
	name string
	of   func(e *report.Entry) datum
}

// entryFields are the keys of an entry. Values are in the unit of the samples.
func entryFields(h *report.Header) []entryField {
	return []entryField{
		{"function", func(e *report.Entry) datum { return textDatum(e.Function) }},
		{"flat", func(e *report.Entry) datum { return intDatum(e.Flat) }},
		{"cum", func(e *report.Entry) datum { return intDatum(e.Cum) }},
		{"flat_percent", func(e *report.Entry) datum { return numberDatum(h.Percent(e.Flat)) }},
		{"cum_percent", func(e *report.Entry) datum { return numberDatum(h.Percent(e.Cum)) }},
		{"flat_samples", func(e *report.Entry) datum { return countDatum(e.FlatSamples) }},
		{"cum_samples", func(e *report.Entry) datum { return countDatum(e.CumSamples) }},
		{"class", func(e *report.Entry) datum { return textDatum(e.Class.String()) }},
		{"file", func(e *report.Entry) datum { return textDatum(e.File) }},
		{"inlined", func(e *report.Entry) datum { return textDatum(inlinedWord(e)) }},
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
