package profiles

import (
	"cmp"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/profile/report"
	"kitescope/render"
)

// WriteNodes writes how processes differ from the others of their role.
func WriteNodes(w io.Writer, n *report.Nodes, f render.Format, o render.ReportOptions) error {
	return newNodesSheet(n, &o).Write(w, f)
}

// NodesSchema is what can be asked of the processes that WriteNodes writes.
func NodesSchema(render.ReportOptions) *table.Schema { return nodeTable(nil).Schema() }

func newNodesSheet(n *report.Nodes, o *render.ReportOptions) *render.Sheet {
	s := &render.Sheet{Kind: "ProfileNodes", Options: o}
	var nodes []nodeItem
	for i := range n.Roles {
		r := &n.Roles[i]
		for j := range r.Nodes {
			nodes = append(nodes, nodeItem{r, &r.Nodes[j]})
		}
	}
	asked := render.Ask(o, nodeTable(nodes), render.Unbounded[nodeItem](o)) // the limit is of differences
	s.Items, s.Parts, s.Foot = asked.Items, []render.Part{asked.List("")}, asked.More(o)
	for i := range n.Roles {
		if r := &n.Roles[i]; len(r.Differences) > 0 {
			s.Parts = append(s.Parts, differencePart(r, o))
		}
	}
	of := " of 1 process"
	if len(nodes) != 1 {
		of = " of " + strconv.Itoa(len(nodes)) + " processes"
	}
	s.Head = []render.Line{{Role: render.RoleTitle, Text: typeText(n.Type) + of}}
	for _, text := range n.Remarks() {
		s.Head = append(s.Head, render.Line{Text: "- " + text})
	}
	s.Nested = func(e *encode.Encoder, i int) { writeNodeParts(e, nodes[i].node) }
	s.About = func(e *encode.Encoder) { writeNodesHead(e, n) }
	rows := partRows(asked.Rows)
	s.Flat = render.ForScripts(len(rows), len(rows), partRowFields(rows))
	return s
}

// nodeItem is a process in its role.
type nodeItem struct {
	role *report.RoleShares
	node *report.NodeShares
}

// How many classes of code, and activities, have a column.
const (
	mostClasses    = 5
	mostActivities = 4
)

// nodeTable is a line for each process, those of a role below each other.
func nodeTable(nodes []nodeItem) *table.Rows[nodeItem] {
	schema := table.Schema{Name: "processes", Singular: "process", Names: []string{"node"}, Sparse: true}
	var pictures []table.ColumnOf[nodeItem]
	percent := func(title string, priority int, text func(x *report.NodeShares) string) {
		name := strings.ReplaceAll(strings.ToLower(title), " ", "_")
		if slices.Contains(schema.Order, name) { // as what of it is a class, and what an activity
			name += "_activity"
		}
		schema.Order = append(schema.Order, name)
		pictures = append(pictures, table.Picture(name, title, priority, func(x nodeItem) string { return text(x.node) }))
	}
	schema.Order = []string{"node", "load", "cores_busy", "others_cores_busy", "total", "samples"}
	classes := largestParts(nodes, func(x *report.NodeShares) []report.Part { return x.Classes })
	for i, class := range classes[:min(mostClasses, len(classes))] {
		percent(partTitle(class), 2+i, func(x *report.NodeShares) string { return partOf(x.Classes, class) })
	}
	activities := slices.DeleteFunc(largestParts(nodes, func(x *report.NodeShares) []report.Part { return x.Activities }), func(name string) bool {
		return slices.Contains(classes, name) // garbage collection is both
	})
	for i, activity := range activities[:min(mostActivities, len(activities))] {
		percent(partTitle(activity), 3+i, func(x *report.NodeShares) string { return partOf(x.Activities, activity) })
	}
	if slices.ContainsFunc(nodes, func(x nodeItem) bool { return x.node.BruteForce.Knowhere.Value > 0 }) {
		percent("BRUTE FORCE", 1, bruteText)
	}
	return table.New(schema, nodes, append(nodeColumns(), pictures...))
}

func bruteText(x *report.NodeShares) string {
	if !x.BruteForce.Known {
		return words.UnknownMark
	}
	return percentOf(x.BruteForce.Part.Part)
}

// largestParts are the names of parts that any node has, those first on which most is spent.
func largestParts(nodes []nodeItem, of func(*report.NodeShares) []report.Part) []string {
	sums := map[string]int64{}
	for _, x := range nodes {
		for _, p := range of(x.node) {
			if p.Value > 0 {
				sums[p.Name] += p.Value
			}
		}
	}
	return slices.SortedFunc(maps.Keys(sums), func(a, b string) int {
		return cmp.Or(cmp.Compare(sums[b], sums[a]), strings.Compare(a, b))
	})
}

