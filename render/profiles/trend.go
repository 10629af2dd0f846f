package profiles

import (
	"io"
	"math"
	"time"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/profile"
	"kitescope/profile/report"
	"kitescope/render"
)

// WriteTrend writes how shares move over a rolling record.
func WriteTrend(w io.Writer, t *report.Trend, f render.Format, o render.ReportOptions) error {
	return newTrendSheet(t, &o).Write(w, f)
}

// TrendSchema is what can be asked of the entries that WriteTrend writes.
func TrendSchema(o render.ReportOptions) *table.Schema {
	return moverTable(&report.Trend{}, "PER HOUR", &o).Schema()
}

func newTrendSheet(t *report.Trend, o *render.ReportOptions) *render.Sheet {
	asked := render.Ask(o, moverTable(t, "PER HOUR", o), func(x moverItem) any { return x.node })
	share := "flat"
	if t.Cum {
		share = "cum"
	}
	s := &render.Sheet{
		Kind: "ProfileTrend", Options: o,
		Head: []render.Line{{Role: render.RoleTitle, Text: typeText(t.Type) + ", " + share + " shares over time"}},
		Foot: []render.Line{{Role: render.RoleDim, Text: verdictLegend(o)}},
	}
	for i := range t.Nodes {
		s.Parts = append(s.Parts, trendPart(t, &t.Nodes[i], asked, o))
	}
	s.Items = asked.Items
	s.Nested = func(e *encode.Encoder, row int) {
		writeMoverParts(e, asked.Items.Table.(*table.Rows[moverItem]).At(row).mover)
	}
	s.About = func(e *encode.Encoder) {
		e.Entry("type", t.Type.Type)
		e.Entry("unit", t.Type.Unit)
		e.Entry("share", share)
		e.Entry("level", encode.Exact(t.Level))
		writeBy(e, o)
		writeTrendNodes(e, t)
	}
	return s
}

// moverItem is an entry of a node's record.
type moverItem struct {
	node  *report.NodeTrend
	mover *report.Mover
}

// recordText says of what a record is: "12 profiles, 2026-11-20T08:00:00Z to 10:00:00Z, cores busy 0.31 to 0.88".
func recordText(n *report.NodeTrend) string {
	text := words.Plural(len(n.Points), "profile")
	if len(n.Points) == 0 {
		return text
	}
	first, last := &n.Points[0], &n.Points[len(n.Points)-1]
	if !first.Time.IsZero() && !last.Time.IsZero() {
		text += ", " + first.Time.UTC().Format(time.RFC3339) + " to " + last.Time.UTC().Format(time.RFC3339)
	}
	least, most := math.NaN(), math.NaN()
	for _, p := range n.Points {
		if !math.IsNaN(p.Cores) {
			least, most = fmin(least, p.Cores), fmax(most, p.Cores)
		}
	}
	if !math.IsNaN(least) {
		text += ", cores busy " + render.Ratio(least) + " to " + render.Ratio(most)
	}
	if !n.Timed {
		text += "; some have no time, so slopes are per profile"
	}
	return text
}

// fmin and fmax ignore what is no number.
func fmin(a, b float64) float64 {
	if math.IsNaN(a) || b < a {
		return b
	}
	return a
}

func fmax(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}

func trendPart(t *report.Trend, n *report.NodeTrend, asked *render.Asked[moverItem], o *render.ReportOptions) render.Part {
	head := render.Line{Role: render.RoleAccent, Text: render.OrUnknown(n.Node), After: []render.Piece{{Role: render.RolePlain, Text: "  " + recordText(n)}}}
	for _, l := range o.Rest(asked.Left[n]) {
		head.After = append(head.After, render.Piece{Role: render.RoleDim, Text: "  " + l.Text})
	}
	own := asked.Part(func(x moverItem) bool { return x.node == n })
	return render.Part{Head: []render.Line{head}, List: func(show table.Show) *table.Grid {
		g := own(show)
		if !n.Timed {
			g.Table = moverTable(t, "PER PROFILE", o)
		}
		return g
	}}
}

// moverTable are the entries of all nodes, with what slopes are per.
func moverTable(t *report.Trend, per string, o *render.ReportOptions) *table.Rows[moverItem] {
	var rows []moverItem
	for i := range t.Nodes {
		n := &t.Nodes[i]
		for j := range n.Movers {
			rows = append(rows, moverItem{n, &n.Movers[j]})
		}
	}
	return table.New(table.Schema{
		Name: "entries", Singular: "entry", Names: []string{"function"}, Sparse: true,
		Order: []string{"mark", "change_percent", "slope_percent", "p", "first_percent", "last_percent", "shares", "class", "function"},
	}, rows, moverColumns(per, o))
}

