package replays

import (
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/replay"
)

// WriteLayout writes what a cluster serves of a collection, as replay understood it: nodes, segments by state, their files, what
// is missing. Cover is nil as long as nothing was loaded.
func WriteLayout(w io.Writer, l *replay.Layout, cover *replay.Coverage, format render.Format, o render.ReportOptions) error {
	return newLayoutSheet(l, cover, &o, format.Name() == "table").Write(w, format)
}

// LayoutSchema is what can be asked of the segments that WriteLayout writes.
func LayoutSchema(render.ReportOptions) *table.Schema { return layoutTable(&replay.Layout{}).Schema() }

func newLayoutSheet(l *replay.Layout, cover *replay.Coverage, o *render.ReportOptions, short bool) *render.Sheet {
	asked := render.Ask(o, layoutTable(l), render.Unbounded[*replay.Segment](o)) // the limit is of what is said of segments
	s := &render.Sheet{
		Kind: "ReplayLayout", Options: o,
		Head: layoutHead(l, cover != nil, o), About: func(e *encode.Encoder) { writeLayoutHead(e, l, cover != nil); writeCover(e, cover) }, Items: asked.Items,
	}
	if cover != nil {
		s.Head = append(s.Head, coverageLines(cover, o)...)
	}
	s.Head = append(s.Head, missingFileLines(l, o)...)
	s.Parts = []render.Part{layoutStates(l), layoutNodes(l)}
	if !short || o.Asks() {
		s.Parts = append(s.Parts, asked.List(""))
		s.Foot = asked.More(o)
	}
	s.Foot = append(s.Foot, replayNotes(l.Notes, o)...)
	return s
}

func layoutHead(l *replay.Layout, looked bool, o *render.ReportOptions) []render.Line {
	c := &l.Collection
	title := "Collection " + render.OrUnknown(c.Name)
	if c.Database != "" {
		title += " of database " + render.Harmless(c.Database)
	}
	lines := []render.Line{{Role: render.RoleTitle, Text: title}}
	add := func(label, text string) {
		if text != "" {
			lines = append(lines, labelled(o, render.RolePlain, label, text)...)
		}
	}
	cluster := render.Harmless(l.Source)
	if taken := render.Stamp(l.Taken); taken != "" {
		cluster += ", " + taken
	}
	if l.Version != "" {
		cluster += ", Milvus " + render.Harmless(l.Version)
	}
	add("cluster", cluster)
	add("storage", storageText(l, looked))
	field := render.OrUnknown(c.VectorField) + ": " + words.Plural(c.Dim, "dimension") + " of " + c.Element.String() + ", " + c.Metric.String()
	add("vectors", field+"; "+layoutIndexText(&c.Index))
	add("replicas", replicasText(l))
	if l.Assumed {
		lines = append(lines, labelled(o, render.RoleWarn, "assumed", "no node reported its segments: spread by rule")...)
	}
	return lines
}

// storageText is where files are by the configuration; looked says that they were looked for already.
func storageText(l *replay.Layout, looked bool) string {
	s := &l.Storage
	switch s.Kind {
	case "local":
		return "folder " + render.OrUnknown(s.Folder) + rootText(l)
	case "remote":
		scheme := []string{"http://", "https://"}[render.BoolInt(s.TLS)]
		return scheme + render.OrUnknown(s.Endpoint) + ", bucket " + render.OrUnknown(s.Bucket) + rootText(l)
	}
	return []string{words.UnknownMark + ": not in the configuration; give --storage", "given by hand: not in the configuration"}[render.BoolInt(looked)] + rootText(l)
}

func rootText(l *replay.Layout) string {
	if l.Root == "" {
		return ""
	}
	return ", root " + render.Harmless(l.Root)
}

