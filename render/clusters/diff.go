package clusters

import (
	"io"
	"strconv"
	"strings"

	"kitescope/inspect/diff"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/render"
)

// DiffFormats returns the formats of a diff.
func DiffFormats() render.Formats {
	return render.FormatsOf(map[string]string{
		"table": "a summary of each collection, and its changes (default)",
		"csv":   "one line per change (RFC 4180)",
		"jsonl": "a JSON object for each change",
		"name":  "",
	})
}

// Diff writes the differences between two clusters. JSON lines and CSV contain only the changes.
func Diff(w io.Writer, d *diff.Diff, f render.Format, o render.ReportOptions) error {
	asked := render.Select(&o, changeTable(d), nil)
	s := &render.Sheet{
		Kind: "Diff", Options: &o, Items: asked.Items, Parts: []render.Part{asked.List(noDifferences(d))},
		Foot: asked.More(&o),
		Head: []render.Line{
			{Role: render.RoleRemoved, Text: diffOrigin(render.RoleRemoved, &d.From)},
			{Role: render.RoleAdded, Text: diffOrigin(render.RoleAdded, &d.To)},
		},
		About: func(e *encode.Encoder) {
			e.Key("from")
			writeOrigin(e, &d.From)
			e.Key("to")
			writeOrigin(e, &d.To)
			e.Key("collections")
			e.BeginList()
			for i := range d.Collections {
				writeSummary(e, &d.Collections[i])
			}
			e.EndList()
		},
		After: func(e *encode.Encoder) { e.NonZero("not_compared", d.NotCompared) },
	}
	if len(d.NotCompared) > 0 {
		s.Head = append(s.Head, render.Line{Role: render.RoleWarn, Text: notCompared(d)})
	}
	if !o.HasQuery() && !d.Empty() {
		s.Parts = nil
		titles := map[model.Ref]string{{}: "cluster"}
		for i := range d.Collections {
			titles[d.Collections[i].Collection] = summaryLine(&d.Collections[i])
		}
		for i := range d.Changes {
			if of := d.Changes[i].Collection; i == 0 || of != d.Changes[i-1].Collection {
				s.Parts = append(s.Parts, render.Part{
					Head: []render.Line{{Role: render.RoleTitle, Text: titles[of]}},
					List: asked.Part(func(c *diff.Change) bool { return c.Collection == of }),
				})
			}
		}
	}
	return s.Write(w, f)
}

// ChangeSchema returns the keys of changes that selections can use.
func ChangeSchema(render.ReportOptions) *table.Schema { return changeTable(&diff.Diff{}).Schema() }

// changeTable returns the table of changes, a row for each.
func changeTable(d *diff.Diff) *table.Rows[*diff.Change] {
	text := render.TextKey[*diff.Change]
	seen := func(name string, priority int, of func(c *diff.Change) string) table.ColumnOf[*diff.Change] {
		return text(name, of).WithTitle(strings.ToUpper(name), priority, func(c *diff.Change) string {
			return render.OrNone(of(c))
		})
	}
	field := render.Key("field", table.Text, func(c *diff.Change) table.Cell {
		if c.Field == "" {
			return table.OfNone()
		}
		return table.Of(c.Field)
	}).WithTitle("FIELD", 0, func(c *diff.Change) string { return render.OrNone(c.Field) })
	return table.New(table.Schema{Name: "changes", Singular: "change", Names: []string{"id", "name"}, Sparse: true},
		render.Pointers(d.Changes), []table.ColumnOf[*diff.Change]{
			seen("change", 0, func(c *diff.Change) string { return string(c.Kind) }).WithRole(func(
				c *diff.Change,
			) render.Role {
				return ChangeRole(c.Kind)
			}).WithVocabulary(),
			seen("resource", 0, func(c *diff.Change) string { return c.Object.Resource }).WithVocabulary(),
			seen("id", 0, func(c *diff.Change) string { return c.Object.ID }),
			seen("name", 2, func(c *diff.Change) string { return c.Object.Name }),
			text("collection_id", func(c *diff.Change) string { return c.Collection.ID }),
			seen("collection", 1, func(c *diff.Change) string { return c.Collection.Name }),
			field,
			render.Key("from", table.NamedText, func(c *diff.Change) table.Cell {
				return table.OfList([]string{c.From, c.FromNames})
			}).
				WithTitle("FROM", 0, func(c *diff.Change) string { return render.OrNone(c.FromNames) }),
			render.Key("to", table.NamedText, func(c *diff.Change) table.Cell {
				return table.OfList([]string{c.To, c.ToNames})
			}).
				WithTitle("TO", 0, func(c *diff.Change) string {
					if c.Kind == diff.Replaced {
						return replacedBy(c)
					}
					return render.OrNone(c.ToNames)
				}),
			render.Key("by", table.List, func(c *diff.Change) table.Cell {
				if c.Kind != diff.Replaced {
					return table.OfNone()
				}
				ids := make([]string, len(c.By))
				for i, r := range c.By {
					ids[i] = r.ID
				}
				return table.OfList(ids)
			}),
		})
}

