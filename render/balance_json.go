package render

import (
	"io"

	"kitescope/inspect/balance"
	"kitescope/internal/encode"
	"kitescope/internal/table"
)

// sheet is what is not drawn: a replica an item, and a line for each replica and node in tables.
func (b *Balance) sheet(o *ReportOptions, own map[string]func(io.Writer) error) *Sheet {
	var rows []shareRow
	for _, g := range b.Report.Groups {
		for _, x := range g.Shares {
			rows = append(rows, shareRow{x, g})
		}
	}
	shares := newShareTable(b, rows, &o.Options)
	shares.perGroup()
	origin := &b.Env.Cluster.Origin
	s := &Sheet{
		Options: o, Head: []Line{{Text: "balance of " + Harmless(origin.Root) + " @ " + Harmless(origin.Location)}},
		Whole: b.document, Open: 2, Own: own,
		Items: ForScripts(len(b.Report.Groups), len(b.Report.Groups), nil), Nested: b.item,
		Flat: table.All(shares, table.OnDemand), Parts: []Part{{List: func(show table.Show) *table.Grid { return table.All(shares, show) }}},
	}
	if len(rows) == 0 {
		s.Flat = &table.Grid{Table: shares}
	}
	if o.Asks() {
		asked := Ask(o, shareList(b, rows, &o.Options), nil)
		s.Kind, s.Items, s.Nested, s.Flat = "BalanceShares", asked.Items, nil, nil
		s.About = func(e *encode.Encoder) { writeSource(e, origin, b.Env.Cluster.Gaps) }
		s.Parts, s.Foot = []Part{asked.List("which node serves what is unknown")}, asked.More(o)
		if len(b.Report.Survey.Unknown) > 0 {
			s.Foot = append(s.Foot, Line{Role: RoleWarn, Text: "unknown, not included: " + unknownNames(b.Report.Survey.Unknown)})
		}
	}
	return s
}

func (b *Balance) document(e *encode.Encoder) {
	r := b.Report
	s := r.Survey
	e.BeginObject()
	writeHead(e, "Balance", &b.Env.Cluster.Origin, b.Env.Cluster.Gaps)
	e.Entry("asked", s.Asked)
	writeAuto(e, &s.Auto)
	e.Entry("weights", s.Weights)
	e.Entry("goal", r.Options.Goal)
	e.Entry("by", r.Options.By.String())
	e.Key("unknown_nodes")
	e.BeginList()
	for _, n := range s.Unknown {
		e.BeginObject()
		e.Entry("node", encode.ID(n.Node))
		e.Entry("reason", n.Outcome.String())
		e.EndObject()
	}
	e.EndList()
	e.Key("spread")
	writeSpread(e, &s.Spread)
	if r.Plans != nil {
		e.Key("spread_after")
		writeSpread(e, &r.After)
	}
	e.Key("nodes")
	b.shares(e, s.Nodes, nil)
	e.Key("items")
	e.BeginList()
	for i := range r.Groups {
		e.BeginObject()
		b.item(e, i)
		e.EndObject()
	}
	e.EndList()
	e.EndObject()
}

func writeAuto(e *encode.Encoder, a *balance.Auto) {
	e.Key("auto_balance")
	e.BeginObject()
	e.Entry("known", a.Known)
	if a.Known {
		e.Entry("on", a.On)
	}
	e.Entry("value", a.Value)
	e.Entry("from", a.From)
	e.Entry("dynamic_key", a.Key)
	e.EndObject()
}

func writeSpread(e *encode.Encoder, s *balance.Spread) {
	e.BeginObject()
	e.Entry("nodes", s.Nodes)
	for _, x := range []struct {
		name  string
		value float64
	}{
		{"max_mean", s.MaxMean}, {"cv", s.CV}, {"busiest_percent", 100 * s.Busiest}, {"rows_max_mean", s.RowsMaxMean}, {"rows_cv", s.RowsCV}, {"memory_max_mean", s.MemoryMaxMean},
	} {
		// Where there are rows, and they cost nothing, it is unknown what they do.
		if x.value > 0 || s.Nodes > 1 && x.name != "memory_max_mean" && s.RowsMaxMean == 0 {
			e.Entry(x.name, x.value)
		}
	}
	e.EndObject()
}

// shares writes what nodes serve of a replica, or of all.
func (b *Balance) shares(e *encode.Encoder, list []*balance.Share, g *balance.Group) {
	rows := make([]shareRow, len(list))
	for i, x := range list {
		rows[i] = shareRow{x, g}
	}
	t := newShareTable(b, rows, &Options{})
	e.BeginList()
	for i := range rows {
		e.BeginObject()
		e.NonZero("unknown", writeFieldsInto(e, t.fields(i, table.Hidden)))
		e.EndObject()
	}
	e.EndList()
}

func (b *Balance) item(e *encode.Encoder, i int) {
	g := b.Report.Groups[i]
	name, replica := "", ""
	if g.Collection != nil {
		name = g.Collection.Name
	}
	if g.Replica != nil {
		replica = g.Replica.ID.String()
	}
	e.Entry("database", g.Database)
	e.Entry("collection", name)
	e.Entry("collection_id", g.ID.String())
	e.Entry("replica_id", replica)
	e.Entry("resource_group", g.ResourceGroup)
	if b.Report.Survey.Asked {
		e.Entry("sealed_segments", g.Sealed)
	}
	e.Entry("unknown_nodes", g.Unknown)
	e.Key("spread")
	writeSpread(e, &g.Spread)
	e.Key("shares")
	b.shares(e, g.Shares, g)
	if b.Report.Plans != nil {
		writePlan(e, b.Report.Plans[i], b.databases())
	}
	writeVerdict(e, b.Report.Verdicts[i])
}

func writePlan(e *encode.Encoder, p *balance.Plan, databases bool) {
	e.Key("plan")
	e.BeginObject()
	e.Entry("reached", p.Reached)
	e.Entry("why", p.Why)
	e.Entry("fewest", p.Fewest())
	e.Entry("at_least", p.AtLeast)
	e.Key("spread_after")
	writeSpread(e, &p.After)
	e.Entry("moves", p.Moves)
	e.Entry("channel_moves", p.Channels)
	e.Entry("calls", PlanScript(p, databases))
	ids := make([]string, len(p.MemoryUnknown))
	for i, id := range p.MemoryUnknown {
		ids[i] = id.String()
	}
	e.Entry("memory_unknown", ids)
	e.EndObject()
}

func writeVerdict(e *encode.Encoder, v *balance.Verdict) {
	e.Key("milvus")
	e.BeginObject()
	e.Entry("balancer", v.Balancer)
	e.Entry("balancer_from", v.BalancerFrom)
	e.Entry("modelled", v.Modelled)
	e.Entry("acts", v.Acts)
	e.Entry("why", v.Why)
	if v.Modelled {
		e.Entry("moves_at_once", v.Round)
		e.Entry("moves", v.Moves)
		e.Key("spread_after")
		writeSpread(e, &v.After)
	}
	e.Entry("scores", v.Scores)
	e.Entry("factors", v.Factors)
	e.EndObject()
}
