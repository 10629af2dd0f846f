package replays

import (
	"io"
	"strconv"

	"kitescope/engine/index"
	"kitescope/engine/target"
	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
)

// WriteVerification writes whether an index is valid and contains its vectors.
func WriteVerification(w io.Writer, v *target.Verification, format render.Format, o render.ReportOptions) error {
	return newEngineVerifySheet(v, &o).Write(w, format)
}

// outcomeRole returns the role of an outcome.
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
	role, verdict := render.RoleGood, "OK: the index holds these vectors"
	if failed > 0 {
		role, verdict = render.RoleBad, words.Plural(failed, "check")+" failed"
	}
	asked := render.Select(o, checkTable(v.Checks, o.ASCII), nil)
	return &render.Sheet{
		Kind: "EngineVerification", Options: o,
		Head: []render.Line{
			{Text: targetLine(v.Target)},
			{Role: role, Text: render.Glyph(role, o.ASCII) + " " + verdict},
		},
		About: func(e *encode.Encoder) {
			writeTarget(e, v.Target)
			e.Entry("ok", v.OK())
		},
		Items: asked.Items, Parts: []render.Part{asked.List("")}, Foot: asked.More(o),
	}
}

// VerificationSchema returns the schema of the checks that WriteVerification writes.
func VerificationSchema(render.ReportOptions) *table.Schema { return checkTable(nil, false).Schema() }

// checkTable returns the table of checks of an index file.
func checkTable(checks []target.Check, ascii bool) *table.Rows[*target.Check] {
	detail := render.TextKey("detail", func(c *target.Check) string { return c.Detail }).
		WithTitle("DETAIL", 0, func(c *target.Check) string { return render.Harmless(c.Detail) })
	detail.Shorten = true
	return table.New(table.Schema{Name: "checks", Singular: "check", Names: []string{"check"}, Sparse: true},
		render.Pointers(checks), []table.ColumnOf[*target.Check]{
			render.TextKey("check", func(c *target.Check) string { return c.Name }).WithTitle("CHECK", 0,
				func(c *target.Check) string { return c.Name }),
			render.TextKey("outcome", func(c *target.Check) string {
				return c.Outcome.String()
			}).WithVocabulary().WithTitle("OUTCOME", 0, func(c *target.Check) string {
				return render.Glyph(outcomeRole(c.Outcome), ascii) + " " + c.Outcome.String()
			}).WithRole(func(c *target.Check) render.Role { return outcomeRole(c.Outcome) }),
			detail,
		})
}

// WriteInfo writes the contents of an index file.
func WriteInfo(w io.Writer, d *target.Description, format render.Format, o render.ReportOptions) error {
	return newEngineInfoSheet(d, &o).Write(w, format)
}

func newEngineInfoSheet(d *target.Description, o *render.ReportOptions) *render.Sheet {
	facts := d.Facts
	asked := render.Select(o, levelTable(d.Levels), nil)
	s := &render.Sheet{
		Kind: "EngineInfo", Options: o, Head: []render.Line{{Text: targetLine(d.Target)}},
		About: func(e *encode.Encoder) { writeEngineDescription(e, d) },
		Items: asked.Items,
		Parts: []render.Part{{List: render.PositionGrid(len(facts), []table.ColumnOf[int]{
			{Column: table.Column{Title: "FACT"}, Shown: func(i int) string { return facts[i].Name }},
			{
				Column: table.Column{Title: "VALUE", Shorten: true},
				Shown:  func(i int) string { return render.Harmless(facts[i].Text) }, Role: func(i int) render.Role {
					if facts[i].IsFault {
						return render.RoleWarn
					}
					return render.RolePlain
				},
			},
		})}},
	}
	if len(d.Levels) > 0 {
		s.Parts = append(s.Parts, asked.List(""))
		if more := asked.More(o); len(more) > 0 {
			s.Parts = append(s.Parts, render.Part{Head: more})
		}
	}
	if len(d.Parts) > 0 {
		s.Parts = append(s.Parts, render.Part{List: render.PositionGrid(len(d.Parts), []table.ColumnOf[int]{
			{Column: table.Column{Title: "PART"}, Shown: func(i int) string { return d.Parts[i].Name }},
			{
				Column: table.Column{Title: "BYTES", AlignRight: true},
				Shown:  func(i int) string { return words.Bytes(int64(d.Parts[i].Bytes)) },
			},
			{Column: table.Column{Title: "SHARE", AlignRight: true}, Shown: func(i int) string {
				return words.Share(float64(d.Parts[i].Bytes) / float64(max(1, d.Target.File.Bytes)))
			}},
		})})
	}
	return s
}

