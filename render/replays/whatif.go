package replays

import (
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/clusters"
	"kitescope/replay"
	"kitescope/replay/whatif"
)

// WriteWhatIf writes predictions: what each change gives, what the present cluster loses its time with, and how far the model is
// to be trusted. JSON and YAML are the saved report; CSV has a row for each cluster, the present one first.
func WriteWhatIf(w io.Writer, r *whatif.Report, format render.Format, o render.ReportOptions) error {
	s := newWhatIfSheet(r, &o, format.Name() != "table")
	s.Whole = func(e *encode.Encoder) { whatif.TellReport(e, r) }
	return s.Write(w, format)
}

// WhatIfSchema is what can be asked of the clusters that WriteWhatIf writes.
func WhatIfSchema(o render.ReportOptions) *table.Schema {
	return predictionTable(&whatif.Report{}, nil, &o).Schema()
}

// predictions are the present cluster and the others.
func predictions(r *whatif.Report) []*whatif.Prediction {
	list := []*whatif.Prediction{&r.Base}
	for i := range r.Others {
		list = append(list, &r.Others[i])
	}
	return list
}

// ChangeName is what a report calls one of its predictions.
func ChangeName(r *whatif.Report, p *whatif.Prediction) string {
	switch {
	case p == &r.Base:
		return "current"
	case p.Change.Name != "":
		return render.Harmless(p.Change.Name)
	}
	return "unnamed"
}

func newWhatIfSheet(r *whatif.Report, o *render.ReportOptions, repeat bool) *render.Sheet {
	list := predictions(r)
	asked := render.Ask(o, predictionTable(r, list, o), render.Unbounded[*whatif.Prediction](o)) // the limit is of nodes
	s := &render.Sheet{Kind: "WhatIf", Options: o, About: func(*encode.Encoder) {}, Items: asked.Items, Foot: asked.More(o)}
	s.Head = []render.Line{{Role: render.RoleTitle, Text: "What if: " + render.OrUnknown(r.Setup.Collection) + ", " + simulatedLoadText(&r.Load)}}
	if text := setupText(&r.Setup, o); text != "" {
		s.Head = append(s.Head, render.Line{Role: render.RoleDim, Text: text})
	}
	s.Head = append(s.Head, render.Line{})
	s.Head = append(s.Head, answerLines(r, o)...)
	part := asked.List("")
	part.Head = append([]render.Line{{
		Role: render.RoleDim, Text: "at " + simulatedLoadText(&r.Load) + "; BUSY: utilization of the least and most busy node; MOST: maximum queries per second at any number of sessions",
	}}, part.Head...)
	split := render.Part{List: render.Places(len(list), splitColumns(r, list, o)), Head: []render.Line{{Role: render.RoleDim, Text: StateLegend(o.ASCII)}}}
	s.Parts = append(s.Parts, part, split, render.Part{Head: causeLines(r, o)})
	s.Parts = append(s.Parts, trustParts(r, o)...)
	for _, p := range list {
		for _, n := range p.Notes {
			s.Foot = append(s.Foot, labelled(o, render.RoleDim, "note", ChangeName(r, p)+": "+render.Harmless(n))...)
		}
	}
	for _, n := range r.Notes {
		s.Foot = append(s.Foot, labelled(o, render.RoleDim, "note", render.Harmless(n))...)
	}
	if repeat {
		s.Foot = append(s.Foot, repeatLines(&replay.Result{Setup: r.Setup}, o)...)
	}
	return s
}

// simulatedLoadText is "16 sessions", "2,500 requests/s".
func simulatedLoadText(l *whatif.Load) string {
	text := words.Plural(l.Sessions, "session")
	if l.Rate > 0 {
		text = words.Setting(l.Rate) + " requests/s"
	}
	if l.NQ > 1 {
		text += " of " + words.Plural(l.NQ, "vector")
	}
	if l.K > 0 {
		text += ", k " + strconv.Itoa(l.K)
	}
	return text
}

