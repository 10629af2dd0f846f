package clusters

import (
	"kitescope/inspect/check"
	"kitescope/internal/table"
	"kitescope/render"
)

// table returns the table of findings. The keys have the names of the JSON keys. Findings that are gone come last.
func (d *Diagnosis) table() *table.Rows[check.Change] {
	var rows []check.Change
	for _, f := range d.Report.Findings {
		if c := d.Since.ChangeOf(f); c != nil {
			rows = append(rows, *c)
		} else {
			rows = append(rows, check.Change{After: f})
		}
	}
	text := func(name string, of func(f *check.Finding) string) table.ColumnOf[check.Change] {
		return render.Key(name, table.Text, func(c check.Change) table.Cell {
			return table.Of(render.Harmless(of(c.Finding())))
		})
	}
	object := table.DisplayColumn("object", "OBJECT", 1, func(c check.Change) string {
		return ObjectText(c.Finding().Object)
	})
	object.AlignRight = false
	seen := func(c table.ColumnOf[check.Change], title string, priority int) table.ColumnOf[check.Change] {
		c.Title, c.Priority, c.Show = title, priority, table.Always
		return c
	}
	columns := []table.ColumnOf[check.Change]{
		render.Key("change", table.Text, func(c check.Change) table.Cell {
			if d.Since == nil {
				return table.OfNone()
			}
			return table.Of(c.Kind.String())
		}),
		seen(text("severity", func(f *check.Finding) string { return f.Severity.String() }), "SEVERITY", 0).
			WithRole(func(c check.Change) render.Role { return SeverityRole(c.Finding().Severity) }).WithVocabulary(),
		seen(text("check", func(f *check.Finding) string { return f.Check }), "CHECK", 0),
		text("resource", func(f *check.Finding) string { return f.Object.Resource }),
		text("id", func(f *check.Finding) string { return f.Object.ID }),
		text("name", func(f *check.Finding) string { return f.Object.Name }),
		seen(text("message", func(f *check.Finding) string { return f.Message }), "MESSAGE", 0),
		text("impact", func(f *check.Finding) string { return f.Impact }),
		text("hint", func(f *check.Finding) string { return f.Advice() }),
		render.Key("cost", table.Number, func(c check.Change) table.Cell {
			if f := c.Finding(); f.Cost > 0 {
				return table.OfFloat(f.Cost)
			}
			return table.OfNone()
		}),
		text("cause", func(f *check.Finding) string { return f.Cause }),
		object,
	}
	if d.Onsets != nil || d.Report.Cluster == nil { // they were computed, or the schema is needed
		columns = append(columns, d.onsetColumns()...)
	}
	return table.New(table.Schema{
		Name: "findings", Singular: "finding", Names: []string{"check"},
		Order: []string{"change", "severity", "check", "object", "cost", "message"},
	}, append(rows, d.gone()...), columns).SetNow(d.Report.Now)
}

// onsetColumns returns the keys of the onset of a finding.
func (d *Diagnosis) onsetColumns() []table.ColumnOf[check.Change] {
	return []table.ColumnOf[check.Change]{
		render.Key("began", table.Time, func(c check.Change) table.Cell {
			if o := d.onset(c.Finding()); o != nil && !o.Began.IsZero() {
				return table.OfTime(o.Began)
			}
			return table.OfUnknown()
		}),
		render.Key("before", table.Text, func(c check.Change) table.Cell {
			o := d.onset(c.Finding())
			if o == nil || len(o.Before) == 0 {
				return table.OfNone()
			}
			return table.Of(EventText(&o.Before[0], d.Report.Now))
		}),
	}
}