// layoutIndexText is "HNSW, M 16, efConstruction 200".
func layoutIndexText(x *replay.Index) string {
	if x.Type == "" {
		return "no index"
	}
	list := []string{render.Harmless(x.Type)}
	for _, p := range []struct {
		name string
		n    int
	}{{"M", x.M}, {"efConstruction", x.EFConstruction}, {"nlist", x.NList}} {
		if p.n > 0 {
			list = append(list, p.name+" "+strconv.Itoa(p.n))
		}
	}
	return strings.Join(list, ", ")
}

func replicasText(l *replay.Layout) string {
	if len(l.Replicas) == 0 {
		return "none: the collection is not loaded"
	}
	var list []string
	for i := range l.Replicas {
		r := &l.Replicas[i]
		list = append(list, strconv.FormatInt(r.ID, 10)+" on "+words.Plural(len(r.Nodes), "node")+", "+words.Plural(len(r.Leaders), "shard"))
	}
	return strings.Join(list, "; ")
}

// missingFileLines name segments of which storage is not known to have files, and those that no node serves.
func missingFileLines(l *replay.Layout, o *render.ReportOptions) []render.Line {
	var bare, idle, silent []string
	for i := range l.Segments {
		s := &l.Segments[i]
		id := strconv.FormatInt(s.ID, 10)
		if s.Files == nil {
			bare = append(bare, id)
		}
		if !slices.ContainsFunc(s.On, func(n int64) bool { return n != 0 }) {
			idle = append(idle, id)
		}
		if s.Rows < 0 {
			silent = append(silent, id)
		}
	}
	var lines []render.Line
	for _, x := range []struct {
		ids []string
		why string
	}{{bare, "no files in the metadata"}, {idle, "not served by any node"}, {silent, "unknown row count"}} {
		if len(x.ids) > 0 {
			text := words.Plural(len(x.ids), "segment") + " with " + x.why + ": "
			if strings.HasPrefix(x.why, "not served") {
				text = words.Plural(len(x.ids), "segment") + " " + x.why + ": "
			}
			lines = append(lines, labelled(o, render.RoleBad, "MISSING", text+words.FirstOf(x.ids, o.Shown(len(x.ids)), ", "))...)
		}
	}
	return lines
}

// layoutCount is a sum over segments.
type layoutCount struct {
	name                                   string
	segments                               [3]int
	rows                                   int64
	unknown, insert, delta, indexes, files int
	leads                                  int
}

func (c *layoutCount) add(s *replay.Segment) {
	if s.State <= replay.Indexed {
		c.segments[s.State]++
	}
	if s.Rows < 0 {
		c.unknown++
	} else {
		c.rows += s.Rows
	}
	if s.Files == nil {
		return
	}
	c.files++
	for _, logs := range s.Files.Insert {
		c.insert += len(logs)
	}
	c.delta += len(s.Files.Delta)
	c.indexes += len(s.Files.Indexes)
}

func (c *layoutCount) all() int { return c.segments[0] + c.segments[1] + c.segments[2] }

// rowsText is a sum of rows, of which some may be unknown.
func (c *layoutCount) rowsText() string {
	if c.unknown > 0 {
		return words.Number(c.rows) + "+" + words.UnknownMark
	}
	return words.Number(c.rows)
}

func countColumn(list []layoutCount, title string, of func(c *layoutCount) string) table.ColumnOf[int] {
	return table.ColumnOf[int]{Column: table.Column{Title: title, Right: true}, Shown: func(row int) string { return of(&list[row]) }}
}

