package profiles

import (
	"io"
	"math"
	"time"

	"kitescope/doc"
	"kitescope/profile"
	"kitescope/profile/report"
	"kitescope/render"
	"kitescope/table"
	"kitescope/words"
)

// WriteTrend writes how shares move over a rolling record.
func WriteTrend(w io.Writer, t *report.Trend, f render.Format, o render.ReportOptions) error {
	return newTrendSheet(t, &o).Write(w, f)
}

func newTrendSheet(t *report.Trend, o *render.ReportOptions) *render.Sheet {
	share := "flat"
	if t.Cum {
		share = "cum"
	}
	s := &render.Sheet{
		Kind: "ProfileTrend", Options: o,
		Head: []render.Line{{Role: render.RoleTitle, Text: typeText(t.Type) + ", " + share + " shares over time"}},
		Foot: []render.Line{{Role: render.RoleDim, Text: verdictLegend(o)}},
	}
	var movers []moverItem
	all := 0
	for i := range t.Nodes {
		n := &t.Nodes[i]
		shown := o.Shown(len(n.Movers))
		for j := range n.Movers[:shown] {
			movers = append(movers, moverItem{n, &n.Movers[j]})
		}
		all += len(n.Movers)
		s.Parts = append(s.Parts, trendPart(n, shown, o))
	}
	s.Items = render.ForScripts(len(movers), all, moverFields(movers))
	s.Nested = func(e *doc.Encoder, i int) { writeMoverParts(e, movers[i].mover) }
	s.About = func(e *doc.Encoder) {
		e.Entry("type", t.Type.Type)
		e.Entry("unit", t.Type.Unit)
		e.Entry("share", share)
		e.Entry("level", doc.Exact(t.Level))
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
		text += "; not all tell their time, so slopes are per profile"
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

func trendPart(n *report.NodeTrend, shown int, o *render.ReportOptions) render.Part {
	per := "PER HOUR"
	if !n.Timed {
		per = "PER PROFILE"
	}
	column := func(title string, priority int, text func(m *report.Mover) string) table.ColumnOf[int] {
		return table.ColumnOf[int]{Column: table.Column{Title: title, Right: true, Priority: priority}, Shown: func(i int) string { return text(&n.Movers[i]) }, Role: func(i int) render.Role {
			_, role := Verdict(n.Movers[i].Verdict, o.ASCII)
			return role
		}}
	}
	columns := []table.ColumnOf[int]{
		column("", 0, func(m *report.Mover) string {
			mark, _ := Verdict(m.Verdict, o.ASCII)
			return mark
		}),
		column("CHANGE", 0, func(m *report.Mover) string { return SignedPercent(100 * m.Change) }),
		column(per, 3, func(m *report.Mover) string { return SignedPercent(100 * m.Slope) }),
		column("P", 2, func(m *report.Mover) string { return render.ChanceText(m.P) }),
		column("FIRST", 1, func(m *report.Mover) string { return edgePart(m, 0) }),
		column("LAST", 1, func(m *report.Mover) string { return edgePart(m, len(m.Parts)-1) }),
		column("", 1, func(m *report.Mover) string { return moverSpark(m, o) }),
		column("CLASS", 0, func(m *report.Mover) string { return m.Class.String() }),
		column(byTitle(o), 0, func(m *report.Mover) string { return render.Harmless(m.Function) }),
	}
	columns[7].Show, columns[7].Right = table.Wide, false
	name := &columns[8]
	name.Right, name.Shorten = false, true
	name.Role = func(i int) render.Role { return dimNoise(n.Movers[i].Verdict) }
	head := render.Line{Role: render.RoleAccent, Text: render.OrUnknown(n.Node), After: []render.Piece{{Role: render.RolePlain, Text: "  " + recordText(n)}}}
	for _, l := range o.More(len(n.Movers)) {
		head.After = append(head.After, render.Piece{Role: render.RoleDim, Text: "  " + l.Text})
	}
	return render.Part{Head: []render.Line{head}, List: render.Places(shown, columns)}
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

func moverFields(list []moverItem) []table.ColumnOf[int] {
	field := func(name string, kind table.Kind, of func(x moverItem) table.Cell) table.ColumnOf[int] {
		return render.Key(name, kind, func(i int) table.Cell { return of(list[i]) })
	}
	percent := func(part float64) table.Cell {
		if math.IsNaN(part) {
			return table.OfUnknown()
		}
		return table.OfFloat(100 * part)
	}
	edge := func(m *report.Mover, i int) table.Cell {
		if i < 0 || i >= len(m.Parts) {
			return table.OfUnknown()
		}
		return percent(m.Parts[i].Part)
	}
	return []table.ColumnOf[int]{
		field("node", table.Text, func(x moverItem) table.Cell { return table.Of(x.node.Node) }),
		field("function", table.Text, func(x moverItem) table.Cell { return table.Of(x.mover.Function) }),
		field("class", table.Text, func(x moverItem) table.Cell { return table.Of(x.mover.Class.String()) }),
		field("verdict", table.Text, func(x moverItem) table.Cell { return table.Of(x.mover.Verdict.String()) }),
		field("change_percent", table.Number, func(x moverItem) table.Cell { return percent(x.mover.Change) }),
		field("slope_percent", table.Number, func(x moverItem) table.Cell { return percent(x.mover.Slope) }),
		field("slope_per", table.Text, func(x moverItem) table.Cell {
			return table.Of([]string{"profile", "hour"}[render.BoolInt(x.node.Timed)])
		}),
		field("p", table.Exact, func(x moverItem) table.Cell { return table.OfFloat(x.mover.P) }),
		field("first_percent", table.Number, func(x moverItem) table.Cell { return edge(x.mover, 0) }),
		field("last_percent", table.Number, func(x moverItem) table.Cell { return edge(x.mover, len(x.mover.Parts)-1) }),
	}
}

func writeMoverParts(e *doc.Encoder, m *report.Mover) {
	e.Key("parts")
	e.BeginList()
	for i := range m.Parts {
		p := m.Parts[i]
		p.Name = ""
		writePart(e, &p)
	}
	e.EndList()
}

func writeTrendNodes(e *doc.Encoder, t *report.Trend) {
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
