package profiles

import (
	"io"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/profile/report"
	"kitescope/render"
)

// WritePeek writes callers and callees of what matched.
func WritePeek(w io.Writer, p *report.Peek, f render.Format, o render.ReportOptions) error {
	return newPeekSheet(p, &o).Write(w, f)
}

// PeekSchema is what can be asked of the entries that WritePeek writes.
func PeekSchema(o render.ReportOptions) *table.Schema {
	return peekTable(&report.Peek{}, new(scale), &o).Schema()
}

func newPeekSheet(p *report.Peek, o *render.ReportOptions) *render.Sheet {
	var unit scale
	asked := render.Ask(o, peekTable(p, &unit, o), nil)
	s := &render.Sheet{
		Kind: "ProfilePeek", Options: o, Head: headLines(&p.Header), Foot: asked.More(o),
		About: func(e *encode.Encoder) {
			writeProfileHead(e, &p.Header)
			writeBy(e, o)
		},
		Items:  asked.Items,
		Nested: func(e *encode.Encoder, i int) { writePeekEdges(e, &p.Focus[i]) },
	}
	var rows []peekRow
	for _, f := range asked.Rows {
		own := peekRows(f)
		rows = append(rows, own...)
		s.Parts = append(s.Parts, peekPart(p, f, own, o))
	}
	if len(o.Ask.Columns) > 0 || len(rows) == 0 && len(p.Focus) > 0 { // of the entries alone, without callers and callees
		unit = newScale(p.Type.Unit, p.Total, magnitudes(asked.Rows, func(f *report.PeekEntry) int64 { return f.Flat }, func(f *report.PeekEntry) int64 { return f.Cum }))
		s.Parts = []render.Part{asked.List("")}
	}
	s.Flat = render.ForScripts(len(rows), len(rows), peekFields(rows))
	return s
}

func peekTable(p *report.Peek, unit *scale, o *render.ReportOptions) *table.Rows[*report.PeekEntry] {
	return table.New(table.Schema{
		Name: "entries", Singular: "entry", Names: []string{"function"}, Sparse: true,
	}, render.Pointers(p.Focus), table.Through(entryKeys(&p.Header, unit, o), func(f *report.PeekEntry) *report.Entry { return &f.Entry }))
}

// peekRow is a line of the block of an entry: a caller, itself, or a callee.
type peekRow struct {
	focus    *report.PeekEntry
	relation string
	*report.Edge
}

// Relations of a row to its entry.
const (
	relationCaller = "caller"
	relationSelf   = "self"
	relationCallee = "callee"
)

// peekRows are the lines of an entry, in the order of pprof's block: callers, itself, callees.
func peekRows(f *report.PeekEntry) []peekRow {
	var rows []peekRow
	for i := range f.Callers {
		rows = append(rows, peekRow{f, relationCaller, &f.Callers[i]})
	}
	rows = append(rows, peekRow{f, relationSelf, &report.Edge{Function: f.Function, Value: f.Flat}})
	for i := range f.Callees {
		rows = append(rows, peekRow{f, relationCallee, &f.Callees[i]})
	}
	return rows
}

func peekPart(p *report.Peek, f *report.PeekEntry, rows []peekRow, o *render.ReportOptions) render.Part {
	s := newScale(p.Type.Unit, p.Total, func(yield func(int64) bool) {
		for i := range rows {
			if !yield(rows[i].Value) {
				return
			}
		}
	})
	head := render.Line{Role: render.RoleAccent, Text: entryName(&f.Entry), After: []render.Piece{{
		Role: render.RolePlain, Text: "  cum " + s.text(f.Cum) + " (" + PercentText(p.Percent(f.Cum)) + "), flat " + s.text(f.Flat) + " (" + PercentText(p.Percent(f.Flat)) + ")",
	}}}
	dimSelf := func(i int) render.Role {
		if rows[i].relation == relationSelf {
			return render.RoleAccent
		}
		return render.RolePlain
	}
	return render.Part{Head: []render.Line{head}, List: render.Places(len(rows), []table.ColumnOf[int]{
		{Shown: func(i int) string { return rows[i].label(i > 0 && rows[i-1].relation == rows[i].relation) }},
		{Column: table.Column{Title: "VALUE", Right: true}, Shown: func(i int) string { return s.text(rows[i].Value) }},
		{Column: table.Column{Title: "OF CUM", Right: true}, Shown: func(i int) string { return rows[i].ofCum() }},
		{Column: table.Column{Title: byTitle(o), Shorten: true}, Role: dimSelf, Shown: func(i int) string { return rows[i].name() }},
	})}
}

// label says what a row is, once for those that follow each other.
func (r *peekRow) label(again bool) string {
	switch {
	case again:
		return ""
	case r.relation == relationCaller:
		return "called by"
	case r.relation == relationCallee:
		return "calls"
	}
	return "itself"
}

func (r *peekRow) name() string {
	if r.Inlined {
		return r.Function + " (inline)"
	}
	return r.Function
}

func (r *peekRow) ofCum() string {
	if r.focus.Cum == 0 {
		return words.NoneMark
	}
	return PercentText(r.percent())
}

func (r *peekRow) percent() float64 { return 100 * float64(r.Value) / float64(r.focus.Cum) }

// percentCell has no value where there is nothing to be a part of.
func (r *peekRow) percentCell() table.Cell {
	if r.focus.Cum == 0 {
		return table.OfNone()
	}
	return table.OfFloat(r.percent())
}

// peekFields are the columns of CSV: an edge a line.
func peekFields(rows []peekRow) []table.ColumnOf[int] {
	return []table.ColumnOf[int]{
		render.Key("function", table.Text, func(i int) table.Cell { return table.Of(rows[i].focus.Function) }),
		render.Key("relation", table.Text, func(i int) table.Cell { return table.Of(rows[i].relation) }),
		render.Key("other", table.Text, func(i int) table.Cell { return table.Of(rows[i].Function) }),
		render.Key("value", table.Int, func(i int) table.Cell { return table.OfInt(rows[i].Value) }),
		render.Key("percent", table.Number, func(i int) table.Cell { return rows[i].percentCell() }),
		render.Key("inlined", table.Bool, func(i int) table.Cell { return table.OfBool(rows[i].Inlined) }),
	}
}

func writePeekEdges(e *encode.Encoder, f *report.PeekEntry) {
	for _, x := range []struct {
		key   string
		edges []report.Edge
	}{{"callers", f.Callers}, {"callees", f.Callees}} {
		e.Key(x.key)
		e.BeginList()
		for i := range x.edges {
			r := peekRow{focus: f, Edge: &x.edges[i]}
			e.BeginObject()
			e.Entry("function", r.Function)
			e.Entry("value", r.Value)
			if c := r.percentCell(); c.Absent == table.Present {
				e.Entry("percent", c.Float)
			}
			e.Entry("inlined", r.Inlined)
			e.EndObject()
		}
		e.EndList()
	}
}
