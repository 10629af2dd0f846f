package render

import (
	"io"

	"kitescope/inspect/balance"
	"kitescope/inspect/model"
	"kitescope/table"
)

func writeBalanceJSON(w io.Writer, b *Balance, _ *Options) error {
	e := newJSON(w, 2)
	b.document(e)
	return e.flush()
}

func writeBalanceYAML(w io.Writer, b *Balance, _ *Options) error {
	e := newYAML(w)
	b.document(e)
	return e.flush()
}

// writeBalanceLines writes one replica a line.
func writeBalanceLines(w io.Writer, b *Balance, _ *Options) error {
	e := newJSON(w, 0)
	for i := range b.Report.Groups {
		b.item(e, i)
		e.line()
	}
	return e.output.flush()
}

// writeBalanceCSV writes one replica and node a line.
func writeBalanceCSV(w io.Writer, b *Balance, o *Options) error {
	out := newOutput(w)
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
				out.buf = append(out.buf, fields[j].Column.Name...)
				out.buf = append(out.buf, ",\n"[b2i(j == len(fields)-1)])
			}
		}
		for j := range fields {
			out.buf = appendField(out.buf, appendValue(nil, fields[j].Cell, fields[j].Column.Kind))
			out.buf = append(out.buf, ",\n"[b2i(j == len(fields)-1)])
		}
		out.drain()
	}
	return out.flush()
}

func (b *Balance) document(e encoder) {
	r := b.Report
	s := r.Survey
	e.beginObject()
	writeHead(e, "Balance", &b.Env.Cluster.Origin, b.Env.Cluster.Gaps)
	e.key("asked")
	e.boolean(s.Asked)
	writeAuto(e, &s.Auto)
	e.key("weights")
	writeWeights(e, &s.Weights)
	e.key("goal")
	e.number(r.Options.Goal)
	e.key("by")
	e.text(r.Options.By.String())
	e.key("unknown_nodes")
	e.beginList()
	for _, n := range s.Unknown {
		e.beginObject()
		e.key("node")
		e.id(int64(n.Node))
		e.key("reason")
		e.text(n.Outcome.String())
		e.endObject()
	}
	e.endList()
	e.key("spread")
	writeSpread(e, &s.Spread)
	if r.Plans != nil {
		e.key("spread_after")
		writeSpread(e, &r.After)
	}
	e.key("nodes")
	b.shares(e, s.Nodes, nil)
	e.key("items")
	e.beginList()
	for i := range r.Groups {
		b.item(e, i)
	}
	e.endList()
	e.endObject()
}

func writeAuto(e encoder, a *balance.Auto) {
	e.key("auto_balance")
	e.beginObject()
	e.key("known")
	e.boolean(a.Known)
	if a.Known {
		e.key("on")
		e.boolean(a.On)
	}
	for _, x := range [][2]string{{"value", a.Value}, {"from", a.From}, {"dynamic_key", a.Key}} {
		e.key(x[0])
		e.text(x[1])
	}
	e.endObject()
}

func writeWeights(e encoder, w *balance.Weights) {
	e.beginObject()
	for _, x := range []struct {
		name  string
		value float64
	}{
		{"brute_force", w.Brute},
		{"graph_rows", w.GraphRows},
		{"ef", w.EF},
		{"nprobe", w.Probes},
		{"sparse_share", w.SparseShare},
		{"sparse_dimensions", w.SparseDim},
	} {
		e.key(x.name)
		e.number(x.value)
	}
	e.key("from")
	e.text(w.From)
	e.endObject()
}

func writeSpread(e encoder, s *balance.Spread) {
	e.beginObject()
	e.key("nodes")
	e.integer(int64(s.Nodes))
	for _, x := range []struct {
		name  string
		value float64
	}{
		{"max_mean", s.MaxMean}, {"cv", s.CV}, {"busiest_percent", 100 * s.Busiest}, {"rows_max_mean", s.RowsMaxMean}, {"rows_cv", s.RowsCV}, {"memory_max_mean", s.MemoryMaxMean},
	} {
		// Where there are rows, and they cost nothing, it is unknown what they do.
		if x.value > 0 || s.Nodes > 1 && x.name != "memory_max_mean" && s.RowsMaxMean == 0 {
			e.key(x.name)
			e.number(x.value)
		}
	}
	e.endObject()
}

