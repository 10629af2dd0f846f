package clusters

import (
	"io"
	"strconv"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
)

// measure is one figure of an overview with its key.
type measure struct {
	name string
	cell table.Cell
	kind table.Kind
}

func measures(v *view.Overview) []measure {
	return []measure{
		{"databases", v.Databases, table.Int},
		{"collections", v.Collections, table.Int},
		{"partitions", v.Partitions, table.Int},
		{"aliases", v.Aliases, table.Int},
		{"pchannels", v.PChannels, table.Int},
		{"vchannels", v.VChannels, table.Int},
		{"indexes", v.Indexes, table.Int},
		{"collections_without_index", v.Unindexed, table.Int},
		{"rows", v.Rows, table.Int},
		{"deleted_rows", v.DeletedRows, table.Int},
		{"segments", v.Segments, table.Int},
		{"size_bytes", v.Bytes, table.Bytes},
		{"sealed_rows", v.SealedRows, table.Int},
		{"indexed_percent", v.Indexed, table.Percent},
		{"oldest_checkpoint_age_seconds", v.OldestCheckpoint, table.Duration},
		{"keys", v.Keys, table.Int},
		{"undecoded", v.Undecoded, table.Int},
		{"tombstones", v.Tombstones, table.Int},
	}
}

func overviewDocument(v *view.Overview, found *Found) render.Document {
	return func(e *encode.Encoder) {
		e.BeginObject()
		writeHead(e, "Overview", &v.Origin, v.Gaps)
		e.Key("item")
		e.BeginObject()
		e.Entry("version", v.Version.Text)
		e.Entry("version_from", v.Version.From)
		e.Entry("other_versions", v.Version.Others)
		e.Entry("notes", v.Version.Notes)
		var unknown []string
		for _, m := range measures(v) {
			if m.cell.Absent == table.Unknown {
				unknown = append(unknown, m.name)
			}
			if m.cell.Absent == table.Present {
				e.Key(m.name)
				render.WriteCell(e, m.cell, m.kind)
			}
		}
		writeOverviewLists(e, v)
		e.NonZero("unknown", append(unknown, unknownLists(v)...))
		e.EndObject()
		if found != nil {
			e.Entry("health", Health(found.Report))
		}
		writeFound(e, found)
		e.EndObject()
	}
}

func writeOverviewLists(e *encode.Encoder, v *view.Overview) {
	e.Entry("oldest_checkpoint_vchannel", v.OldestChannel)
	if !v.StatesUnknown {
		writeStates(e, "segments_by_state", v.States)
	}
	if !v.LoadUnknown {
		writeStates(e, "collections_by_load_state", v.Load)
	}
	if !v.RolesUnknown {
		e.Entry("roles", v.Roles)
		writeNodeLines(e, v.Nodes)
	}
	writeTiers(e, v)
	if v.Etcd != nil {
		e.Entry("etcd", v.Etcd.Members)
	}
}

// unknownLists are the lists that are left out because they were not read.
func unknownLists(v *view.Overview) []string {
	var names []string
	if v.StatesUnknown {
		names = append(names, "segments_by_state")
	}
	if v.LoadUnknown {
		names = append(names, "collections_by_load_state")
	}
	if v.RolesUnknown {
		names = append(names, "roles", "query_nodes")
	}
	return names
}

func writeStates(e *encode.Encoder, key string, states []view.StateCount) {
	e.Key(key)
	e.BeginList()
	for _, s := range states {
		e.BeginObject()
		e.Entry("state", s.State)
		e.Entry("count", s.Count)
		if s.Rows.Absent == table.Present {
			e.Entry("rows", s.Rows.Int)
		}
		e.EndObject()
	}
	e.EndList()
}

// writeOverview writes for people.
func writeOverview(w io.Writer, v *view.Overview, found *Found, o *render.Options) error {
	out := encode.NewOutput(w, encode.Pieces)
	p := render.NewPainter(o)
	head := render.Harmless(v.Origin.Root) + " @ " + render.Harmless(v.Origin.Location)
	out.Buf = p.Paint(out.Buf, render.RoleTitle, head)
	out.Buf = append(out.Buf, "   "+OriginText(v)+"\n\n"...)
	if found != nil {
		role, glyph, text := HealthText(found.Report)
		render.WriteLines(&out, append([]render.Line{{Role: role, Text: glyph + " " + text}, {}}, found.lines(check.Warning, o.ASCII)...), o)
	}
	for _, m := range measures(v) {
		if m.cell.Absent == table.None {
			continue
		}
		name := strings.ReplaceAll(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(m.name, "_seconds"), "_bytes"), "_percent"), "_", " ")
		out.Buf = append(out.Buf, "  "...)
		out.Buf = p.Paint(out.Buf, render.RoleDim, name)
		out.Buf = render.AppendSpaces(out.Buf, 28-len(name))
		out.Buf = append(render.AppendText(out.Buf, m.cell, m.kind), '\n')
	}
	if !v.StatesUnknown {
		writeStateLines(&out, &p, "segments", v.States)
	}
	writeStateLines(&out, &p, "collections by load state", v.Load)
	writeRoleLines(&out, &p, v)
	writeQueryNodes(&out, &p, v.Nodes)
	writeTierLines(&out, &p, v)
	for _, name := range unknownLists(v) {
		out.Buf = p.Paint(append(out.Buf, '\n'), render.RoleTitle, strings.ReplaceAll(name, "_", " "))
		out.Buf = append(out.Buf, "  "+words.UnknownMark+" not read\n"...)
	}
	writeEtcdLines(&out, &p, v.Etcd)
	for _, g := range v.Gaps {
		out.Buf = append(p.Paint(out.Buf, render.RoleWarn, "not read: "+render.Harmless(g.Where)+": "+render.Harmless(g.Reason)), '\n')
	}
	for _, n := range v.Version.Notes {
		out.Buf = append(p.Paint(out.Buf, render.RoleWarn, "note: "+render.Harmless(n)), '\n')
	}
	return out.Flush()
}

