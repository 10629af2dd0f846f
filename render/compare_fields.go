package render

import (
	"math"
	"strings"

	"kitescope/profile/bench"
	"kitescope/words"
)

// comparisonFields are the keys of a metric.
func comparisonFields(c *bench.Comparison, lines []*bench.Line) []sheetField {
	field := func(name string, of func(l *bench.Line) datum) sheetField {
		return sheetField{name, func(i int) datum { return of(lines[i]) }}
	}
	ratio := func(name string, of func(l *bench.Line) float64) sheetField {
		return field(name, func(l *bench.Line) datum { return changeDatum(l, of(l)-1) })
	}
	chance := func(name string, of func(l *bench.Line) float64) sheetField {
		return field(name, func(l *bench.Line) datum {
			if l.Test == "" {
				return noDatum()
			}
			return finiteDatum(of(l))
		})
	}
	return []sheetField{
		field("of", func(l *bench.Line) datum { return textDatum(l.Of) }),
		field("metric", func(l *bench.Line) datum { return textDatum(l.Name) }),
		field("unit", func(l *bench.Line) datum { return textDatum(l.Unit) }),
		field("concurrency", func(l *bench.Line) datum { return positiveDatum(l.Concurrency) }),
		field("better", func(l *bench.Line) datum { return textDatum(directionWord(l.Better)) }),
		field("before", func(l *bench.Line) datum { return sideDatum(l.Before, l.A) }),
		field("after", func(l *bench.Line) datum { return sideDatum(l.After, l.B) }),
		ratio("change_percent", func(l *bench.Line) float64 { return l.Ratio }),
		ratio("change_percent_low", func(l *bench.Line) float64 { return l.Low }),
		ratio("change_percent_high", func(l *bench.Line) float64 { return l.High }),
		chance("p", func(l *bench.Line) float64 { return l.P }),
		chance("p_corrected", func(l *bench.Line) float64 { return l.Corrected }),
		field("test", func(l *bench.Line) datum { return textDatum(l.Test) }),
		field("runs_before", func(l *bench.Line) datum { return intDatum(int64(len(l.A))) }),
		field("runs_after", func(l *bench.Line) datum { return intDatum(int64(len(l.B))) }),
		field("paired", func(*bench.Line) datum { return boolDatum(c.Paired) }),
		field("verdict", func(l *bench.Line) datum { return textDatum(l.Verdict.String()) }),
		field("shown", func(l *bench.Line) datum { return boolDatum(ChangeShown(l.Verdict)) }),
		field("visible_percent", func(l *bench.Line) datum { return changeDatum(l, l.Visible) }),
		field("needs_runs", func(l *bench.Line) datum { return positiveDatum(l.Needs) }),
		field("remark", func(l *bench.Line) datum { return textDatum(l.Remark) }),
		field("same_as", func(l *bench.Line) datum { return textDatum(l.SameAs) }),
	}
}

// changeDatum is a share in percent, which does not exist where there is nothing to compare with.
func changeDatum(l *bench.Line, share float64) datum {
	if l.Verdict == bench.OneSide {
		return noDatum()
	}
	return finiteDatum(100 * share)
}

func positiveDatum(n int) datum {
	if n <= 0 {
		return noDatum()
	}
	return intDatum(int64(n))
}

// finiteDatum is a number with all digits, unknown where it is none that JSON could write.
func finiteDatum(f float64) datum {
	if math.IsInf(f, 0) {
		return unknownDatum(datumExact)
	}
	return exactDatum(f)
}

// sideDatum is a median, which does not exist where there are no values.
func sideDatum(x float64, values []float64) datum {
	if math.IsNaN(x) && len(values) == 0 {
		return noDatum()
	}
	return finiteDatum(x)
}

// writeLineValues tells the value of each run.
func writeLineValues(e encoder, l *bench.Line) {
	for _, x := range []struct {
		key    string
		values []float64
	}{{"values_before", l.A}, {"values_after", l.B}} {
		e.key(x.key)
		e.beginList()
		for _, v := range x.values {
			if math.IsNaN(v) || math.IsInf(v, 0) { // no number in JSON
				e.text(words.UnknownMark)
				continue
			}
			e.exact(v)
		}
		e.endList()
	}
}

func writeComparisonHead(e encoder, c *bench.Comparison) {
	for side, key := range []string{"before", "after"} {
		e.key(key)
		writeSide(e, c, []*bench.Set{c.A, c.B}[side], side)
	}
	writeDesign(e, c)
	e.key("verdicts")
	e.beginObject()
	for _, v := range comparisonVerdicts() {
		if n := countVerdict(c, v); n > 0 {
			e.key(strings.ReplaceAll(v.String(), " ", "_"))
			e.integer(int64(n))
		}
	}
	e.endObject()
	writeNames(e, "notes", c.Notes)
	if c.Control == nil {
		return
	}
	e.key("control")
	e.beginObject()
	for side, key := range []string{"before", "after"} {
		e.key(key)
		writeSide(e, c.Control, []*bench.Set{c.Control.A, c.Control.B}[side], side)
	}
	writeDesign(e, c.Control)
	_, quiet := ControlText(c)
	e.key("quiet")
	e.boolean(quiet)
	e.key("items")
	e.beginList()
	lines := groupedLines(c.Control)
	sheet := sheet{fields: comparisonFields(c.Control, lines)}
	for i := range lines {
		sheet.item(e, i, nil)
	}
	e.endList()
	e.endObject()
}

func writeDesign(e encoder, c *bench.Comparison) {
	e.key("paired")
	e.boolean(c.Paired)
	writeKnown(e, "level", c.Level, e.exact)
	writeKnown(e, "effect_percent", 100*c.Effect, e.exact)
}

func writeSide(e encoder, c *bench.Comparison, s *bench.Set, side int) {
	e.beginObject()
	defer e.endObject()
	if s == nil {
		return
	}
	for _, x := range [][2]string{{"name", s.Name}, {"format", s.Format}} {
		e.key(x[0])
		e.text(x[1])
	}
	for _, x := range []struct {
		key string
		n   int
	}{{"runs", len(s.Runs)}, {"failed", c.Failed[side]}, {"unmatched", c.Unmatched[side]}} {
		e.key(x.key)
		e.integer(int64(x.n))
	}
	failures := false
	for i := range s.Runs {
		r := &s.Runs[i]
		if r.Failed == "" {
			continue
		}
		if !failures {
			failures = true
			e.key("failures")
			e.beginList()
		}
		e.beginObject()
		e.key("run")
		e.text(r.Name)
		e.key("reason")
		e.text(r.Failed)
		e.endObject()
	}
	if failures {
		e.endList()
	}
	writeNames(e, "notes", s.Notes)
}
