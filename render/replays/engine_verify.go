package replays

import (
	"io"
	"strconv"

	"kitescope/doc"
	"kitescope/engine/index"
	"kitescope/engine/target"
	"kitescope/render"
	"kitescope/table"
	"kitescope/words"
)

// WriteVerification writes whether an index is sound and holds its vectors.
func WriteVerification(w io.Writer, v *target.Verification, format render.Format, o render.ReportOptions) error {
	return newEngineVerifySheet(v, &o).Write(w, format)
}

// outcomeRole is how an outcome looks.
func outcomeRole(o target.Outcome) render.Role {
	switch o {
	case target.Passed:
		return render.RoleGood
	case target.Failed:
		return render.RoleBad
	default:
		return render.RoleDim
	}
}

func newEngineVerifySheet(v *target.Verification, o *render.ReportOptions) *render.Sheet {
	failed := 0
	for _, c := range v.Checks {
		failed += render.BoolInt(c.Outcome == target.Failed)
	}
	role, verdict := render.RoleGood, "sound: it holds these vectors"
	if failed > 0 {
		role, verdict = render.RoleBad, words.Plural(failed, "check")+" failed"
	}
	check := func(i int) *target.Check { return &v.Checks[i] }
	return &render.Sheet{
		Kind: "EngineVerification", Options: o,
		Head: []render.Line{
			{Text: targetLine(v.Target)},
			{Role: role, Text: render.Glyph(role, o.ASCII) + " " + verdict},
		},
		About: func(e *doc.Encoder) {
			writeTarget(e, v.Target)
			e.Entry("ok", v.OK())
			writeRecall(e, v.Recall)
		},
		Items: render.ForScripts(len(v.Checks), len(v.Checks), []table.ColumnOf[int]{
			render.Key("check", table.Text, func(i int) table.Cell { return table.Of(check(i).Name) }),
			render.Key("outcome", table.Text, func(i int) table.Cell { return table.Of(check(i).Outcome.String()) }),
			render.Key("detail", table.Text, func(i int) table.Cell { return table.Of(check(i).Detail) }),
		}),
		Parts: []render.Part{{List: render.Places(len(v.Checks), []table.ColumnOf[int]{
			{Column: table.Column{Title: "CHECK"}, Shown: func(i int) string { return check(i).Name }},
			{Column: table.Column{Title: "OUTCOME"}, Shown: func(i int) string {
				r := outcomeRole(check(i).Outcome)
				return render.Glyph(r, o.ASCII) + " " + check(i).Outcome.String()
			}, Role: func(i int) render.Role { return outcomeRole(check(i).Outcome) }},
			{Column: table.Column{Title: "DETAIL", Shorten: true}, Shown: func(i int) string { return render.Harmless(check(i).Detail) }},
		})}},
	}
}

// WriteInfo writes what is in an index file.
func WriteInfo(w io.Writer, d *target.Description, format render.Format, o render.ReportOptions) error {
	return newEngineInfoSheet(d, &o).Write(w, format)
}

func newEngineInfoSheet(d *target.Description, o *render.ReportOptions) *render.Sheet {
	facts := d.Facts
	s := &render.Sheet{
		Kind: "EngineInfo", Options: o, Head: []render.Line{{Text: targetLine(d.Target)}},
		About: func(e *doc.Encoder) { writeEngineDescription(e, d) },
		Items: render.ForScripts(len(d.Levels), len(d.Levels), []table.ColumnOf[int]{
			render.Key("level", table.Int, func(i int) table.Cell { return table.OfInt(int64(d.Levels[i].Level)) }),
			render.Key("nodes", table.Int, func(i int) table.Cell { return table.OfInt(int64(d.Levels[i].Nodes)) }),
			render.Key("degree_min", table.Int, func(i int) table.Cell { return table.OfInt(int64(d.Levels[i].Min)) }),
			render.Key("degree_p50", table.Int, func(i int) table.Cell { return table.OfInt(int64(d.Levels[i].Median)) }),
			render.Key("degree_mean", table.Number, func(i int) table.Cell { return table.OfFloat(d.Levels[i].Mean) }),
			render.Key("degree_max", table.Int, func(i int) table.Cell { return table.OfInt(int64(d.Levels[i].Max)) }),
		}),
		Parts: []render.Part{{List: render.Places(len(facts), []table.ColumnOf[int]{
			{Column: table.Column{Title: "FACT"}, Shown: func(i int) string { return facts[i].Name }},
			{Column: table.Column{Title: "VALUE", Shorten: true}, Shown: func(i int) string { return render.Harmless(facts[i].Text) }, Role: func(i int) render.Role {
				if facts[i].Odd {
					return render.RoleWarn
				}
				return render.RolePlain
			}},
		})}},
	}
	level := func(title string, text func(l *index.Level) string) table.ColumnOf[int] {
		return table.ColumnOf[int]{Column: table.Column{Title: title, Right: true}, Shown: func(i int) string { return text(&d.Levels[i]) }}
	}
	if len(d.Levels) > 0 {
		s.Parts = append(s.Parts, render.Part{List: render.Places(len(d.Levels), []table.ColumnOf[int]{
			level("LEVEL", func(l *index.Level) string { return strconv.Itoa(l.Level) }),
			level("NODES", func(l *index.Level) string { return words.Number(int64(l.Nodes)) }),
			level("LINKS MIN", func(l *index.Level) string { return strconv.Itoa(l.Min) }),
			level("P50", func(l *index.Level) string { return strconv.Itoa(l.Median) }),
			level("MEAN", func(l *index.Level) string { return strconv.FormatFloat(l.Mean, 'f', 1, 64) }),
			level("MAX", func(l *index.Level) string { return strconv.Itoa(l.Max) }),
		})})
	}
	if len(d.Parts) > 0 {
		s.Parts = append(s.Parts, render.Part{List: render.Places(len(d.Parts), []table.ColumnOf[int]{
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

// WriteLog writes what is in a log of Milvus's storage: an item for each fact.
func WriteLog(w io.Writer, l *target.Log, format render.Format, o render.ReportOptions) error {
	s := &render.Sheet{
		Kind: "EngineLog", Options: &o, Head: []render.Line{{Text: render.Harmless(l.Name)}},
		About: func(e *doc.Encoder) {
			e.Entry("file", l.Name)
			e.Entry("type", l.Kind.String())
			e.Entry("bytes", l.Bytes)
			for _, f := range l.Facts {
				if f.Key != "" {
					e.Entry(f.Key, f.Number)
				}
			}
		},
		Items: render.ForScripts(len(l.Facts), len(l.Facts), []table.ColumnOf[int]{
			render.Key("fact", table.Text, func(i int) table.Cell { return table.Of(l.Facts[i].Name) }),
			render.Key("value", table.Text, func(i int) table.Cell { return table.Of(l.Facts[i].Text) }),
		}),
		Parts: []render.Part{{List: render.Places(len(l.Facts), []table.ColumnOf[int]{
			{Column: table.Column{Title: "FACT"}, Shown: func(i int) string { return render.Harmless(l.Facts[i].Name) }},
			{Column: table.Column{Title: "VALUE", Shorten: true}, Shown: func(i int) string { return render.Harmless(l.Facts[i].Text) }, Role: func(i int) render.Role {
				if l.Facts[i].Odd {
					return render.RoleWarn
				}
				return render.RolePlain
			}},
		})}},
	}
	return s.Write(w, format)
}