// OriginText is version, revision and age in one line: "Milvus 2.3.5  rev 1643  2s old".
func OriginText(v *view.Overview) string {
	parts := []string{"Milvus " + words.UnknownMark}
	if v.Version.Text != "" {
		parts[0] = "Milvus " + render.Harmless(v.Version.Text)
	}
	if v.Origin.Revision > 0 {
		parts = append(parts, "rev "+strconv.FormatInt(v.Origin.Revision, 10))
	}
	switch {
	case v.Origin.Taken.IsZero() && v.Origin.Kind == "etcd":
	case v.Origin.Taken.IsZero():
		parts = append(parts, "taken at an unknown time")
	case v.Origin.Kind == "etcd":
		parts = append(parts, words.Age(v.Age)+" old")
	case v.Origin.FileDate:
		parts = append(parts, "file dated "+string(encode.AppendTime(nil, v.Origin.Taken.Unix()*1e9)))
	default:
		parts = append(parts, "taken "+string(encode.AppendTime(nil, v.Origin.Taken.Unix()*1e9)))
	}
	return strings.Join(parts, "  ")
}

func writeStateLines(out *encode.Output, p *render.Painter, title string, states []view.StateCount) {
	if len(states) == 0 {
		return
	}
	out.Buf = append(p.Paint(append(out.Buf, '\n'), render.RoleTitle, title), '\n')
	for _, s := range states {
		out.Buf = append(out.Buf, "  "...)
		out.Buf = p.Paint(out.Buf, render.StateRole(s.State), render.Harmless(s.State))
		out.Buf = render.AppendSpaces(out.Buf, 14-len(s.State))
		count := strconv.FormatInt(s.Count, 10)
		out.Buf = append(render.AppendSpaces(out.Buf, 10-len(count)), count...)
		if s.Rows.Absent == table.Present {
			rows := strconv.FormatInt(s.Rows.Int, 10)
			out.Buf = append(append(render.AppendSpaces(out.Buf, 14-len(rows)), rows...), " rows"...)
		}
		out.Buf = append(out.Buf, '\n')
	}
}

func writeRoleLines(out *encode.Output, p *render.Painter, v *view.Overview) {
	if len(v.Roles) == 0 {
		return
	}
	out.Buf = append(p.Paint(append(out.Buf, '\n'), render.RoleTitle, "roles"), '\n')
	for _, r := range v.Roles {
		out.Buf = append(append(out.Buf, "  "...), render.Harmless(r.Role)...)
		out.Buf = render.AppendSpaces(out.Buf, 16-len(r.Role))
		out.Buf = append(strconv.AppendInt(out.Buf, int64(r.Registered), 10), " registered"...)
		if r.Asked > 0 {
			role := render.RoleGood
			if r.Answered < r.Asked {
				role = render.RoleBad
			}
			out.Buf = p.Paint(append(out.Buf, ", "...), role, words.Number(r.Answered)+" of "+words.Number(r.Asked)+" answered")
		}
		if r.Standby > 0 {
			out.Buf = append(strconv.AppendInt(append(out.Buf, ", "...), int64(r.Standby), 10), " standby"...)
		}
		if r.Stopping > 0 {
			out.Buf = p.Paint(append(out.Buf, ", "...), render.RoleWarn, strconv.Itoa(r.Stopping)+" stopping")
		}
		if len(r.Versions) > 0 {
			out.Buf = p.Paint(append(out.Buf, "  "...), render.RoleDim, render.Harmless(strings.Join(r.Versions, ", ")))
		}
		out.Buf = append(out.Buf, '\n')
	}
}

func writeEtcdLines(out *encode.Output, p *render.Painter, etcd *model.Etcd) {
	if etcd == nil {
		return
	}
	out.Buf = append(p.Paint(append(out.Buf, '\n'), render.RoleTitle, "etcd"), '\n')
	for _, m := range etcd.Members {
		out.Buf = append(append(out.Buf, "  "...), render.Harmless(m.Endpoint)...)
		out.Buf = append(out.Buf, "  "...)
		text, role := EtcdText(&m)
		out.Buf = append(p.Paint(out.Buf, role, text), '\n')
	}
}

// EtcdText says how one etcd member is.
func EtcdText(m *model.EtcdMember) (text string, role render.Role) {
	if m.Problem != "" {
		return render.Harmless(m.Problem), render.RoleBad
	}
	text = words.Bytes(m.DBSize)
	if m.DBQuota > 0 {
		text += " of " + words.Bytes(m.DBQuota)
	}
	if m.Leader {
		text += ", leader"
	}
	if m.Learner {
		text += ", learner"
	}
	if len(m.Errors) > 0 {
		return text + ", " + render.Harmless(strings.Join(m.Errors, ", ")), render.RoleBad
	}
	return text + ", no alarm", render.RoleGood
}