// answerLines are what a person on call reads if nothing else: the change that gives most at the load that was asked for.
func answerLines(r *whatif.Report, o *render.ReportOptions) []render.Line {
	answer := func(text string) []render.Line { return labelled(o, render.RoleTitle, "answer", text) }
	best := r.Best()
	switch {
	case len(r.Others) == 0:
		return answer("no changes given: use --change")
	case best == nil && !slices.ContainsFunc(r.Others, func(p whatif.Prediction) bool { return p.Change.Scale == 0 || p.Change.Scale == 1 }):
		return answer("a different collection size is not an improvement: see the figures below")
	case best == nil:
		return answer("no change beats the current cluster at " + simulatedLoadText(&r.Load) + mostText(r, mostOf(r)))
	}
	text := ChangeName(r, best) + " gives most"
	if r.Load.Rate > 0 {
		text += " at " + simulatedLoadText(&r.Load)
	} else if best.Outcome != nil && r.Base.Outcome != nil {
		text += ": " + words.ThreeDigits(best.Outcome.QPS) + " queries per second at " + simulatedLoadText(&r.Load) + ", instead of " + words.ThreeDigits(r.Base.Outcome.QPS) + " (" + LoadGainText(r, best) + likelyText(best) + ")"
	}
	if best.Outcome != nil && r.Base.Outcome != nil {
		text += "; p99 " + words.Latency(best.Outcome.P99, o.ASCII) + " instead of " + words.Latency(r.Base.Outcome.P99, o.ASCII)
	}
	text += mostText(r, best)
	if qps, p99 := r.Check.Worst(); qps >= 0 {
		text += "; the simulation was off by up to " + words.Share(qps) + " in queries per second"
		if p99 >= 0 {
			text += " and " + words.Share(p99) + " in p99"
		}
		text += ", where it could be checked"
	}
	return answer(text)
}

// likelyText is what the gain at the load is likely to be between: ", likely x1.2 to x2.6"; "" where nobody worked it out.
func likelyText(p *whatif.Prediction) string {
	if !(p.AtLoad.High > 0) {
		return ""
	}
	return ", likely " + factorText(p.AtLoad.Low) + " to " + factorText(p.AtLoad.High)
}

// mostOf is the change after which the cluster can do most.
func mostOf(r *whatif.Report) *whatif.Prediction {
	best := &r.Base
	for i := range r.Others {
		if p := &r.Others[i]; p.Gain > best.Gain && !math.IsInf(p.Gain, 0) {
			best = p
		}
	}
	return best
}

// mostText says what a changed cluster can do where the load is no bound.
func mostText(r *whatif.Report, p *whatif.Prediction) string {
	if gain := r.GainAtLoad(p); p == &r.Base || !(p.Most > 0) || r.Load.Rate == 0 && math.Abs(p.Gain-gain) < 0.02*gain {
		return ""
	}
	return "; maximum at any number of sessions: " + ChangeName(r, p) + " does " + words.ThreeDigits(p.Most) + " instead of " + words.ThreeDigits(r.Base.Most) + " (" + GainText(p) + ")"
}

// GainText is how many times the queries per second of the present cluster a prediction can do at most: "x2.25".
func GainText(p *whatif.Prediction) string { return factorText(p.Gain) }

// LoadGainText is how many times the queries per second of the present cluster a prediction has at the report's load.
func LoadGainText(r *whatif.Report, p *whatif.Prediction) string { return factorText(r.GainAtLoad(p)) }

func factorText(x float64) string {
	if !(x > 0) || math.IsInf(x, 0) {
		return words.UnknownMark
	}
	return "x" + words.ThreeDigits(x)
}