// shares writes what nodes serve of a replica, or of all.
func (b *Balance) shares(e encoder, list []*balance.Share, g *balance.Group) {
	rows := make([]shareRow, len(list))
	for i, x := range list {
		rows[i] = shareRow{x, g}
	}
	t := newShareTable(b, rows, &Options{})
	e.beginList()
	for i := range rows {
		e.beginObject()
		writeNames(e, "unknown", writeFieldsInto(e, t.fields(i, table.Hidden)))
		e.endObject()
	}
	e.endList()
}

func (b *Balance) item(e encoder, i int) {
	g := b.Report.Groups[i]
	e.beginObject()
	name, replica := "", ""
	if g.Collection != nil {
		name = g.Collection.Name
	}
	if g.Replica != nil {
		replica = g.Replica.ID.String()
	}
	for _, x := range [][2]string{
		{"database", g.Database}, {"collection", name}, {"collection_id", g.ID.String()}, {"replica_id", replica}, {"resource_group", g.ResourceGroup},
	} {
		e.key(x[0])
		e.text(x[1])
	}
	if b.Report.Survey.Asked {
		e.key("sealed_segments")
		e.integer(int64(g.Sealed))
	}
	e.key("unknown_nodes")
	e.integer(int64(g.Unknown))
	e.key("spread")
	writeSpread(e, &g.Spread)
	e.key("shares")
	b.shares(e, g.Shares, g)
	if b.Report.Plans != nil {
		writePlan(e, b.Report.Plans[i], b.databases())
	}
	writeVerdict(e, b.Report.Verdicts[i])
	e.endObject()
}

func writePlan(e encoder, p *balance.Plan, databases bool) {
	e.key("plan")
	e.beginObject()
	e.key("reached")
	e.boolean(p.Reached)
	e.key("why")
	e.text(p.Why)
	e.key("fewest")
	e.boolean(p.Fewest())
	e.key("at_least")
	e.integer(int64(p.AtLeast))
	e.key("spread_after")
	writeSpread(e, &p.After)
	e.key("moves")
	e.beginList()
	for _, m := range p.Moves {
		writeMove(e, &m)
	}
	e.endList()
	e.key("channel_moves")
	e.beginList()
	for _, m := range p.Channels {
		e.beginObject()
		e.key("channel")
		e.text(m.Channel)
		e.key("growing_rows")
		e.integer(m.Rows)
		writeNodes(e, m.From, m.To)
		e.endObject()
	}
	e.endList()
	e.key("calls")
	e.texts(PlanScript(p, databases))
	ids := make([]string, len(p.MemoryUnknown))
	for i, id := range p.MemoryUnknown {
		ids[i] = id.String()
	}
	e.key("memory_unknown")
	e.texts(ids)
	e.endObject()
}

func writeMove(e encoder, m *balance.Move) {
	e.beginObject()
	e.key("segment")
	e.id(int64(m.Segment))
	e.key("rows")
	e.integer(m.Rows)
	e.key("size_bytes")
	e.integer(m.Size)
	writeNodes(e, m.From, m.To)
	e.endObject()
}

func writeNodes(e encoder, from, to model.NodeID) {
	e.key("from")
	e.id(int64(from))
	e.key("to")
	e.id(int64(to))
}

func writeVerdict(e encoder, v *balance.Verdict) {
	e.key("milvus")
	e.beginObject()
	for _, x := range [][2]string{{"balancer", v.Balancer}, {"balancer_from", v.BalancerFrom}} {
		e.key(x[0])
		e.text(x[1])
	}
	e.key("modelled")
	e.boolean(v.Modelled)
	e.key("acts")
	e.boolean(v.Acts)
	e.key("why")
	e.text(v.Why)
	if v.Modelled {
		e.key("moves_at_once")
		e.integer(int64(v.Round))
		e.key("moves")
		e.beginList()
		for _, m := range v.Moves {
			writeMove(e, &m)
		}
		e.endList()
		e.key("spread_after")
		writeSpread(e, &v.After)
	}
	e.key("scores")
	e.beginList()
	for _, s := range v.Scores {
		e.beginObject()
		e.key("node")
		e.id(int64(s.Node))
		e.key("score")
		e.number(s.Score)
		e.endObject()
	}
	e.endList()
	e.key("factors")
	e.beginList()
	for _, f := range v.Factors {
		e.beginObject()
		for _, x := range [][2]string{{"key", f.Key}, {"value", f.Value}, {"from", f.From}} {
			e.key(x[0])
			e.text(x[1])
		}
		e.endObject()
	}
	e.endList()
	e.endObject()
}