func layoutStates(l *replay.Layout) render.Part {
	list := make([]layoutCount, 3)
	for state := replay.Growing; state <= replay.Indexed; state++ {
		list[state].name = state.String()
	}
	for i := range l.Segments {
		if s := &l.Segments[i]; s.State <= replay.Indexed {
			list[s.State].add(s)
		}
	}
	columns := []table.ColumnOf[int]{
		{Column: table.Column{Title: "STATE"}, Shown: func(i int) string { return list[i].name }},
		countColumn(list, "SEGMENTS", func(c *layoutCount) string { return words.Number(int64(c.all())) }),
		countColumn(list, "ROWS", func(c *layoutCount) string { return c.rowsText() }),
		countColumn(list, "WITH FILES", func(c *layoutCount) string { return strconv.Itoa(c.files) }),
		countColumn(list, "LOGS", func(c *layoutCount) string { return words.Number(int64(c.insert)) }),
		countColumn(list, "DELTAS", func(c *layoutCount) string { return words.Number(int64(c.delta)) }),
		countColumn(list, "INDEXES", func(c *layoutCount) string { return words.Number(int64(c.indexes)) }),
	}
	part := render.Part{List: render.Places(len(list), columns)}
	if n := len(l.L0); n > 0 {
		part.Head = []render.Line{{Role: render.RoleDim, Text: "besides, " + words.Plural(n, "L0 segment") + " with deletes for the others"}}
	}
	return part
}

func layoutNodes(l *replay.Layout) render.Part {
	list := make([]layoutCount, len(l.Nodes))
	at := map[int64]int{}
	for i := range l.Nodes {
		list[i].name = nodeName(&l.Nodes[i])
		at[l.Nodes[i].ID] = i
	}
	for i := range l.Segments {
		for _, id := range l.Segments[i].On {
			if j, ok := at[id]; ok {
				list[j].add(&l.Segments[i])
			}
		}
	}
	for i := range l.Replicas {
		for _, id := range l.Replicas[i].Leaders {
			if j, ok := at[id]; ok {
				list[j].leads++
			}
		}
	}
	node := func(title string, text func(n *replay.Node) string) table.ColumnOf[int] {
		return table.ColumnOf[int]{Column: table.Column{Title: title, Right: true, Priority: 1}, Shown: func(i int) string { return text(&l.Nodes[i]) }}
	}
	columns := []table.ColumnOf[int]{
		{Column: table.Column{Title: "NODE", Shorten: true}, Shown: func(i int) string { return list[i].name }},
		countColumn(list, "GROWING", func(c *layoutCount) string { return strconv.Itoa(c.segments[replay.Growing]) }),
		countColumn(list, "NO INDEX", func(c *layoutCount) string { return strconv.Itoa(c.segments[replay.Unindexed]) }),
		countColumn(list, "INDEXED", func(c *layoutCount) string { return strconv.Itoa(c.segments[replay.Indexed]) }),
		countColumn(list, "ROWS", func(c *layoutCount) string { return c.rowsText() }),
		countColumn(list, "LEADS", func(c *layoutCount) string { return words.Plural(c.leads, "shard") }),
		node("CORES", func(n *replay.Node) string { return orUnknownNumber(n.Cores) }),
		{Shown: func(i int) string {
			return []string{"", "idle"}[render.BoolInt(list[i].all() == 0)]
		}, Role: func(int) render.Role { return render.RoleWarn }},
	}
	return render.Part{List: render.Places(len(list), columns)}
}

func nodeName(n *replay.Node) string {
	if n.Name == "" {
		return "node " + strconv.FormatInt(n.ID, 10)
	}
	return render.Harmless(n.Name)
}

func onText(l *replay.Layout, s *replay.Segment) string {
	var list []string
	for _, id := range s.On {
		switch n := l.Node(id); {
		case n != nil:
			list = append(list, nodeName(n))
		case id != 0:
			list = append(list, "node "+strconv.FormatInt(id, 10))
		}
	}
	if len(list) == 0 {
		return words.NoneMark
	}
	return strings.Join(list, ",")
}

