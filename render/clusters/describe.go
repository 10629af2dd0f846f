package clusters

import (
	"encoding/json"
	"io"
	"slices"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
)

// descriptionDocument returns the document of an object with its sections and records.
func descriptionDocument(d *view.Description, env *view.Env, found *Found) render.Document {
	return func(e *encode.Encoder) {
		e.BeginObject()
		writeHead(e, d.Resource.Kind, &env.Cluster.Origin, env.Cluster.Gaps)
		e.Key("item")
		unknown := writeFields(e, d.Fields)
		e.NonZero("unknown", unknown)
		writeFound(e, found)
		e.Key("sections")
		e.BeginObject()
		for i := range d.Sections {
			writeSection(e, &d.Sections[i])
		}
		e.EndObject()
		e.Key("records")
		e.BeginList()
		for _, r := range records(d, env) {
			writeRecord(e, r)
		}
		e.EndList()
		e.EndObject()
	}
}

// writeFields writes an object of fields and returns the names of the unknown fields.
func writeFields(e *encode.Encoder, fields []view.Field) []string {
	e.BeginObject()
	unknown := writeFieldsInto(e, fields)
	e.EndObject()
	return unknown
}

func writeFieldsInto(e *encode.Encoder, fields []view.Field) []string {
	var unknown []string
	for _, f := range fields {
		switch {
		case f.Cell.Absent == table.Unknown:
			unknown = append(unknown, f.Column.Name)
		case f.Cell.Absent == table.Present || render.EmptyWhenNone(f.Column.Kind):
			e.Key(f.Column.Name)
			render.WriteCell(e, f.Cell, f.Column.Kind)
		}
	}
	return unknown
}

// writeSection writes the rows of a section under its title. It leaves out a section that was not read, because
// an empty list would mean that the section has no rows.
func writeSection(e *encode.Encoder, s *view.Section) {
	if s.Unknown {
		return
	}
	e.Key(strings.ReplaceAll(s.Title, " ", "_"))
	e.BeginList()
	it := render.NewItems(&s.Grid.Grid)
	for i := range s.Grid.Len() {
		it.Write(e, i)
	}
	e.EndList()
}

// records returns the decoded records of a description, or only their keys if the cluster has no keyspace.
func records(d *view.Description, env *view.Env) []model.Record {
	var list []model.Record
	for _, key := range d.Records {
		r := model.Record{KeyInfo: model.KeyInfo{Key: key}}
		if ks := env.Cluster.Keyspace; ks != nil {
			if i, ok := ks.Find(key); ok {
				r = ks.Record(i)
			}
		}
		list = append(list, r)
	}
	return list
}

func writeRecord(e *encode.Encoder, r model.Record) {
	e.BeginObject()
	e.Entry("key", r.Key)
	if r.Message != "" {
		e.Entry("kind", r.Kind)
		e.Entry("message", r.Message)
		e.Entry("size_bytes", r.Size)
		if r.ModRevision > 0 {
			e.Entry("mod_revision", r.ModRevision)
		}
		e.Key("value")
		if !writeJSONText(e, r.Text) {
			e.Text(r.Text)
		}
	}
	e.NonZero("problem", r.Problem)
	e.EndObject()
}

// writeJSONText writes a JSON object or list. It returns false without writing if the text is neither.
func writeJSONText(e *encode.Encoder, text string) bool {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		return false
	}
	switch v.(type) {
	case map[string]any, []any:
		e.Value(v)
		return true
	}
	return false
}

// writeDescription writes the text of a description: the fields in two columns, then the sections, then the decoded
// records.
func writeDescription(w io.Writer, d *view.Description, env *view.Env, found *Found, o *render.Options) error {
	out := encode.NewOutput(w, encode.Pieces)
	p := render.NewPainter(o)
	title := d.Resource.Singular + " " + render.Harmless(d.Ref.ID)
	if d.Ref.Name != "" && d.Ref.Name != d.Ref.ID {
		title = d.Resource.Singular + " " + render.Harmless(d.Ref.Name) + " (" + render.Harmless(d.Ref.ID) + ")"
	}
	out.Buf = append(p.Paint(out.Buf, render.RoleTitle, title), '\n')
	if found != nil && len(found.List) > 0 {
		render.WriteLines(&out, found.lines(check.Info, o.ASCII), o)
	}
	writeFieldLines(&out, &p, d.Fields, o)
	for i := range d.Sections {
		writeTextSection(&out, &p, &d.Sections[i], o)
	}
	writeTextRecords(&out, &p, records(d, env))
	return out.Flush()
}

