package render

import (
	"io"
	"strconv"

	"kitescope/doc"
	"kitescope/engine/index"
	"kitescope/engine/target"
	"kitescope/table"
	"kitescope/words"
)

// WriteEngineVerification writes whether an index is sound and holds its vectors.
func WriteEngineVerification(w io.Writer, v *target.Verification, format ReportFormat, o ReportOptions) error {
	return newEngineVerifySheet(v, &o).write(w, format)
}

// outcomeRole is how an outcome looks.
func outcomeRole(o target.Outcome) Role {
	switch o {
	case target.Passed:
		return RoleGood
	case target.Failed:
		return RoleBad
	default:
		return RoleDim
	}
}

func newEngineVerifySheet(v *target.Verification, o *ReportOptions) *sheet {
	failed := 0
	for _, c := range v.Checks {
		failed += b2i(c.Outcome == target.Failed)
	}
	role, verdict := RoleGood, "sound: it holds these vectors"
	if failed > 0 {
		role, verdict = RoleBad, words.Plural(failed, "check")+" failed"
	}
	check := func(i int) *target.Check { return &v.Checks[i] }
	return &sheet{
		kind: "EngineVerification", o: o,
		head: []sheetLine{
			{text: targetLine(v.Target)},
			{role: role, text: Glyph(role, o.ASCII) + " " + verdict},
		},
		about: func(e *doc.Encoder) {
			writeTarget(e, v.Target)
			e.Entry("ok", v.OK())
			writeRecall(e, v.Recall)
		},
		items: forScripts(len(v.Checks), len(v.Checks), []table.ColumnOf[int]{
			key("check", table.Text, func(i int) table.Cell { return table.Of(check(i).Name) }),
			key("outcome", table.Text, func(i int) table.Cell { return table.Of(check(i).Outcome.String()) }),
			key("detail", table.Text, func(i int) table.Cell { return table.Of(check(i).Detail) }),
		}),
		parts: []sheetPart{{list: places(len(v.Checks), []table.ColumnOf[int]{
			{Column: table.Column{Title: "CHECK"}, Shown: func(i int) string { return check(i).Name }},
			{Column: table.Column{Title: "OUTCOME"}, Shown: func(i int) string {
				r := outcomeRole(check(i).Outcome)
				return Glyph(r, o.ASCII) + " " + check(i).Outcome.String()
			}, Role: func(i int) Role { return outcomeRole(check(i).Outcome) }},
			{Column: table.Column{Title: "DETAIL", Shorten: true}, Shown: func(i int) string { return Harmless(check(i).Detail) }},
		})}},
	}
}

// WriteEngineInfo writes what is in an index file.
func WriteEngineInfo(w io.Writer, d *target.Description, format ReportFormat, o ReportOptions) error {
	return newEngineInfoSheet(d, &o).write(w, format)
}