func writeLayoutHead(e *encode.Encoder, l *replay.Layout, looked bool) {
	c := &l.Collection
	e.Entry("source", l.Source)
	e.Entry("milvus", l.Version)
	e.Entry("collection", c.Name)
	e.Entry("database", c.Database)
	e.Entry("vector_field", c.VectorField)
	e.Entry("metric", c.Metric.String())
	e.Entry("element", c.Element.String())
	e.Entry("index_type", c.Index.Type)
	e.Entry("storage", storageText(l, looked))
	e.Entry("collection_id", encode.ID(c.ID))
	e.Entry("dim", c.Dim)
	e.Entry("assumed", l.Assumed)
	e.Entry("taken", l.Taken)
	e.Key("nodes")
	e.BeginList()
	for i := range l.Nodes {
		n := &l.Nodes[i]
		e.BeginObject()
		e.Entry("id", encode.ID(n.ID))
		e.Entry("name", n.Name)
		if n.Cores > 0 {
			e.Entry("cores", encode.Exact(n.Cores))
		}
		e.EndObject()
	}
	e.EndList()
	e.Key("leaders")
	e.BeginList()
	for i := range l.Replicas {
		r := &l.Replicas[i]
		for _, channel := range slices.Sorted(maps.Keys(r.Leaders)) {
			e.BeginObject()
			e.Entry("replica_id", encode.ID(r.ID))
			e.Entry("channel", channel)
			e.Entry("node_id", encode.ID(r.Leaders[channel]))
			e.EndObject()
		}
	}
	e.EndList()
	e.Entry("notes", l.Notes)
}

func layoutTable(l *replay.Layout) *table.Rows[*replay.Segment] {
	type segment = *replay.Segment
	files := func(name string, of func(c *layoutCount) int) table.ColumnOf[segment] {
		return render.Key(name, table.Int, func(s segment) table.Cell {
			if s.Files == nil || s.Files.Manifest != "" && name != "indexes" { // a manifest is read with the storage
				return table.OfUnknown()
			}
			var c layoutCount
			c.add(s)
			return table.OfInt(int64(of(&c)))
		})
	}
	id := func(s segment) string { return strconv.FormatInt(s.ID, 10) }
	number := render.TextKey("segment_id", id).Titled("SEGMENT", 0, id)
	number.Right = true
	return table.New(table.Schema{
		Name: "segments", Singular: "segment", Names: []string{"segment_id"}, Sparse: true,
		Order: []string{"segment_id", "state", "node_ids", "rows", "index", "partition", "channel", "insert_logs", "delta_logs", "indexes"},
	}, render.Pointers(l.Segments), []table.ColumnOf[segment]{
		number,
		render.TextKey("state", func(s segment) string { return stateWord(s.State) }).Titled("STATE", 0, func(s segment) string { return StateText(s.State) }).Word(),
		render.Key("rows", table.Int, func(s segment) table.Cell { return table.OfCount(s.Rows) }).Titled("ROWS", 0, func(s segment) string { return rowCount(s.Rows) }),
		render.Key("index", table.Text, func(s segment) table.Cell { return nameCell(s.Index.Type) }).Titled("INDEX", 0, func(s segment) string { return layoutIndexText(&s.Index) }),
		render.Key("partition", table.Text, func(s segment) table.Cell { return nameCell(s.PartitionName) }).Titled("PARTITION", 0, func(s segment) string { return render.OrUnknown(s.PartitionName) }),
		render.TextKey("channel", func(s segment) string { return s.Channel }).Titled("CHANNEL", 0, func(s segment) string { return render.OrUnknown(s.Channel) }),
		render.Key("node_ids", table.List, func(s segment) table.Cell {
			var ids []string
			for _, id := range s.On {
				if id != 0 {
					ids = append(ids, strconv.FormatInt(id, 10))
				}
			}
			return table.OfList(ids)
		}).Titled("NODE", 0, func(s segment) string { return onText(l, s) }),
		files("insert_logs", func(c *layoutCount) int { return c.insert }),
		files("delta_logs", func(c *layoutCount) int { return c.delta }),
		files("indexes", func(c *layoutCount) int { return c.indexes }),
	})
}
