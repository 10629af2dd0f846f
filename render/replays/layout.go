package replays

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kitescope/engine/segment"
	"kitescope/inspect/model"
	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/replay"
)

// WriteLayout writes the layout of a collection in a cluster, as used by replay: nodes, segments by state, and
// their files.
func WriteLayout(w io.Writer, l *replay.Layout, format render.Format, o render.ReportOptions) error {
	return newLayoutSheet(l, &o, format.Name() == "table").Write(w, format)
}

// LayoutSchema returns the schema of the segments that WriteLayout writes.
func LayoutSchema(render.ReportOptions) *table.Schema { return layoutTable(&replay.Layout{}).Schema() }

func newLayoutSheet(l *replay.Layout, o *render.ReportOptions, short bool) *render.Sheet {
	// the limit applies to the lines about segments
	asked := render.Select(o, layoutTable(l), render.Unbounded[*replay.Segment](o))
	s := &render.Sheet{
		Kind: "ReplayLayout", Options: o,
		Head: layoutHead(l, o), About: func(e *encode.Encoder) { writeLayoutHead(e, l) }, Items: asked.Items,
	}
	s.Head = append(s.Head, missingFileLines(l, o)...)
	s.Parts = []render.Part{layoutStates(l), layoutNodes(l)}
	if !short || o.HasQuery() {
		s.Parts = append(s.Parts, asked.List(""))
		s.Foot = asked.More(o)
	}
	s.Foot = append(s.Foot, replayNotes(l.Notes, o)...)
	return s
}

func layoutHead(l *replay.Layout, o *render.ReportOptions) []render.Line {
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
	add("storage", storageText(l))
	field := render.OrUnknown(c.VectorField) + ": " + words.Plural(c.Dim, "dimension") + " of " + c.Element.String() +
		", " + c.Metric.String()
	add("vectors", field+"; "+layoutIndexText(&c.Index))
	add("replicas", replicasText(l))
	if l.Assumed {
		lines = append(lines,
			labelled(o, render.RoleWarn, "assumed", "no node reported its segments: spread by rule")...)
	}
	return lines
}

// storageText returns the location of files according to the configuration.
func storageText(l *replay.Layout) string {
	s := &l.Storage
	switch s.Kind {
	case "local":
		return "folder " + render.OrUnknown(s.Folder) + rootText(l)
	case "remote":
		scheme := []string{"http://", "https://"}[render.BoolInt(s.TLS)]
		return scheme + render.OrUnknown(s.Endpoint) + ", bucket " + render.OrUnknown(s.Bucket) + rootText(l)
	}
	return words.UnknownMark + ": not in the configuration; give --storage" + rootText(l)
}

func rootText(l *replay.Layout) string {
	if l.Root == "" {
		return ""
	}
	return ", root " + render.Harmless(l.Root)
}

// layoutIndexText formats an index: "HNSW, M 16, efConstruction 200".
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
		list = append(list,
			strconv.FormatInt(r.ID, 10)+" on "+words.Plural(len(r.Nodes), "node")+", "+
				words.Plural(len(r.Leaders), "shard"))
	}
	return strings.Join(list, "; ")
}

// missingFileLines lists segments without known files, without a node, and without a row count.
func missingFileLines(l *replay.Layout, o *render.ReportOptions) []render.Line {
	var lines []render.Line
	for _, x := range []struct {
		why string
		is  func(s *replay.Segment) bool
	}{
		{"no files in the metadata", func(s *replay.Segment) bool { return s.Files == nil }},
		{
			"not served by any node",
			func(s *replay.Segment) bool { return !slices.ContainsFunc(s.On, func(n int64) bool { return n != 0 }) },
		},
		{"row count unknown", func(s *replay.Segment) bool { return s.Rows < 0 }},
	} {
		var ids []string
		for i := range l.Segments {
			if x.is(&l.Segments[i]) {
				ids = append(ids, strconv.FormatInt(l.Segments[i].ID, 10))
			}
		}
		if len(ids) > 0 {
			text := words.Plural(len(ids), "segment") + ", " + x.why + ": " +
				words.FirstOf(ids, o.Shown(len(ids)), ", ")
			lines = append(lines, labelled(o, render.RoleBad, "MISSING", text)...)
		}
	}
	return lines
}

// layoutCount is the sum of a group of segments.
type layoutCount struct {
	name           string
	states         [3]int
	rows           int64
	unknown, files int
	leads          int
	cores          float64
}

func (c *layoutCount) add(s *replay.Segment) {
	if s.State <= replay.Indexed {
		c.states[s.State]++
	}
	c.rows += max(0, s.Rows)
	c.unknown += render.BoolInt(s.Rows < 0)
	c.files += render.BoolInt(s.Files != nil)
}

func (c *layoutCount) all() int { return c.states[0] + c.states[1] + c.states[2] }

// layoutCounts returns a table of sums, with a mark for groups without segments.
func layoutCounts(title string, list []layoutCount, mark string, columns ...table.ColumnOf[int]) render.Part {
	rows := func(i int) string {
		return words.Number(list[i].rows) + []string{"", "+" + words.UnknownMark}[render.BoolInt(list[i].unknown > 0)]
	}
	all := append([]table.ColumnOf[int]{
		{Column: table.Column{Title: title, Shorten: true}, Shown: func(i int) string { return list[i].name }},
		{Column: table.Column{Title: "ROWS", AlignRight: true}, Shown: rows},
	}, columns...)
	all = append(all, table.ColumnOf[int]{
		Shown: func(i int) string { return []string{"", mark}[render.BoolInt(list[i].all() == 0)] },
		Role:  func(int) render.Role { return render.RoleWarn },
	})
	return render.Part{List: render.PositionGrid(len(list), all)}
}