func newEngineInfoSheet(d *target.Description, o *ReportOptions) *sheet {
	facts := d.Facts
	s := &sheet{
		kind: "EngineInfo", o: o, head: []sheetLine{{text: targetLine(d.Target)}},
		about: func(e *doc.Encoder) { writeEngineDescription(e, d) },
		items: forScripts(len(d.Levels), len(d.Levels), []table.ColumnOf[int]{
			key("level", table.Int, func(i int) table.Cell { return table.OfInt(int64(d.Levels[i].Level)) }),
			key("nodes", table.Int, func(i int) table.Cell { return table.OfInt(int64(d.Levels[i].Nodes)) }),
			key("degree_min", table.Int, func(i int) table.Cell { return table.OfInt(int64(d.Levels[i].Min)) }),
			key("degree_p50", table.Int, func(i int) table.Cell { return table.OfInt(int64(d.Levels[i].Median)) }),
			key("degree_mean", table.Number, func(i int) table.Cell { return table.OfFloat(d.Levels[i].Mean) }),
			key("degree_max", table.Int, func(i int) table.Cell { return table.OfInt(int64(d.Levels[i].Max)) }),
		}),
		parts: []sheetPart{{list: places(len(facts), []table.ColumnOf[int]{
			{Column: table.Column{Title: "FACT"}, Shown: func(i int) string { return facts[i].Name }},
			{Column: table.Column{Title: "VALUE", Shorten: true}, Shown: func(i int) string { return Harmless(facts[i].Text) }, Role: func(i int) Role {
				if facts[i].Odd {
					return RoleWarn
				}
				return RolePlain
			}},
		})}},
	}
	level := func(title string, text func(l *index.Level) string) table.ColumnOf[int] {
		return table.ColumnOf[int]{Column: table.Column{Title: title, Right: true}, Shown: func(i int) string { return text(&d.Levels[i]) }}
	}
	if len(d.Levels) > 0 {
		s.parts = append(s.parts, sheetPart{list: places(len(d.Levels), []table.ColumnOf[int]{
			level("LEVEL", func(l *index.Level) string { return strconv.Itoa(l.Level) }),
			level("NODES", func(l *index.Level) string { return words.Number(int64(l.Nodes)) }),
			level("LINKS MIN", func(l *index.Level) string { return strconv.Itoa(l.Min) }),
			level("P50", func(l *index.Level) string { return strconv.Itoa(l.Median) }),
			level("MEAN", func(l *index.Level) string { return strconv.FormatFloat(l.Mean, 'f', 1, 64) }),
			level("MAX", func(l *index.Level) string { return strconv.Itoa(l.Max) }),
		})})
	}
	if len(d.Parts) > 0 {
		s.parts = append(s.parts, sheetPart{list: places(len(d.Parts), []table.ColumnOf[int]{
			{Column: table.Column{Title: "PART"}, Shown: func(i int) string { return d.Parts[i].Name }},
			{Column: table.Column{Title: "BYTES", Right: true}, Shown: func(i int) string { return words.Bytes(int64(d.Parts[i].Bytes)) }},
			{Column: table.Column{Title: "SHARE", Right: true}, Shown: func(i int) string {
				return words.Share(float64(d.Parts[i].Bytes) / float64(max(1, d.Target.File.Bytes)))
			}},
		})})
	}
	return s
}

func writeEngineDescription(e *doc.Encoder, d *target.Description) {
	writeTarget(e, d.Target)
	e.Entry("bytes", d.Target.File.Bytes)
	e.NonZero("codes", d.Target.File.Codes)
	for _, f := range d.Facts {
		if f.Key == "" {
			continue
		}
		e.Key(f.Key)
		if f.Whole {
			e.Int(int64(f.Number))
		} else {
			e.Exact(f.Number)
		}
	}
	e.Key("parts")
	e.BeginList()
	for _, p := range d.Parts {
		e.BeginObject()
		e.Entry("name", p.Name)
		e.Entry("bytes", p.Bytes)
		e.EndObject()
	}
	e.EndList()
}

// WriteEngineLog writes what is in a log of Milvus's storage: an item for each fact.
func WriteEngineLog(w io.Writer, l *target.Log, format ReportFormat, o ReportOptions) error {
	s := &sheet{
		kind: "EngineLog", o: &o, head: []sheetLine{{text: Harmless(l.Name)}},
		about: func(e *doc.Encoder) {
			e.Entry("file", l.Name)
			e.Entry("type", l.Kind.String())
			e.Entry("bytes", l.Bytes)
			for _, f := range l.Facts {
				if f.Key != "" {
					e.Entry(f.Key, f.Number)
				}
			}
		},
		items: forScripts(len(l.Facts), len(l.Facts), []table.ColumnOf[int]{
			key("fact", table.Text, func(i int) table.Cell { return table.Of(l.Facts[i].Name) }),
			key("value", table.Text, func(i int) table.Cell { return table.Of(l.Facts[i].Text) }),
		}),
		parts: []sheetPart{{list: places(len(l.Facts), []table.ColumnOf[int]{
			{Column: table.Column{Title: "FACT"}, Shown: func(i int) string { return Harmless(l.Facts[i].Name) }},
			{Column: table.Column{Title: "VALUE", Shorten: true}, Shown: func(i int) string { return Harmless(l.Facts[i].Text) }, Role: func(i int) Role {
				if l.Facts[i].Odd {
					return RoleWarn
				}
				return RolePlain
			}},
		})}},
	}
	return s.write(w, format)
}