// partTitle heads a column: of native code the library says enough.
func partTitle(name string) string {
	return strings.ToUpper(strings.TrimPrefix(name, "native "))
}

func partOf(parts []report.Part, name string) string {
	for i := range parts {
		if parts[i].Name == name {
			return percentOf(parts[i].Part)
		}
	}
	return "0%"
}

func percentOf(part float64) string { return PercentText(100 * part) }

func coresText(cores float64) string {
	if math.IsNaN(cores) {
		return words.UnknownMark
	}
	return render.Ratio(cores)
}

func loadText(l report.Load) string {
	if l == report.LoadUnknown {
		return words.UnknownMark
	}
	return l.String()
}

func loadRole(l report.Load) render.Role {
	switch l {
	case report.LoadIdle, report.LoadLow, report.LoadHigh:
		return render.RoleWarn
	case report.LoadUnknown, report.LoadEven:
	}
	return render.RolePlain
}

// differencePart lists in what the nodes of a role differ.
func differencePart(r *report.RoleShares, o *render.ReportOptions) render.Part {
	n := o.Shown(len(r.Differences))
	column := func(title string, text func(d *report.Difference) string) table.ColumnOf[int] {
		return table.ColumnOf[int]{Column: table.Column{Title: title, Right: true}, Shown: func(i int) string { return text(&r.Differences[i]) }, Role: func(i int) render.Role {
			_, role := Verdict(r.Differences[i].Verdict, o.ASCII)
			return role
		}}
	}
	columns := []table.ColumnOf[int]{
		column("", func(d *report.Difference) string {
			mark, _ := Verdict(d.Verdict, o.ASCII)
			return mark
		}),
		column("NODE", func(d *report.Difference) string { return render.OrUnknown(d.Node) }),
		column("HERE", func(d *report.Difference) string { return percentOf(d.Here.Part) }),
		column("BETWEEN", func(d *report.Difference) string { return percentOf(d.Here.Low) + " and " + percentOf(d.Here.High) }),
		column("OTHERS", func(d *report.Difference) string { return percentOf(d.Others.Part) }),
		column("P", func(d *report.Difference) string { return render.ChanceText(d.P) }),
		column("OF", func(d *report.Difference) string { return d.Kind }),
		column("", func(d *report.Difference) string { return d.Name }),
	}
	columns[1].Right, columns[6].Right = false, false
	columns[3].Priority, columns[5].Priority, columns[6].Priority = 3, 2, 1
	columns[7].Right, columns[7].Shorten, columns[7].Role = false, true, nil
	part := render.Part{Head: []render.Line{{Role: render.RoleAccent, Text: render.OrUnknown(r.Role) + ": what differs"}}, List: render.Places(n, columns)}
	for _, l := range o.More(len(r.Differences)) {
		part.Head[0].After = append(part.Head[0].After, render.Piece{Role: render.RoleDim, Text: "  " + l.Text})
	}
	return part
}

func writeNodesHead(e *encode.Encoder, n *report.Nodes) {
	e.Entry("type", n.Type.Type)
	e.Entry("unit", n.Type.Unit)
	e.Entry("level", encode.Exact(n.Level))
	e.Entry("effect_percent", 100*n.Effect)
	e.Entry("remarks", n.Remarks())
	e.Key("differences")
	e.BeginList()
	for i := range n.Roles {
		for j := range n.Roles[i].Differences {
			writeDifference(e, n.Roles[i].Role, &n.Roles[i].Differences[j])
		}
	}
	e.EndList()
}

func writeDifference(e *encode.Encoder, role string, d *report.Difference) {
	e.BeginObject()
	for _, x := range [][2]string{{"role", role}, {"node", d.Node}, {"what", d.Kind}, {"name", d.Name}, {"verdict", d.Verdict.String()}} {
		e.Entry(x[0], x[1])
	}
	e.Key("here")
	writePart(e, &d.Here)
	e.Key("others")
	writePart(e, &d.Others)
	e.Entry("p", encode.Exact(d.P))
	e.EndObject()
}

// writePart writes a part of a node's samples, as far as it is known.
func writePart(e *encode.Encoder, p *report.Part) {
	e.BeginObject()
	e.NonZero("name", p.Name)
	e.Entry("value", p.Value)
	if p.Events >= 0 {
		e.Entry("samples", p.Events)
	}
	e.Entry("percent", 100*p.Part)
	e.Entry("percent_low", 100*p.Low)
	e.Entry("percent_high", 100*p.High)
	e.EndObject()
}