func dimNoise(v report.Verdict) render.Role {
	if v == report.Noise {
		return render.RoleDim
	}
	return render.RolePlain
}

func edgePart(m *report.Mover, i int) string {
	if i < 0 || i >= len(m.Parts) {
		return words.UnknownMark
	}
	return percentOf(m.Parts[i].Part)
}

// mostSpark is how wide the little curve of a share gets.
const mostSpark = 24

func moverSpark(m *report.Mover, o *render.ReportOptions) string {
	values := make([]float64, len(m.Parts))
	top := 0.0
	for i := range m.Parts {
		values[i] = m.Parts[i].Part
		top = fmax(values[i], top)
	}
	return render.Sparkline(render.Resample(values, mostSpark), top, o.ASCII)
}

func moverColumns(per string, o *render.ReportOptions) []table.ColumnOf[moverItem] {
	percent := func(part float64) table.Cell {
		if math.IsNaN(part) {
			return table.OfUnknown()
		}
		return table.OfFloat(100 * part)
	}
	look := func(x moverItem) render.Role {
		_, role := Verdict(x.mover.Verdict, o.ASCII)
		return role
	}
	part := func(name string, of func(x moverItem) float64) table.ColumnOf[moverItem] {
		return render.Key(name, table.Number, func(x moverItem) table.Cell { return percent(of(x)) })
	}
	edge := func(name, title string, at func(m *report.Mover) int) table.ColumnOf[moverItem] {
		return render.Key(name, table.Number, func(x moverItem) table.Cell {
			if i := at(x.mover); i >= 0 && i < len(x.mover.Parts) {
				return percent(x.mover.Parts[i].Part)
			}
			return table.OfUnknown()
		}).Titled(title, 1, func(x moverItem) string { return edgePart(x.mover, at(x.mover)) }).Looking(look)
	}
	class := func(x moverItem) string { return x.mover.Class.String() }
	function := render.TextKey("function", func(x moverItem) string { return x.mover.Function }).
		Titled(byTitle(o), 0, func(x moverItem) string { return x.mover.Function }).
		Looking(func(x moverItem) render.Role { return dimNoise(x.mover.Verdict) })
	function.Shorten = true
	return []table.ColumnOf[moverItem]{
		render.TextKey("node", func(x moverItem) string { return x.node.Node }),
		function,
		render.TextKey("class", class).Titled("CLASS", 0, class).Looking(look).Wider().Word(),
		render.TextKey("verdict", func(x moverItem) string { return x.mover.Verdict.String() }).Word(),
		part("change_percent", func(x moverItem) float64 { return x.mover.Change }).Titled("CHANGE", 0, func(x moverItem) string { return SignedPercent(100 * x.mover.Change) }).Looking(look),
		part("slope_percent", func(x moverItem) float64 { return x.mover.Slope }).Titled(per, 3, func(x moverItem) string { return SignedPercent(100 * x.mover.Slope) }).Looking(look),
		render.TextKey("slope_per", func(x moverItem) string { return []string{"profile", "hour"}[render.BoolInt(x.node.Timed)] }).Word(),
		render.Key("p", table.Exact, func(x moverItem) table.Cell { return table.OfFloat(x.mover.P) }).Titled("P", 2, func(x moverItem) string { return render.ChanceText(x.mover.P) }).Looking(look),
		edge("first_percent", "FIRST", func(*report.Mover) int { return 0 }),
		edge("last_percent", "LAST", func(m *report.Mover) int { return len(m.Parts) - 1 }),
		table.Picture("mark", "", 0, func(x moverItem) string {
			mark, _ := Verdict(x.mover.Verdict, o.ASCII)
			return mark
		}).Looking(look),
		table.Picture("shares", "", 1, func(x moverItem) string { return moverSpark(x.mover, o) }).Looking(look),
	}
}

func writeMoverParts(e *encode.Encoder, m *report.Mover) {
	e.Key("parts")
	e.BeginList()
	for i := range m.Parts {
		p := m.Parts[i]
		p.Name = ""
		writePart(e, &p)
	}
	e.EndList()
}

func writeTrendNodes(e *encode.Encoder, t *report.Trend) {
	e.Key("records")
	e.BeginList()
	for i := range t.Nodes {
		n := &t.Nodes[i]
		e.BeginObject()
		e.Entry("node", n.Node)
		e.Key("points")
		e.BeginList()
		for j := range n.Points {
			p := &n.Points[j]
			e.BeginObject()
			writeProfileHead(e, &report.Header{
				Origin: profile.Origin{Name: p.Origin.Name, Format: p.Origin.Format}, Type: p.Type, Total: p.Total, Samples: p.Samples, Time: p.Time, Duration: p.Duration,
			})
			e.EndObject()
		}
		e.EndList()
		e.EndObject()
	}
	e.EndList()
}
