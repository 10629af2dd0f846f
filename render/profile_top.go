package render

import (
	"io"
	"slices"

	"kitescope/doc"
	"kitescope/profile/report"
	"kitescope/table"
)

// WriteProfileTop writes where the time goes.
func WriteProfileTop(w io.Writer, t *report.Top, f ReportFormat, o ReportOptions) error {
	s, err := newTopSheet(t, &o)
	if err != nil {
		return err
	}
	return s.write(w, f)
}

// ProfileTopSchema is what can be asked of the entries that WriteProfileTop writes.
func ProfileTopSchema(o ReportOptions) *table.Schema {
	return topTable(&report.Top{}, new(scale), &o).Schema()
}

func newTopSheet(t *report.Top, o *ReportOptions) (*sheet, error) {
	var unit scale
	items, list, err := o.chosen(topTable(t, &unit, o))
	if err != nil {
		return nil, err
	}
	shown := make([]report.Entry, items.Len())
	for i := range shown {
		shown[i] = t.Entries[items.Row(i)]
	}
	unit = newScale(t.Type.Unit, t.Total, magnitudes(shown, flatOf, cumOf))
	part := sheetPart{list: list}
	switch {
	case len(t.Entries) == 0:
		part = sheetPart{head: []sheetLine{{text: "no samples"}}}
	case len(shown) == 0:
		part = sheetPart{head: []sheetLine{{text: "no entry is as asked for"}}}
	}
	return &sheet{
		kind: "ProfileTop", o: o,
		head:  headLines(&t.Header),
		parts: []sheetPart{part},
		foot:  o.rest(items.Matched - items.Len()),
		about: func(e *doc.Encoder) {
			writeProfileHead(e, &t.Header)
			writeBy(e, o)
		},
		items: items,
	}, nil
}

// topTable are the entries. Values are written in a unit that is known once it is known which of them are shown.
func topTable(t *report.Top, unit *scale, o *ReportOptions) *table.Rows[int] {
	sums := make([]int64, len(t.Entries)) // as pprof prints them: of what stands above, whether it is shown or not
	var sum int64
	for i := range t.Entries {
		sum += t.Entries[i].Flat
		sums[i] = sum
	}
	columns := placed(entryKeys(&t.Header), func(i int) *report.Entry { return &t.Entries[i] })
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
	title("flat_samples", "SAMPLES", 0, table.Wide, func(e *report.Entry) string { return countText(e.FlatSamples) })
	title("cum_samples", "CUM SAMPLES", 0, table.Wide, func(e *report.Entry) string { return countText(e.CumSamples) })
	title("class", "CLASS", 0, table.Wide, func(e *report.Entry) string { return e.Class.String() })
	title("function", byTitle(o), 0, table.Always, entryName)
	title("file", "FILE", 0, table.Wide, func(e *report.Entry) string { return orUnknown(e.File) })
	title("inlined", "INLINED", 0, table.Hidden, inlinedWord)
	columns = append(columns, table.ColumnOf[int]{
		Column: table.Column{Name: "sum_percent", Title: "SUM%", Kind: table.Number, Priority: 2, For: table.People},
		Cell:   func(i int) table.Cell { return table.OfFloat(t.Percent(sums[i])) },
		Shown:  func(i int) string { return PercentText(t.Percent(sums[i])) },
	})
	return table.New(table.Schema{
		Name: "entries", Singular: "entry", Names: []string{"function"}, Sparse: true,
		Order: []string{"flat", "flat_percent", "sum_percent", "cum", "cum_percent", "flat_samples", "cum_samples", "class", "function", "file"},
	}, positions(len(t.Entries)), columns)
}

func flatOf(e *report.Entry) int64 { return e.Flat }
func cumOf(e *report.Entry) int64  { return e.Cum }

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