func nodeColumns() []table.ColumnOf[nodeItem] {
	text := render.TextKey[nodeItem]
	number := func(name, title string, of func(x nodeItem) float64) table.ColumnOf[nodeItem] {
		return render.Key(name, table.Number, func(x nodeItem) table.Cell { return table.OfFloat(of(x)) }).Titled(title, 0, func(x nodeItem) string { return coresText(of(x)) })
	}
	node := text("node", func(x nodeItem) string { return x.node.Node }).Titled("NODE", 0, func(x nodeItem) string { return render.OrUnknown(x.node.Node) })
	node.Shorten = true
	return []table.ColumnOf[nodeItem]{
		text("role", func(x nodeItem) string { return x.role.Role }).Word(),
		node,
		text("location", func(x nodeItem) string { return originName(&x.node.Origin) }),
		text("load", func(x nodeItem) string { return x.node.Load.String() }).Titled("LOAD", 0, func(x nodeItem) string { return loadText(x.node.Load) }).
			Looking(func(x nodeItem) render.Role { return loadRole(x.node.Load) }).Word(),
		number("cores_busy", "CORES", func(x nodeItem) float64 { return x.node.Cores }),
		number("others_cores_busy", "OTHERS", func(x nodeItem) float64 { return x.node.Others }).Wider(),
		render.Key("load_p", table.Exact, func(x nodeItem) table.Cell { return table.OfFloat(x.node.LoadP) }),
		render.Key("total", table.Int, func(x nodeItem) table.Cell { return table.OfInt(x.node.Total) }).
			Titled("TOTAL", 0, func(x nodeItem) string { return Scaled(x.node.Total, x.node.Type.Unit) }).Wider(),
		render.Key("samples", table.Int, func(x nodeItem) table.Cell { return table.OfCount(x.node.Samples) }).
			Titled("SAMPLES", 1, func(x nodeItem) string { return render.EventCount(x.node.Samples) }),
		render.Key("time", table.Time, func(x nodeItem) table.Cell { return table.OfTime(x.node.Time) }),
		render.Key("duration_seconds", table.Duration, func(x nodeItem) table.Cell {
			if x.node.Duration <= 0 {
				return table.OfUnknown()
			}
			return table.Cell{Int: int64(x.node.Duration)}
		}),
	}
}

func writeNodeParts(e *encode.Encoder, x *report.NodeShares) {
	for _, l := range []struct {
		key   string
		parts []report.Part
	}{{"classes", x.Classes}, {"activities", x.Activities}} {
		e.Key(l.key)
		e.BeginList()
		for i := range l.parts {
			writePart(e, &l.parts[i])
		}
		e.EndList()
	}
	b := &x.BruteForce
	e.Key("brute_force")
	e.BeginObject()
	e.Entry("known", b.Known)
	if b.Known {
		e.Key("share")
		writePart(e, &b.Part)
	} else {
		e.Entry("why", b.Why)
	}
	e.Key("openmp")
	writePart(e, &b.Exhaustive)
	e.Key("knowhere")
	writePart(e, &b.Knowhere)
	e.Entry("named_percent", 100*b.Named)
	e.EndObject()
}

// partRow is a line of CSV: one part of one node.
type partRow struct {
	nodeItem
	what string
	part *report.Part
}

func partRows(nodes []nodeItem) []partRow {
	var rows []partRow
	for _, x := range nodes {
		for i := range x.node.Classes {
			rows = append(rows, partRow{x, "class", &x.node.Classes[i]})
		}
		for i := range x.node.Activities {
			rows = append(rows, partRow{x, "activity", &x.node.Activities[i]})
		}
	}
	return rows
}

func partRowFields(rows []partRow) []table.ColumnOf[int] {
	fields := table.Through(slices.DeleteFunc(nodeColumns(), func(c table.ColumnOf[nodeItem]) bool {
		return !slices.Contains([]string{"role", "node", "load", "cores_busy"}, c.Name)
	}), func(i int) nodeItem { return rows[i].nodeItem })
	field := func(name string, kind table.Kind, of func(r *partRow) table.Cell) {
		fields = append(fields, render.Key(name, kind, func(i int) table.Cell { return of(&rows[i]) }))
	}
	percent := func(part float64) table.Cell {
		if math.IsNaN(part) {
			return table.OfUnknown()
		}
		return table.OfFloat(100 * part)
	}
	field("what", table.Text, func(r *partRow) table.Cell { return table.Of(r.what) })
	field("name", table.Text, func(r *partRow) table.Cell { return table.Of(r.part.Name) })
	field("value", table.Int, func(r *partRow) table.Cell { return table.OfInt(r.part.Value) })
	field("samples", table.Int, func(r *partRow) table.Cell { return table.OfCount(r.part.Events) })
	field("percent", table.Number, func(r *partRow) table.Cell { return percent(r.part.Part) })
	field("percent_low", table.Number, func(r *partRow) table.Cell { return percent(r.part.Low) })
	field("percent_high", table.Number, func(r *partRow) table.Cell { return percent(r.part.High) })
	return fields
}