func predictionTable(r *whatif.Report, list []*whatif.Prediction, o *render.ReportOptions) *table.Rows[*whatif.Prediction] {
	type prediction = *whatif.Prediction
	field := render.Key[prediction]
	seconds := func(name string, of func(p prediction) time.Duration) table.ColumnOf[prediction] {
		return field(name+"_seconds", table.Exact, func(p prediction) table.Cell { return table.OfFloat(of(p).Seconds()) })
	}
	outcome := func(name string, of func(x *whatif.Outcome) float64) table.ColumnOf[prediction] {
		return field(name, table.Exact, func(p prediction) table.Cell {
			if p.Outcome == nil {
				return table.OfUnknown()
			}
			return render.FiniteCell(of(p.Outcome))
		})
	}
	latency := func(figure string, of func(x *whatif.Outcome) time.Duration) table.ColumnOf[prediction] {
		return outcome("latency_"+figure+"_seconds", func(x *whatif.Outcome) float64 { return of(x).Seconds() })
	}
	text := func(of func(x *whatif.Outcome) string) func(p prediction) string {
		return func(p prediction) string {
			if p.Outcome == nil {
				return words.UnknownMark
			}
			return of(p.Outcome)
		}
	}
	name := func(p prediction) string { return ChangeName(r, p) }
	change := render.TextKey("change", name).Titled("CLUSTER", 0, name)
	change.Shorten = true
	return table.New(table.Schema{
		Name: "clusters", Singular: "cluster", Names: []string{"change"}, Sparse: true,
		Order: []string{"change", "qps", "gain_at_load", "likely", "latency_p50_seconds", "latency_p99_seconds", "recall", "busy", "most_qps", "gain"},
	}, list, []table.ColumnOf[prediction]{
		change,
		field("most_qps", table.Exact, func(p prediction) table.Cell { return toldCell(p.Most) }).Titled("MOST", 0, func(p prediction) string { return orUnknownNumber(p.Most) }),
		gainColumn(r, "gain", "OF MOST", func(p prediction) float64 { return p.Gain }),
		gainColumn(r, "gain_at_load", "GAIN", r.GainAtLoad),
		field("gain_low", table.Exact, func(p prediction) table.Cell { return toldCell(p.AtLoad.Low) }),
		field("gain_high", table.Exact, func(p prediction) table.Cell { return toldCell(p.AtLoad.High) }),
		table.Picture("likely", "LIKELY", 3, func(p prediction) string { return rangeText(&p.AtLoad) }),
		outcome("qps", func(x *whatif.Outcome) float64 { return x.QPS }).Titled("QPS", 0, text(func(x *whatif.Outcome) string { return words.ThreeDigits(x.QPS) })),
		latency("mean", func(x *whatif.Outcome) time.Duration { return x.Mean }),
		latency("p50", func(x *whatif.Outcome) time.Duration { return x.P50 }).Titled("P50", 6, text(func(x *whatif.Outcome) string { return words.Latency(x.P50, o.ASCII) })),
		latency("p95", func(x *whatif.Outcome) time.Duration { return x.P95 }),
		latency("p99", func(x *whatif.Outcome) time.Duration { return x.P99 }).Titled("P99", 0, text(func(x *whatif.Outcome) string {
			return words.Latency(x.P99, o.ASCII) + []string{"", " !"}[render.BoolInt(x.Saturated)]
		})),
		seconds("cpu", func(p prediction) time.Duration { return p.Cost.CPU }),
		seconds("growing", func(p prediction) time.Duration { return p.Cost.Growing }),
		seconds("sealed_unindexed", func(p prediction) time.Duration { return p.Cost.Unindexed }),
		seconds("sealed_indexed", func(p prediction) time.Duration { return p.Cost.Indexed }),
		seconds("critical", func(p prediction) time.Duration { return p.Cost.Critical }),
		field("critical_node", table.Text, func(p prediction) table.Cell { return nameCell(p.Cost.Node) }),
		field("idlest_node_use", table.Exact, func(p prediction) table.Cell { return useCell(p, false) }),
		field("busiest_node_use", table.Exact, func(p prediction) table.Cell { return useCell(p, true) }),
		field("recall", table.Exact, recallCell).Titled("RECALL", 0, func(p prediction) string { return RecallText(p.Recall) }),
		field("modelled", table.Exact, func(p prediction) table.Cell { return table.OfFloat(p.Modelled) }),
		field("check_qps_error", table.Exact, func(prediction) table.Cell { return checkCell(r, r.Check.QPS) }),
		field("check_p99_error", table.Exact, func(prediction) table.Cell { return checkCell(r, r.Check.P99) }),
		table.Picture("busy", "BUSY", 2, text(usesText)),
	})
}

