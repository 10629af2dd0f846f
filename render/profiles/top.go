package profiles

import (
	"io"
	"slices"

	"kitescope/doc"
	"kitescope/profile/report"
	"kitescope/render"
	"kitescope/table"
)

// WriteTop writes where the time goes.
func WriteTop(w io.Writer, t *report.Top, f render.Format, o render.ReportOptions) error {
	s, err := newTopSheet(t, &o)
	if err != nil {
		return err
	}
	return s.Write(w, f)
}

// TopSchema is what can be asked of the entries that WriteTop writes.
func TopSchema(o render.ReportOptions) *table.Schema {
	return topTable(&report.Top{}, new(scale), &o).Schema()
}

func newTopSheet(t *report.Top, o *render.ReportOptions) (*render.Sheet, error) {
	var unit scale
	items, list, err := o.Chosen(topTable(t, &unit, o))
	if err != nil {
		return nil, err
	}
	shown := make([]report.Entry, items.Len())
	for i := range shown {
		shown[i] = t.Entries[items.Row(i)]
	}
	unit = newScale(t.Type.Unit, t.Total, magnitudes(shown, flatOf, cumOf))
	part := render.Part{List: list}
	switch {
	case len(t.Entries) == 0:
		part = render.Part{Head: []render.Line{{Text: "no samples"}}}
	case len(shown) == 0:
		part = render.Part{Head: []render.Line{{Text: "no entry is as asked for"}}}
	}
	return &render.Sheet{
		Kind: "ProfileTop", Options: o,
		Head:  headLines(&t.Header),
		Parts: []render.Part{part},
		Foot:  o.Rest(items.Matched - items.Len()),
		About: func(e *doc.Encoder) {
			writeProfileHead(e, &t.Header)
			writeBy(e, o)
		},
		Items: items,
	}, nil
}

// topTable are the entries. Values are written in a unit that is known once it is known which of them are shown.
func topTable(t *report.Top, unit *scale, o *render.ReportOptions) *table.Rows[int] {
	sums := make([]int64, len(t.Entries)) // as pprof prints them: of what stands above, whether it is shown or not
	var sum int64
	for i := range t.Entries {
		sum += t.Entries[i].Flat
		sums[i] = sum
	}
	columns := render.Placed(entryKeys(&t.Header), func(i int) *report.Entry { return &t.Entries[i] })
	title := func(name, title string, priority int, show table.Show, text func(e *report.Entry) string) {
		i := slices.IndexFunc(columns, func(c table.ColumnOf[int]) bool { return c.Name == name })
		c := &columns[i]
		c.Title, c.Priority, c.Show, c.Shown = title, priority, show, func(row int) string { return text(&t.Entries[row]) }
		c.Shorten, c.Vocabulary = name == "function", name == "class" || name == "inlined"
	}
	title("flat", "FLAT", 3, table.Always, func(e *report.Entry) string { return unit.text(e.Flat) })
	title("flat_percent", "FLAT%", 0, table.Always, func(e *report.Entry) string { return PercentText(t.Percent(e.Flat)) })
	title("cum", "CUM", 1, table.Always, func(e *report.Entry) string { return unit.text(e.Cum) })
	title("cum_percent", "CUM%", 0, table.Always, func(e *report.Entry) string { return PercentText(t.Percent(e.Cum)) })
	title("flat_samples", "SAMPLES", 0, table.Wide, func(e *report.Entry) string { return render.EventCount(e.FlatSamples) })
	title("cum_samples", "CUM SAMPLES", 0, table.Wide, func(e *report.Entry) string { return render.EventCount(e.CumSamples) })
	title("class", "CLASS", 0, table.Wide, func(e *report.Entry) string { return e.Class.String() })
	title("function", byTitle(o), 0, table.Always, entryName)
	title("file", "FILE", 0, table.Wide, func(e *report.Entry) string { return render.OrUnknown(e.File) })
	title("inlined", "INLINED", 0, table.Hidden, inlinedWord)
	columns = append(columns, table.ColumnOf[int]{
		Column: table.Column{Name: "sum_percent", Title: "SUM%", Kind: table.Number, Priority: 2, For: table.People},
		Cell:   func(i int) table.Cell { return table.OfFloat(t.Percent(sums[i])) },
		Shown:  func(i int) string { return PercentText(t.Percent(sums[i])) },
	})
	return table.New(table.Schema{
		Name: "entries", Singular: "entry", Names: []string{"function"}, Sparse: true,
		Order: []string{"flat", "flat_percent", "sum_percent", "cum", "cum_percent", "flat_samples", "cum_samples", "class", "function", "file"},
	}, render.Positions(len(t.Entries)), columns)
}

func flatOf(e *report.Entry) int64 { return e.Flat }
func cumOf(e *report.Entry) int64  { return e.Cum }

// entryKeys are the keys of an entry. Values are in the unit of the samples.
func entryKeys(h *report.Header) []table.ColumnOf[*report.Entry] {
	return []table.ColumnOf[*report.Entry]{
		render.Key("function", table.Text, func(e *report.Entry) table.Cell { return table.Of(e.Function) }),
		render.Key("flat", table.Int, func(e *report.Entry) table.Cell { return table.OfInt(e.Flat) }),
		render.Key("cum", table.Int, func(e *report.Entry) table.Cell { return table.OfInt(e.Cum) }),
		render.Key("flat_percent", table.Number, func(e *report.Entry) table.Cell { return table.OfFloat(h.Percent(e.Flat)) }),
		render.Key("cum_percent", table.Number, func(e *report.Entry) table.Cell { return table.OfFloat(h.Percent(e.Cum)) }),
		render.Key("flat_samples", table.Int, func(e *report.Entry) table.Cell { return table.OfCount(e.FlatSamples) }),
		render.Key("cum_samples", table.Int, func(e *report.Entry) table.Cell { return table.OfCount(e.CumSamples) }),
		render.Key("class", table.Text, func(e *report.Entry) table.Cell { return table.Of(e.Class.String()) }),
		render.Key("file", table.Text, func(e *report.Entry) table.Cell { return table.Of(e.File) }),
		render.Key("inlined", table.Text, func(e *report.Entry) table.Cell { return table.Of(inlinedWord(e)) }),
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
