package render

import (
	"kitescope/inspect/check"
	"kitescope/table"
)

// grid are the findings as tables have them, named as in JSON; what is no longer found is last.
func (d *Diagnosis) grid() *table.Grid {
	var rows []check.Change
	for _, f := range d.Report.Findings {
		if c := d.Since.Of(f); c != nil {
			rows = append(rows, *c)
		} else {
			rows = append(rows, check.Change{After: f})
		}
	}
	text := func(name string, of func(f *check.Finding) string) table.ColumnOf[check.Change] {
		return Key(name, table.Text, func(c check.Change) table.Cell { return table.Of(Harmless(of(c.Finding()))) })
	}
	return table.All(table.New(table.Schema{Name: "findings", Singular: "finding", Names: []string{"check"}}, append(rows, d.gone()...), []table.ColumnOf[check.Change]{
		Key("change", table.Text, func(c check.Change) table.Cell {
			if d.Since == nil {
				return table.OfNone()
			}
			return table.Of(c.Kind.String())
		}),
		text("severity", func(f *check.Finding) string { return f.Severity.String() }),
		text("check", func(f *check.Finding) string { return f.Check }),
		text("resource", func(f *check.Finding) string { return f.Object.Resource }),
		text("id", func(f *check.Finding) string { return f.Object.ID }),
		text("name", func(f *check.Finding) string { return f.Object.Name }),
		text("message", func(f *check.Finding) string { return f.Message }),
		text("impact", func(f *check.Finding) string { return f.Impact }),
		text("hint", func(f *check.Finding) string { return string(f.Hint) }),
		Key("cost", table.Number, func(c check.Change) table.Cell {
			if f := c.Finding(); f.Cost > 0 {
				return table.OfFloat(f.Cost)
			}
			return table.OfNone()
		}),
		text("cause", func(f *check.Finding) string { return f.Cause }),
	}), table.Hidden)
}