// recallCell is unknown where there was no truth.
func recallCell(p *whatif.Prediction) table.Cell {
	if p.Recall < 0 {
		return table.OfUnknown()
	}
	return table.OfFloat(p.Recall)
}

// rangeText is what a gain is likely to be between: "1.2-2.6".
func rangeText(g *whatif.Range) string {
	if !(g.High > 0) {
		return ""
	}
	return words.ThreeDigits(g.Low) + "-" + words.ThreeDigits(g.High)
}

// gainColumn is how many times as much a change gives.
func gainColumn(r *whatif.Report, name, title string, of func(p *whatif.Prediction) float64) table.ColumnOf[*whatif.Prediction] {
	c := render.Key(name, table.Exact, func(p *whatif.Prediction) table.Cell { return toldCell(of(p)) })
	if name == "gain_at_load" && r.Load.Rate > 0 { // the same rate for all
		return c
	}
	return c.Titled(title, 0, func(p *whatif.Prediction) string {
		if p == &r.Base {
			return ""
		}
		return factorText(of(p))
	}).Looking(func(p *whatif.Prediction) render.Role {
		switch g := of(p); {
		case g > 1.02:
			return render.RoleGood
		case g < 0.98:
			return render.RoleBad
		}
		return render.RolePlain
	})
}

// splitColumns are what a query costs a cluster, by the state of its segments.
func splitColumns(r *whatif.Report, list []*whatif.Prediction, o *render.ReportOptions) []table.ColumnOf[int] {
	column := func(title string, priority int, text func(p *whatif.Prediction) string) table.ColumnOf[int] {
		return table.ColumnOf[int]{Column: table.Column{Title: title, Right: true, Priority: priority}, Shown: func(i int) string { return text(list[i]) }}
	}
	size := clusters.BarWidth(&o.Options)
	return []table.ColumnOf[int]{
		{Column: table.Column{Title: "CPU PER QUERY", Shorten: true}, Shown: func(i int) string { return ChangeName(r, list[i]) }},
		column("GROWING", 0, func(p *whatif.Prediction) string { return costOr0(p.Cost.Growing, o) }),
		column("NO INDEX", 0, func(p *whatif.Prediction) string { return costOr0(p.Cost.Unindexed, o) }),
		column("INDEXED", 0, func(p *whatif.Prediction) string { return costOr0(p.Cost.Indexed, o) }),
		column("ALL", 0, func(p *whatif.Prediction) string { return knownLatency(p.Cost.CPU, o) }),
		column("LONGEST NODE", 4, func(p *whatif.Prediction) string { return knownLatency(p.Cost.Critical, o) }),
		column("MODELLED", 3, func(p *whatif.Prediction) string { return words.Share(p.Modelled) }),
		{Column: table.Column{Title: "SPLIT", Priority: 2}, Shown: func(i int) string {
			c := &list[i].Cost
			return stateBar(&[3]time.Duration{c.Growing, c.Unindexed, c.Indexed}, c.CPU, c.CPU, size, o.ASCII)
		}},
	}
}

func orUnknownNumber(x float64) string {
	if !(x > 0) {
		return words.UnknownMark
	}
	return words.ThreeDigits(x)
}

// costOr0 is a part of a known cost: here 0 is nothing, not unknown.
func costOr0(d time.Duration, o *render.ReportOptions) string {
	if d == 0 {
		return words.NoneMark
	}
	return words.Latency(d, o.ASCII)
}

