package render

import (
	"io"

	"kitescope/doc"
	"kitescope/inspect/balance"
	"kitescope/table"
)

func writeBalanceJSON(w io.Writer, b *Balance, _ *Options) error {
	e := doc.JSON(w, 2)
	b.document(e)
	return e.Flush()
}

func writeBalanceYAML(w io.Writer, b *Balance, _ *Options) error {
	e := doc.YAML(w)
	b.document(e)
	return e.Flush()
}

// writeBalanceLines writes one replica a line.
func writeBalanceLines(w io.Writer, b *Balance, _ *Options) error {
	e := doc.JSON(w, 0)
	for i := range b.Report.Groups {
		b.item(e, i)
		e.Line()
	}
	return e.Flush()
}

// writeBalanceCSV writes one replica and node a line.
func writeBalanceCSV(w io.Writer, b *Balance, o *Options) error {
	out := doc.NewOutput(w, doc.Pieces)
	var rows []shareRow
	for _, g := range b.Report.Groups {
		for _, x := range g.Shares {
			rows = append(rows, shareRow{x, g})
		}
	}
	t := newShareTable(b, rows, o)
	t.perGroup()
	for i := range rows {
		fields := t.fields(i, table.OnDemand)
		for j := range fields {
			if i == 0 && !o.NoHeader {
				out.Buf = append(out.Buf, fields[j].Column.Name...)
				out.Buf = append(out.Buf, ",\n"[BoolInt(j == len(fields)-1)])
			}
		}
		for j := range fields {
			out.Buf = appendField(out.Buf, appendValue(nil, fields[j].Cell, fields[j].Column.Kind))
			out.Buf = append(out.Buf, ",\n"[BoolInt(j == len(fields)-1)])
		}
		out.Drain()
	}
	return out.Flush()
}

func (b *Balance) document(e *doc.Encoder) {
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
		e.Entry("node", doc.ID(n.Node))
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
		b.item(e, i)
	}
	e.EndList()
	e.EndObject()
}

func writeAuto(e *doc.Encoder, a *balance.Auto) {
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

func writeSpread(e *doc.Encoder, s *balance.Spread) {
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
func (b *Balance) shares(e *doc.Encoder, list []*balance.Share, g *balance.Group) {
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

func (b *Balance) item(e *doc.Encoder, i int) {
	g := b.Report.Groups[i]
	e.BeginObject()
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
	e.EndObject()
}

func writePlan(e *doc.Encoder, p *balance.Plan, databases bool) {
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

func writeVerdict(e *doc.Encoder, v *balance.Verdict) {
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