// InfoSchema returns the schema of the graph levels that WriteInfo writes.
func InfoSchema(render.ReportOptions) *table.Schema { return levelTable(nil).Schema() }

// levelTable returns the table of levels of a graph.
func levelTable(levels []index.Level) *table.Rows[*index.Level] {
	count := func(name, title string, of func(l *index.Level) int) table.ColumnOf[*index.Level] {
		return render.Key(name, table.Int, func(l *index.Level) table.Cell { return table.OfInt(int64(of(l))) }).
			WithTitle(title, 0, func(l *index.Level) string { return strconv.Itoa(of(l)) })
	}
	nodes := count("nodes", "NODES", func(l *index.Level) int { return l.Nodes })
	nodes.Shown = func(l *index.Level) string { return words.Number(int64(l.Nodes)) }
	return table.New(table.Schema{Name: "levels", Singular: "level", Names: []string{"level"}, Sparse: true},
		render.Pointers(levels), []table.ColumnOf[*index.Level]{
			count("level", "LEVEL", func(l *index.Level) int { return l.Level }), nodes,
			count("degree_min", "LINKS MIN", func(l *index.Level) int { return l.Min }),
			count("degree_p50", "P50", func(l *index.Level) int { return l.Median }),
			render.Key("degree_mean", table.Number, func(l *index.Level) table.Cell { return table.OfFloat(l.Mean) }).
				WithTitle("MEAN", 0, func(l *index.Level) string { return strconv.FormatFloat(l.Mean, 'f', 1, 64) }),
			count("degree_max", "MAX", func(l *index.Level) int { return l.Max }),
		})
}

func writeEngineDescription(e *encode.Encoder, d *target.Description) {
	writeTarget(e, d.Target)
	e.Entry("bytes", d.Target.File.Bytes)
	e.NonZero("codes", d.Target.File.Codes)
	for _, f := range d.Facts {
		if f.Key == "" {
			continue
		}
		e.Key(f.Key)
		if f.IsCount {
			e.Int(int64(f.Number))
		} else {
			e.Exact(f.Number)
		}
	}
	type part struct {
		Name  string
		Bytes int
	}
	parts := make([]part, len(d.Parts))
	for i, p := range d.Parts {
		parts[i] = part{p.Name, p.Bytes}
	}
	e.Entry("parts", parts)
}

// WriteLog writes the contents of a log in Milvus's storage, one item per fact.
func WriteLog(w io.Writer, l *target.Log, format render.Format, o render.ReportOptions) error {
	s := &render.Sheet{
		Kind: "EngineLog", Options: &o, Head: []render.Line{{Text: render.Harmless(l.Name)}},
		About: func(e *encode.Encoder) {
			e.Entry("file", l.Name)
			e.Entry("type", l.Kind)
			e.Entry("bytes", l.Bytes)
			for _, f := range l.Facts {
				if f.Key != "" {
					e.Entry(f.Key, f.Number)
				}
			}
		},
		Items: render.ScriptGrid(len(l.Facts), len(l.Facts), []table.ColumnOf[int]{
			render.Key("fact", table.Text, func(i int) table.Cell { return table.Of(l.Facts[i].Name) }),
			render.Key("value", table.Text, func(i int) table.Cell { return table.Of(l.Facts[i].Text) }),
		}),
		Parts: []render.Part{{List: render.PositionGrid(len(l.Facts), []table.ColumnOf[int]{
			{
				Column: table.Column{Title: "FACT"},
				Shown:  func(i int) string { return render.Harmless(l.Facts[i].Name) },
			},
			{
				Column: table.Column{Title: "VALUE", Shorten: true},
				Shown:  func(i int) string { return render.Harmless(l.Facts[i].Text) }, Role: func(i int) render.Role {
					if l.Facts[i].IsFault {
						return render.RoleWarn
					}
					return render.RolePlain
				},
			},
		})}},
	}
	return s.Write(w, format)
}