// usesText is how busy the idlest and the busiest node are: "38-97%".
func usesText(x *whatif.Outcome) string {
	least, most, ok := usesOf(x)
	if !ok {
		return words.UnknownMark
	}
	if len(x.Nodes) == 1 {
		return words.Share(most)
	}
	return strings.TrimSuffix(words.Share(math.Round(100*least)/100), "%") + "-" + words.Share(math.Round(100*most)/100)
}

func usesOf(x *whatif.Outcome) (least, most float64, ok bool) {
	least = math.Inf(1)
	for i := range x.Nodes {
		least, most = min(least, x.Nodes[i].Use), max(most, x.Nodes[i].Use)
	}
	return least, most, len(x.Nodes) > 0
}

// cause is what the present cluster loses time with.
type cause struct {
	share float64
	text  string
}

// causes of the present cluster, the greatest first.
func causes(r *whatif.Report, o *render.ReportOptions) []cause {
	c := &r.Base.Cost
	var list []cause
	part := func(d time.Duration, text string) {
		if d > 0 && c.CPU > 0 {
			share := ratioOf(float64(d), float64(c.CPU))
			list = append(list, cause{share, text + ": " + words.Latency(d, o.ASCII) + " of the " + words.Latency(c.CPU, o.ASCII) + " CPU per query (" + words.Share(share) + ")"})
		}
	}
	part(c.Growing, "growing segments, searched row by row")
	part(c.Unindexed, "sealed segments without an index, searched row by row")
	part(c.Indexed, "searches of indexes")
	if n := searching(&r.Base); n > 1 && c.Critical > 0 && c.CPU > 0 {
		even := float64(c.CPU) / float64(n)
		if idle := 1 - even/float64(c.Critical); idle > 0.02 {
			list = append(list, cause{idle, "imbalance: " + render.OrUnknown(c.Node) + " does " + words.Latency(c.Critical, o.ASCII) + " of each query, " +
				words.ThreeDigits(float64(c.Critical)/even) + " times its even share; when it is full, " + words.Share(idle) + " of the nodes' capacity is idle"})
		}
	}
	for i := range list { // few: insertion sort, the greatest first
		for j := i; j > 0 && list[j].share > list[j-1].share; j-- {
			list[j], list[j-1] = list[j-1], list[j]
		}
	}
	return list
}

// searching is how many nodes could search: idle ones count, as moving segments to them is what there is to win.
func searching(p *whatif.Prediction) int {
	if p.Outcome != nil && len(p.Outcome.Nodes) > 0 {
		return len(p.Outcome.Nodes)
	}
	if p.Layout != nil {
		return len(p.Layout.Nodes)
	}
	return 0
}

func causeLines(r *whatif.Report, o *render.ReportOptions) []render.Line {
	lines := []render.Line{{Role: render.RoleTitle, Text: "Where the cluster's time goes now"}}
	list := causes(r, o)
	if len(list) == 0 {
		return append(lines, render.Line{Role: render.RoleDim, Text: "unknown: nothing was measured"})
	}
	for i, c := range list {
		lines = append(lines, render.Line{Text: "  " + strconv.Itoa(i+1) + ". " + c.text})
	}
	if x := r.Base.Outcome; x != nil && x.Bound != "" {
		lines = append(lines, render.Line{Text: "  limit at this load: " + render.Harmless(x.Bound)})
	}
	if gains := gainTexts(r); len(gains) > 0 {
		lines = append(lines, render.Line{}, render.Line{Role: render.RoleTitle, Text: "Gain of each change, alone and then combined"})
		for i, text := range gains {
			lines = append(lines, render.Line{Text: "  " + strconv.Itoa(i+1) + ". " + text})
		}
	}
	return lines
}

// gainTexts are the changes by what they give, the greatest first.
func gainTexts(r *whatif.Report) []string {
	list := whatif.Explain(r)
	if r.Base.Cost.CPU > 0 && len(list) > 0 { // the first is the split of the CPU, which stands above
		list = list[1:]
	}
	return render.HarmlessAll(list)
}