func writeFieldLines(out *encode.Output, p *render.Painter, fields []view.Field, o *render.Options) {
	fields = slices.DeleteFunc(slices.Clone(fields), func(f view.Field) bool { return f.Column.Omits(f.Cell) })
	name := 0
	for _, f := range fields {
		name = max(name, len(f.Column.Name))
	}
	for _, f := range fields {
		out.Buf = append(out.Buf, "  "...)
		out.Buf = p.Paint(out.Buf, render.RoleDim, f.Column.Name)
		out.Buf = render.AppendSpaces(out.Buf, name-len(f.Column.Name)+render.Gutter)
		for i, line := range fieldLines(f, o.Width-name-2*render.Gutter) {
			if i > 0 {
				out.Buf = render.AppendSpaces(append(out.Buf, '\n'), name+2*render.Gutter)
			}
			out.Buf = p.Paint(out.Buf, render.CellRole(f.Cell, f.Column.Kind), line)
		}
		out.Buf = append(out.Buf, '\n')
	}
}

// fieldLines returns the lines of a field. A list that is wider than cells gets one line for each element.
func fieldLines(f view.Field, cells int) []string {
	text := render.Text(f.Cell, f.Column.Kind)
	if f.Column.Kind == table.Bytes && f.Cell.Absent == table.Present && f.Cell.Int >= 1024 {
		text += " (" + render.Text(f.Cell, table.Int) + ")"
	}
	wide := cells > 8 && render.Width([]byte(text)) > cells
	if !wide || f.Cell.Absent != table.Present {
		return []string{text}
	}
	var lines []string
	switch cell, kind := f.Cell.ForPeople(f.Column.Kind); kind {
	case table.List:
		for _, s := range cell.List {
			lines = append(lines, render.Harmless(s))
		}
	case table.Pairs:
		for i := 0; i+1 < len(cell.List); i += 2 {
			lines = append(lines, render.Harmless(cell.List[i]+"="+cell.List[i+1]))
		}
	default:
		return []string{text}
	}
	return lines
}

func writeTextSection(out *encode.Output, p *render.Painter, s *view.Section, o *render.Options) {
	out.Buf = append(out.Buf, '\n')
	out.Buf = p.Paint(out.Buf, render.RoleTitle, s.Title)
	switch {
	case s.Unknown:
		out.Buf = append(out.Buf, "  "...)
		out.Buf = p.Paint(out.Buf, render.RoleDim, words.UnknownMark+" not read")
	case s.Grid.Len() == 0:
		out.Buf = append(out.Buf, "  "...)
		out.Buf = p.Paint(out.Buf, render.RoleDim, words.NoneMark)
	default:
		out.Buf = append(out.Buf, ' ', '(')
		out.Buf = append(render.AppendText(out.Buf, table.Cell{Int: int64(s.Grid.Len())}, table.Int), ')')
	}
	if s.Note != "" {
		out.Buf = append(out.Buf, "  "...)
		out.Buf = p.Paint(out.Buf, render.RoleDim, s.Note)
	}
	out.Buf = append(out.Buf, '\n')
	if s.Unknown || s.Grid.Len() == 0 {
		return
	}
	titled := *o
	titled.NoHeader = false
	render.WriteTableInto(out, &s.Grid.Grid, &titled, "  ")
}

func writeTextRecords(out *encode.Output, p *render.Painter, list []model.Record) {
	if len(list) == 0 {
		return
	}
	out.Buf = append(out.Buf, '\n')
	out.Buf = append(p.Paint(out.Buf, render.RoleTitle, "records"), '\n')
	for _, r := range list {
		out.Buf = append(out.Buf, "  "...)
		out.Buf = p.Paint(out.Buf, render.RoleAccent, render.Harmless(r.Key))
		if r.Message != "" {
			out.Buf = p.Paint(append(out.Buf, ' ', ' '), render.RoleDim, render.Harmless(r.Message))
		}
		out.Buf = append(out.Buf, '\n')
		if r.Problem != "" {
			out.Buf = append(out.Buf, "    "...)
			out.Buf = append(p.Paint(out.Buf, render.RoleWarn, render.Harmless(r.Problem)), '\n')
		}
		for line := range strings.SplitSeq(strings.TrimRight(words.SanitizeLines(r.Text), "\n"), "\n") {
			if line == "" && r.Text == "" {
				continue
			}
			out.Buf = append(append(append(out.Buf, "    "...), line...), '\n')
		}
		out.Drain()
	}
}
