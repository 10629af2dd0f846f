package builds

import (
	"math"
	"strings"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/profile/bench"
	"kitescope/render"
)

// comparisonFields are the keys of a metric.
func comparisonFields(c *bench.Comparison) []table.ColumnOf[*bench.Line] {
	field := render.Key[*bench.Line]
	ratio := func(name string, of func(l *bench.Line) float64) table.ColumnOf[*bench.Line] {
		return field(name, table.Exact, func(l *bench.Line) table.Cell { return changeCell(l, of(l)-1) })
	}
	chance := func(name string, of func(l *bench.Line) float64) table.ColumnOf[*bench.Line] {
		return field(name, table.Exact, func(l *bench.Line) table.Cell {
			if l.Test == "" {
				return table.OfNone()
			}
			return render.FiniteCell(of(l))
		})
	}
	return []table.ColumnOf[*bench.Line]{
		field("of", table.Text, func(l *bench.Line) table.Cell { return table.Of(l.Of) }),
		field("metric", table.Text, func(l *bench.Line) table.Cell { return table.Of(l.Name) }),
		field("unit", table.Text, func(l *bench.Line) table.Cell { return table.Of(l.Unit) }),
		field("concurrency", table.Int, func(l *bench.Line) table.Cell { return render.PositiveCell(l.Concurrency) }),
		field("better", table.Text, func(l *bench.Line) table.Cell { return table.Of(directionWord(l.Better)) }),
		field("before", table.Exact, func(l *bench.Line) table.Cell { return sideCell(l.Before, l.A) }),
		field("after", table.Exact, func(l *bench.Line) table.Cell { return sideCell(l.After, l.B) }),
		ratio("change_percent", func(l *bench.Line) float64 { return l.Ratio }),
		ratio("change_percent_low", func(l *bench.Line) float64 { return l.Low }),
		ratio("change_percent_high", func(l *bench.Line) float64 { return l.High }),
		chance("p", func(l *bench.Line) float64 { return l.P }),
		chance("p_corrected", func(l *bench.Line) float64 { return l.Corrected }),
		field("test", table.Text, func(l *bench.Line) table.Cell { return table.Of(l.Test) }),
		field("runs_before", table.Int, func(l *bench.Line) table.Cell { return table.OfInt(int64(len(l.A))) }),
		field("runs_after", table.Int, func(l *bench.Line) table.Cell { return table.OfInt(int64(len(l.B))) }),
		field("paired", table.Bool, func(*bench.Line) table.Cell { return table.OfBool(c.Paired) }),
		field("verdict", table.Text, func(l *bench.Line) table.Cell { return table.Of(l.Verdict.String()) }),
		field("shown", table.Bool, func(l *bench.Line) table.Cell { return table.OfBool(ChangeShown(l.Verdict)) }),
		field("visible_percent", table.Exact, func(l *bench.Line) table.Cell { return changeCell(l, l.Visible) }),
		field("needs_runs", table.Int, func(l *bench.Line) table.Cell { return render.PositiveCell(l.Needs) }),
		field("remark", table.Text, func(l *bench.Line) table.Cell { return table.Of(l.Remark) }),
		field("same_as", table.Text, func(l *bench.Line) table.Cell { return table.Of(l.SameAs) }),
	}
}

// changeCell is a share in percent, which does not exist where there is nothing to compare with.
func changeCell(l *bench.Line, share float64) table.Cell {
	if l.Verdict == bench.OneSide {
		return table.OfNone()
	}
	return render.FiniteCell(100 * share)
}

// sideCell is a median, which does not exist where there are no values.
func sideCell(x float64, values []float64) table.Cell {
	if math.IsNaN(x) && len(values) == 0 {
		return table.OfNone()
	}
	return render.FiniteCell(x)
}

// writeLineValues tells the value of each run.
func writeLineValues(e *encode.Encoder, l *bench.Line) {
	for _, x := range []struct {
		key    string
		values []float64
	}{{"values_before", l.A}, {"values_after", l.B}} {
		e.Key(x.key)
		e.BeginList()
		for _, v := range x.values {
			if math.IsNaN(v) || math.IsInf(v, 0) { // no number in JSON
				e.Text(words.UnknownMark)
				continue
			}
			e.Exact(v)
		}
		e.EndList()
	}
}

func writeComparisonHead(e *encode.Encoder, c *bench.Comparison) {
	for side, key := range []string{"before", "after"} {
		e.Key(key)
		writeSide(e, c, []*bench.Set{c.A, c.B}[side], side)
	}
	writeDesign(e, c)
	e.Key("verdicts")
	e.BeginObject()
	for _, v := range comparisonVerdicts() {
		if n := countVerdict(c, v); n > 0 {
			e.Entry(strings.ReplaceAll(v.String(), " ", "_"), n)
		}
	}
	e.EndObject()
	e.NonZero("notes", c.Notes)
	if c.Control == nil {
		return
	}
	e.Key("control")
	e.BeginObject()
	for side, key := range []string{"before", "after"} {
		e.Key(key)
		writeSide(e, c.Control, []*bench.Set{c.Control.A, c.Control.B}[side], side)
	}
	writeDesign(e, c.Control)
	_, quiet := ControlText(c)
	e.Entry("quiet", quiet)
	e.Key("items")
	e.BeginList()
	lines := groupedLines(c.Control)
	it := render.NewItems(table.All(table.New(table.Schema{Sparse: true}, lines, comparisonFields(c.Control)), table.Hidden))
	for i := range lines {
		it.Write(e, i)
	}
	e.EndList()
	e.EndObject()
}

func writeDesign(e *encode.Encoder, c *bench.Comparison) {
	e.Entry("paired", c.Paired)
	e.Entry("level", encode.Exact(c.Level))
	e.Entry("effect_percent", encode.Exact(100*c.Effect))
}

func writeSide(e *encode.Encoder, c *bench.Comparison, s *bench.Set, side int) {
	e.BeginObject()
	defer e.EndObject()
	if s == nil {
		return
	}
	e.Entry("name", s.Name)
	e.Entry("format", s.Format)
	e.Entry("runs", len(s.Runs))
	e.Entry("failed", c.Failed[side])
	e.Entry("unmatched", c.Unmatched[side])
	failures := false
	for i := range s.Runs {
		r := &s.Runs[i]
		if r.Failed == "" {
			continue
		}
		if !failures {
			failures = true
			e.Key("failures")
			e.BeginList()
		}
		e.BeginObject()
		e.Entry("run", r.Name)
		e.Entry("reason", r.Failed)
		e.EndObject()
	}
	if failures {
		e.EndList()
	}
	e.NonZero("notes", s.Notes)
}