func countColumn(list []layoutCount, title string, get func(c *layoutCount) string) table.ColumnOf[int] {
	return table.ColumnOf[int]{
		Column: table.Column{Title: title, AlignRight: true}, Shown: func(row int) string { return get(&list[row]) },
	}
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
	part := layoutCounts("STATE", list, "",
		countColumn(list, "SEGMENTS", func(c *layoutCount) string { return words.Number(c.all()) }),
		countColumn(list, "WITH FILES", func(c *layoutCount) string { return words.Number(c.files) }))
	if n := len(l.L0); n > 0 {
		text := "plus " + words.Plural(n, "L0 segment") + " with deletes for the others"
		part.Head = []render.Line{{Role: render.RoleDim, Text: text}}
	}
	return part
}

func layoutNodes(l *replay.Layout) render.Part {
	list := make([]layoutCount, len(l.Nodes))
	at := map[int64]*layoutCount{}
	for i := range l.Nodes {
		list[i].name, list[i].cores = nodeName(l.Nodes[i].ID, l.Nodes[i].Name), l.Nodes[i].Cores
		at[l.Nodes[i].ID] = &list[i]
	}
	for i := range l.Segments {
		for _, id := range l.Segments[i].On {
			if c := at[id]; c != nil {
				c.add(&l.Segments[i])
			}
		}
	}
	for i := range l.Replicas {
		for _, id := range l.Replicas[i].Leaders {
			if c := at[id]; c != nil {
				c.leads++
			}
		}
	}
	state := func(title string, s replay.State) table.ColumnOf[int] {
		return countColumn(list, title, func(c *layoutCount) string { return strconv.Itoa(c.states[s]) })
	}
	return layoutCounts("NODE", list, "idle",
		state("GROWING", replay.Growing), state("ROW BY ROW", replay.Unindexed), state("INDEXED", replay.Indexed),
		countColumn(list, "LEADS", func(c *layoutCount) string { return words.Plural(c.leads, "shard") }),
		countColumn(list, "CORES", func(c *layoutCount) string { return knownText(c.cores) }))
}

// nodeName returns the name of a node in a layout, which has only query nodes.
func nodeName(id int64, name string) string {
	return render.Harmless(cmp.Or(name, model.NodeID(id).Name("querynode")))
}

func nodesText(l *replay.Layout, s *replay.Segment) string {
	var list []string
	for _, id := range s.On {
		switch n := l.Node(id); {
		case n != nil:
			list = append(list, nodeName(id, n.Name))
		case id != 0:
			list = append(list, nodeName(id, ""))
		}
	}
	if len(list) == 0 {
		return words.NoneMark
	}
	return strings.Join(list, ",")
}

func writeLayoutHead(e *encode.Encoder, l *replay.Layout) {
	c := &l.Collection
	e.Entry("source", l.Source)
	e.Entry("milvus", l.Version)
	e.Entry("collection", c.Name)
	e.Entry("database", c.Database)
	e.Entry("vector_field", c.VectorField)
	e.Entry("metric", c.Metric.String())
	e.Entry("element", c.Element.String())
	e.Entry("index_type", c.Index.Type)
	e.Entry("storage", storageText(l))
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
	type row = *replay.Segment
	files := func(name string, of func(f *segment.Files) int) table.ColumnOf[row] {
		return render.Key(name, table.Int, func(s row) table.Cell {
			if s.Files == nil || s.Files.Manifest != "" && name != "indexes" { // a manifest is read with the storage
				return table.OfUnknown()
			}
			return table.OfInt(int64(of(s.Files)))
		})
	}
	id := func(s row) string { return strconv.FormatInt(s.ID, 10) }
	number := render.TextKey("segment_id", id).WithTitle("SEGMENT", 0, id)
	number.AlignRight = true
	return table.New(table.Schema{
		Name: "segments", Singular: "segment", Names: []string{"segment_id"}, Sparse: true,
		Order: []string{
			"segment_id", "state", "node_ids", "rows", "index", "partition", "channel", "insert_logs", "delta_logs",
			"indexes",
		},
	}, render.Pointers(l.Segments), []table.ColumnOf[row]{
		number,
		render.TextKey("state", func(s row) string { return stateWord(s.State) }).WithTitle("STATE", 0,
			func(s row) string { return stateText(s.State) }).WithVocabulary(),
		render.Key("rows", table.Int, func(s row) table.Cell { return table.OfCount(s.Rows) }).WithTitle("ROWS", 0,
			func(s row) string { return rowCount(s.Rows) }),
		render.Key("index", table.Text, func(s row) table.Cell { return nameCell(s.Index.Type) }).WithTitle("INDEX", 0,
			func(s row) string { return layoutIndexText(&s.Index) }),
		render.Key("partition", table.Text, func(s row) table.Cell { return nameCell(s.PartitionName) }).
			WithTitle("PARTITION", 0, func(s row) string { return render.OrUnknown(s.PartitionName) }),
		render.TextKey("channel", func(s row) string { return s.Channel }).WithTitle("CHANNEL", 0, func(s row) string {
			return render.OrUnknown(s.Channel)
		}),
		render.Key("node_ids", table.List, func(s row) table.Cell {
			var ids []string
			for _, id := range s.On {
				if id != 0 {
					ids = append(ids, strconv.FormatInt(id, 10))
				}
			}
			return table.OfList(ids)
		}).WithTitle("NODE", 0, func(s row) string { return nodesText(l, s) }),
		files("insert_logs", func(f *segment.Files) (n int) {
			for _, logs := range f.Insert {
				n += len(logs)
			}
			return n
		}),
		files("delta_logs", func(f *segment.Files) int { return len(f.Delta) }),
		files("indexes", func(f *segment.Files) int { return len(f.Indexes) }),
	})
}
