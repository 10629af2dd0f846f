package profiles

import (
	"io"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/profile/report"
	"kitescope/render"
)

// WriteTop writes the entries with the largest values.
func WriteTop(w io.Writer, t *report.Top, f render.Format, o render.ReportOptions) error {
	return newTopSheet(t, &o).Write(w, f)
}

// TopSchema returns the schema of the entries that WriteTop writes.
func TopSchema(o render.ReportOptions) *table.Schema {
	return topTable(&report.Top{}, new(scale), &o).Schema()
}

func newTopSheet(t *report.Top, o *render.ReportOptions) *render.Sheet {
	var unit scale
	asked := render.Select(o, topTable(t, &unit, o), nil)
	unit = newScale(t.Type.Unit, t.Total, magnitudes(asked.Rows, flatOf, cumOf))
	return &render.Sheet{
		Kind: "ProfileTop", Options: o,
		Head:  headLines(&t.Header),
		Parts: []render.Part{asked.List("no samples")},
		Foot:  asked.More(o),
		About: func(e *encode.Encoder) {
			writeProfileHead(e, &t.Header)
			writeBy(e, o)
		},
		Items: asked.Items,
	}
}

// topTable returns the table of entries. The caller sets the unit after selecting the rows to show.
func topTable(t *report.Top, unit *scale, o *render.ReportOptions) *table.Rows[*report.Entry] {
	// cumulative as in pprof, including entries that are not shown
	sums := make(map[*report.Entry]int64, len(t.Entries))
	var sum int64
	rows := render.Pointers(t.Entries)
	for _, e := range rows {
		sum += e.Flat
		sums[e] = sum
	}
	return table.New(table.Schema{
		Name: "entries", Singular: "entry", Names: []string{"function"}, Sparse: true,
		Order: []string{
			"flat", "flat_percent", "sum_percent", "cum", "cum_percent", "flat_samples", "cum_samples", "class",
			"function", "file",
		},
	}, rows, append(entryKeys(&t.Header, unit, o), table.ColumnOf[*report.Entry]{
		Column: table.Column{Name: "sum_percent", Title: "SUM%", Kind: table.Number, Priority: 2, For: table.People},
		Cell:   func(e *report.Entry) table.Cell { return table.OfFloat(t.Percent(sums[e])) },
		Shown:  func(e *report.Entry) string { return words.Percent(t.Percent(sums[e])) },
	}))
}

func flatOf(e *report.Entry) int64 { return e.Flat }
func cumOf(e *report.Entry) int64  { return e.Cum }

// entryKeys returns the columns of an entry. Values for scripts are in the unit of the samples.
func entryKeys(h *report.Header, unit *scale, o *render.ReportOptions) []table.ColumnOf[*report.Entry] {
	type entry = *report.Entry
	function := render.TextKey("function", func(e entry) string { return e.Function }).WithTitle(byTitle(o), 0,
		func(e entry) string { return render.OrUnknown(e.Function) })
	function.Shorten = true
	percent := func(of func(entry) int64) (func(entry) table.Cell, func(entry) string) {
		return func(e entry) table.Cell { return table.OfFloat(h.Percent(of(e))) },
			func(e entry) string { return words.Percent(h.Percent(of(e))) }
	}
	flat, flatText := percent(flatOf)
	cum, cumText := percent(cumOf)
	return []table.ColumnOf[entry]{
		function,
		render.Key("flat", table.Int, func(e entry) table.Cell { return table.OfInt(e.Flat) }).WithTitle("FLAT", 3,
			func(e entry) string { return unit.text(e.Flat) }),
		render.Key("cum", table.Int, func(e entry) table.Cell { return table.OfInt(e.Cum) }).WithTitle("CUM", 1,
			func(e entry) string { return unit.text(e.Cum) }),
		render.Key("flat_percent", table.Number, flat).WithTitle("FLAT%", 0, flatText),
		render.Key("cum_percent", table.Number, cum).WithTitle("CUM%", 0, cumText),
		render.Key("flat_samples", table.Int, func(e entry) table.Cell {
			return table.OfCount(e.FlatSamples)
		}).WithTitle("SAMPLES", 0, func(e entry) string { return render.EventCount(e.FlatSamples) }).WideOnly(),
		render.Key("cum_samples", table.Int, func(e entry) table.Cell { return table.OfCount(e.CumSamples) }).
			WithTitle("CUM SAMPLES", 0, func(e entry) string { return render.EventCount(e.CumSamples) }).WideOnly(),
		render.TextKey("class", func(e entry) string { return e.Class.String() }).WithTitle("CLASS", 0,
			func(e entry) string { return e.Class.String() }).WideOnly().WithVocabulary(),
		render.TextKey("file", func(e entry) string { return e.File }).WithTitle("FILE", 0, func(e entry) string {
			return render.OrUnknown(e.File)
		}).WideOnly(),
	}
}
