package clusters

import (
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

// measure is a figure of an overview and its key.
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
			writeImpact(e, found.Report.Cluster)
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

// unknownLists returns the names of lists that are left out because they were not read.
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

// lineList holds lines that are never wrapped, because they are rows of tables.
type lineList []render.Line

func (l *lineList) add(role render.Role, text string, after ...render.Piece) {
	*l = append(*l, render.Line{Role: role, Text: text, After: after, NoWrap: true})
}

// title starts a list. It may have text after its name.
func (l *lineList) title(name string, after ...render.Piece) {
	*l = append(*l, render.Line{})
	l.add(render.RoleTitle, name, after...)
}

// overviewLines returns the text of an overview.
func overviewLines(v *view.Overview, found *Found, o *render.Options) []render.Line {
	var l lineList
	l.add(render.RoleTitle, v.Origin.Root+" @ "+v.Origin.Location, render.Piece{Text: "   " + OriginText(v)})
	l = append(l, render.Line{})
	if found != nil {
		role, glyph, text := HealthText(found.Report)
		l = append(append(l, render.Line{Role: role, Text: glyph + " " + text}),
			ImpactLines(ImpactOf(found.Report), o.ASCII)...)
		l = append(append(l, render.Line{}), found.lines(check.Warning, o.ASCII)...)
	}
	for _, m := range measures(v) {
		if m.cell.Absent == table.None {
			continue
		}
		name := strings.ReplaceAll(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(m.name, "_seconds"),
			"_bytes"), "_percent"), "_", " ")
		l.add(render.RoleDim, "  "+render.Padded(name, 28), render.Piece{Text: render.Text(m.cell, m.kind)})
	}
	if !v.StatesUnknown {
		name := "segments"
		if queried(v) { // the figures of query nodes differ, because they include rows since the last checkpoint
			name += " in etcd"
		}
		l.states(name, v.States)
	}
	l.states("collections by load state", v.Load)
	l.processes(v)
	for _, name := range unknownLists(v) {
		l.title(strings.ReplaceAll(name, "_", " "), render.Piece{Text: "  " + words.UnknownMark + " not read"})
	}
	if v.Etcd != nil {
		l.title("etcd")
		for i := range v.Etcd.Members {
			text, role := EtcdText(&v.Etcd.Members[i])
			l.add(render.RolePlain, "  "+v.Etcd.Members[i].Endpoint+"  ", render.Piece{Role: role, Text: text})
		}
	}
	for _, g := range v.Gaps {
		l.add(render.RoleWarn, "not read: "+g.Where+": "+g.Reason)
	}
	for _, n := range v.Version.Notes {
		l.add(render.RoleWarn, "note: "+n)
	}
	return l
}

// queried reports whether the query nodes were queried for their segments.
func queried(v *view.Overview) bool { return len(v.Nodes) > 0 && v.Nodes[0].Live != nil }

// states adds a line for each state with its count.
func (l *lineList) states(name string, states []view.StateCount) {
	for i, s := range states {
		if i == 0 {
			l.title(name)
		}
		text := render.LeftPad(strconv.FormatInt(s.Count, 10), 10)
		if s.Rows.Absent == table.Present {
			text += render.LeftPad(strconv.FormatInt(s.Rows.Int, 10), 14) + " rows"
		}
		l.add(render.StateRole(s.State), "  "+render.Padded(s.State, 14), render.Piece{Text: text})
	}
}

// processes adds roles, query nodes, the streaming service and tiered storage.
func (l *lineList) processes(v *view.Overview) {
	for i := range v.Roles {
		if i == 0 {
			l.title("roles")
		}
		l.add(render.RolePlain, "  "+render.Padded(v.Roles[i].Role, 16), rolePieces(&v.Roles[i])...)
	}
	for i := range v.Nodes {
		switch {
		case i > 0:
		case queried(v):
			l.title("query nodes in memory")
		default:
			l.title("query nodes")
		}
		n := &v.Nodes[i]
		l.add(render.RolePlain, "  "+render.Padded(n.Ref.Name, 20)+render.Padded(n.Address, 22), render.Piece{
			Role: nodeRole(n), Text: nodeText(n),
		})
		if n.Live != nil {
			l.add(render.RoleDim, "    "+NodeLiveText(n.Live))
		}
	}
	if v.Streaming != nil {
		l.title("streaming", render.Piece{Text: "  " + StreamingText(v.Streaming)})
	}
	if v.Cache != nil {
		l.title("tiered storage", render.Piece{Text: "  " + CacheText(v.Cache)})
	}
}

// rolePieces returns the number of sessions of a role and their states.
func rolePieces(r *view.RoleCount) []render.Piece {
	pieces := []render.Piece{{Text: strconv.Itoa(r.Registered) + " registered"}}
	add := func(role render.Role, text string) {
		pieces = append(pieces, render.Piece{Text: ", "}, render.Piece{Role: role, Text: text})
	}
	if r.Asked > 0 {
		role := render.RoleGood
		if r.Answered < r.Asked {
			role = render.RoleBad
		}
		add(role, words.Number(r.Answered)+" of "+words.Number(r.Asked)+" responded")
	}
	if r.Standby > 0 {
		add(render.RolePlain, strconv.Itoa(r.Standby)+" standby")
	}
	if r.Stopping > 0 {
		add(render.RoleWarn, strconv.Itoa(r.Stopping)+" stopping")
	}
	if len(r.Versions) > 0 {
		pieces = append(pieces, render.Piece{Text: "  "}, render.Piece{
			Role: render.RoleDim, Text: strings.Join(r.Versions, ", "),
		})
	}
	return pieces
}

// OriginText returns the version, the revision and the age in one line, e.g. "Milvus 2.3.5  rev 1643  2s old".
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

// EtcdText returns the state of an etcd member, and the role of that text.
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