func writeSummary(e *encode.Encoder, s *diff.Summary) {
	e.BeginObject()
	e.Entry("collection_id", s.Collection.ID)
	e.Entry("collection", s.Collection.Name)
	e.Entry("segments_added", s.Added)
	e.Entry("segments_removed", s.Removed)
	e.Entry("segments_replaced", s.Replaced)
	e.Entry("segments_changed", s.Changed)
	e.Entry("segments_before", s.SegmentsBefore)
	e.Entry("segments_after", s.SegmentsAfter)
	e.Entry("rows_before", s.RowsBefore)
	e.Entry("rows_after", s.RowsAfter)
	e.EndObject()
}

// notCompared returns a line with the parts that were not read on one side.
func notCompared(d *diff.Diff) string {
	return "not compared (one side was not read): " + strings.Join(d.NotCompared, ", ")
}

func noDifferences(d *diff.Diff) string {
	if len(d.NotCompared) > 0 {
		return "no differences in the compared parts"
	}
	return "no differences"
}

// diffOrigin returns a line with the location, the revision and the time of a side.
func diffOrigin(r render.Role, o *model.Origin) string {
	line := strings.Repeat(render.Glyph(r, true), 3) + " " + render.Harmless(o.Location)
	if o.Revision > 0 {
		line += "  revision " + strconv.FormatInt(o.Revision, 10)
	}
	if !o.Taken.IsZero() {
		line += "  " + string(encode.AppendTime(nil, o.Taken.UnixNano()/1e9*1e9))
	}
	return line
}

// SpanText returns the times of two states, e.g. "09:01:41 → 09:06:22". It returns their revisions if a time is
// unknown or the times are equal.
func SpanText(from, to *model.Origin) string {
	a, b := clockTime(from.Taken, to.Taken), clockTime(to.Taken, to.Taken)
	if a == b || from.Taken.IsZero() || to.Taken.IsZero() {
		a, b = "rev "+strconv.FormatInt(from.Revision, 10), strconv.FormatInt(to.Revision, 10)
	}
	return a + " → " + b
}

func summaryLine(s *diff.Summary) string {
	parts := []string{
		render.Harmless(s.Collection.Name), "rows " + change(s.RowsBefore, s.RowsAfter),
		"segments " + change(int64(s.SegmentsBefore), int64(s.SegmentsAfter)),
	}
	for _, n := range []struct {
		count int
		word  string
	}{{s.Added, "added"}, {s.Removed, "removed"}, {s.Replaced, "replaced"}, {s.Changed, "changed"}} {
		if n.count > 0 {
			parts = append(parts, strconv.Itoa(n.count)+" "+n.word)
		}
	}
	return strings.Join(parts, "  ")
}

func change(from, to int64) string {
	if from == to {
		return strconv.FormatInt(to, 10)
	}
	sign := "+"
	if to < from {
		sign = ""
	}
	return strconv.FormatInt(from, 10) + " → " + strconv.FormatInt(to, 10) + " (" + sign +
		strconv.FormatInt(to-from, 10) + ")"
}

// ChangeRole returns the role of a kind of change.
func ChangeRole(k diff.Kind) render.Role {
	switch k {
	case diff.Added:
		return render.RoleAdded
	case diff.Removed:
		return render.RoleRemoved
	default:
		return render.RoleChanged
	}
}

func replacedBy(c *diff.Change) string {
	names := make([]string, len(c.By))
	for i, r := range c.By {
		names[i] = r.ID
	}
	return "replaced by " + strings.Join(names, ", ")
}

func objectName(r model.Ref) string {
	if r.Name == "" || r.Name == r.ID {
		return r.ID
	}
	return r.Name + " (" + r.ID + ")"
}

func singular(resource string) string {
	if r, err := view.Find(resource); err == nil {
		return r.Singular
	}
	return resource
}
