package render

import (
	"html/template"
	"io"
	"slices"

	"kitescope/inspect/balance"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render/webpage"
)

func writeBalancePage(w io.Writer, b *Balance, _ *Options) error {
	origin := &b.Env.Cluster.Origin
	where := Harmless(origin.Root) + " @ " + Harmless(origin.Location)
	p := &webpage.Page{Window: "Balance of " + where, Under: []string{where}, Version: b.Version}
	if !origin.Taken.IsZero() {
		p.Under = append(p.Under, "state of "+Stamp(origin.Taken))
	}
	p.Headline, p.Tone, p.Facts, p.Commands = b.conclude()
	b.AddTo(p)
	p.Notes = append(p.Notes, "Weights: "+b.Report.Survey.Weights.String()+".")
	return WritePage(w, p)
}

// conclude says how even the work is, and what would even it out.
func (b *Balance) conclude() (headline string, tone webpage.Tone, facts []webpage.Fact, commands []webpage.Command) {
	r := b.Report
	if !r.Survey.Asked {
		return "Who serves what is unknown: the nodes were not asked", webpage.Neutral, nil, nil
	}
	facts = []webpage.Fact{{Name: "Auto-balance", Value: AutoText(&r.Survey.Auto)}}
	now := r.Options.By.Of(&r.Survey.Spread)
	headline = "The busiest query node has " + Ratio(now) + " times the mean work"
	switch {
	case now <= 0:
		return "No search work is known", webpage.Neutral, facts, nil
	case r.Plans != nil && r.Moves() > 0:
		facts = append(facts, webpage.Fact{Name: "Gain", Value: words.Plural(r.Moves(), "move") + ": max/mean " + Ratio(now) + " to " + Ratio(r.Options.By.Of(&r.After))})
		return headline, webpage.Warn, facts, []webpage.Command{{Code: b.SavedPlan(), Language: "python", Text: "Moves the segments. Make the plan again if it is not of today: compactions replace segments."}}
	case r.Plans != nil:
		return headline + ": no move would help", webpage.Good, facts, nil
	}
	return headline, webpage.Neutral, facts, nil
}

// AddTo adds the balance to a page: the picture, and each replica with its nodes and moves.
func (b *Balance) AddTo(p *webpage.Page) {
	blocks := []template.HTML{balancePicture(b.Report.Survey)}
	if b.Report.Survey.Asked {
		for _, text := range append(UnreadText(b.Env.Cluster.Loaded), RepeatedText(b.Report.Survey)) {
			if text != "" {
				blocks = append(blocks, webpage.Lines(webpage.Line{Class: "warn", Text: "Unknown: " + text}))
			}
		}
	}
	p.Add("Balance", blocks...)
	if !b.Report.Survey.Asked {
		return
	}
	for i, g := range b.Report.Groups {
		p.Add(GroupTitle(g), b.group(i, g)...)
	}
}

// AddPlan adds the balance to a page of other subjects: the picture, the moves as one script, the replicas folded.
func (b *Balance) AddPlan(p *webpage.Page) {
	blocks := []template.HTML{balancePicture(b.Report.Survey)}
	if b.Report.Plans != nil && b.Report.Moves() > 0 {
		_, _, facts, commands := b.conclude()
		blocks = append(blocks, webpage.Facts(facts), webpage.Commands(commands))
	}
	if b.Report.Survey.Asked {
		for i, g := range b.Report.Groups {
			blocks = append(blocks, webpage.Fold(GroupTitle(g), b.group(i, g)...))
		}
	}
	p.Add("Balance", blocks...)
}

// group are the nodes of a replica, and the moves that would even it out.
func (b *Balance) group(i int, g *balance.Group) []template.HTML {
	spread := GroupSpread(g, b.Report.Options.By)
	if text := UnknownText(g); text != "" {
		spread += "; " + text
	}
	shares := b.shareTable(g)
	blocks := []template.HTML{webpage.Prose(spread), shares.HTML()}
	if b.Report.Plans != nil {
		blocks = append(blocks, planBlocks(b.Report.Plans[i])...)
	}
	if text := VerdictText(b.Report.Verdicts[i], &b.Report.Survey.Auto, b.Report.Options.By); text != "" {
		blocks = append(blocks, webpage.Lines(webpage.Line{Class: "dim", Text: "Milvus: " + text}))
	}
	return blocks
}

func (b *Balance) shareTable(g *balance.Group) *webpage.Table {
	rows := make([]shareRow, len(g.Shares))
	for i, s := range g.Shares {
		rows[i] = shareRow{s, g}
	}
	grid := newShareGrid(b, rows, &Options{KeepColumns: true})
	grid.Columns = slices.DeleteFunc(grid.Columns, func(j int) bool { return grid.Table.Schema().Columns[j].Name == "bar" })
	t := &webpage.Table{Title: ""}
	for _, j := range grid.Columns {
		t.Heads = append(t.Heads, webpage.Cell{Text: grid.Table.Schema().Columns[j].Title, Class: "n"})
	}
	t.Heads = append(t.Heads, webpage.Cell{Text: "COST SHARE", Class: "n"})
	for i := range rows {
		var cells []webpage.Cell
		for _, j := range grid.Columns {
			cells = append(cells, webpage.Cell{Text: Text(grid.Table.Cell(i, j), grid.Table.Schema().Columns[j].Kind), Class: "n"})
		}
		share := words.UnknownMark
		if rows[i].Known {
			share = part(rows[i].Cost, g.Cost())
		}
		t.Rows = append(t.Rows, append(cells, webpage.Cell{Text: share, Class: "n"}))
	}
	return t
}

// planBlocks are the moves of a replica. The calls that make them are those of the whole page, in one script.
func planBlocks(plan *balance.Plan) []template.HTML {
	blocks := []template.HTML{webpage.Lines(webpage.Line{Named: true, Name: "Plan", Text: PlanText(plan)})}
	t := webpage.Table{Heads: []webpage.Cell{{Text: "segment", Class: "n"}, {Text: "rows", Class: "n"}, {Text: "size", Class: "n"}, {Text: "from", Class: "n"}, {Text: "to", Class: "n"}}}
	for _, m := range plan.Moves {
		var cells []webpage.Cell
		for _, s := range []string{m.Segment.String(), words.Number(m.Rows), Text(table.Cell{Int: m.Size}, table.Bytes), m.From.String(), m.To.String()} {
			cells = append(cells, webpage.Cell{Text: s, Class: "n"})
		}
		t.Rows = append(t.Rows, cells)
	}
	if len(t.Rows) > 0 {
		blocks = append(blocks, t.HTML())
	}
	blocks = append(blocks, webpage.Prose(MemoryText(plan)))
	for _, m := range plan.Channels {
		blocks = append(blocks, webpage.Prose("Or move: shard "+m.Channel+" with "+words.Number(m.Rows)+" growing rows from node "+m.From.String()+" to "+m.To.String()+"."))
	}
	return blocks
}
