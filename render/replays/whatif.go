package replays

import (
	"cmp"
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
	"kitescope/replay/whatif"
)

// WriteWhatIf writes predictions: the gain of each change, the costs of the current cluster, and the accuracy of
// the model. JSON and YAML have the format of saved reports. CSV has a row per cluster, starting with the current
// one.
func WriteWhatIf(w io.Writer, r *whatif.Report, format render.Format, o render.ReportOptions) error {
	s := newWhatIfSheet(r, &o, format.Name() != "table")
	s.WriteAll = func(e *encode.Encoder) { whatif.EncodeReport(e, r) }
	return s.Write(w, format)
}

// WhatIfSchema returns the schema of the clusters that WriteWhatIf writes.
func WhatIfSchema(o render.ReportOptions) *table.Schema {
	return predictionTable(&whatif.Report{}, nil, &o).Schema()
}

// predictions returns the predictions for the current cluster and for each change.
func predictions(r *whatif.Report) []*whatif.Prediction {
	return append([]*whatif.Prediction{&r.Base}, render.Pointers(r.Others)...)
}

// changeName returns the name of a prediction.
func changeName(r *whatif.Report, p *whatif.Prediction) string {
	if p == &r.Base {
		return "current"
	}
	return render.Harmless(cmp.Or(p.Change.Name, "unnamed"))
}

func newWhatIfSheet(r *whatif.Report, o *render.ReportOptions, repeat bool) *render.Sheet {
	list := predictions(r)
	asked := render.Select(o, predictionTable(r, list, o), render.Unbounded[*whatif.Prediction](o))
	s := &render.Sheet{
		Kind: "WhatIf", Options: o, About: func(*encode.Encoder) {}, Items: asked.Items, Foot: asked.More(o),
	}
	s.Head = []render.Line{
		{
			Role: render.RoleTitle,
			Text: "What if: " + render.OrUnknown(r.Setup.Collection) + ", " + simulatedLoadText(&r.Load),
		},
	}
	if text := setupText(&r.Setup, o); text != "" {
		s.Head = append(s.Head, render.Line{Role: render.RoleDim, Text: text})
	}
	s.Head = append(append(s.Head, render.Line{}), labelled(o, render.RoleTitle, "answer", answerText(r, o))...)
	part := asked.List("")
	part.Head = append([]render.Line{{
		Role: render.RoleDim, Text: "BUSY: utilization of the least and most busy node; " +
			"MAX QPS: maximum queries per second at any number of sessions",
	}}, part.Head...)
	s.Parts = []render.Part{part, {Head: causeLines(r, o)}, {Head: accuracyLines(r)}}
	for _, p := range list {
		for _, n := range p.Notes {
			s.Foot = append(s.Foot, labelled(o, render.RoleDim, "note", changeName(r, p)+": "+render.Harmless(n))...)
		}
	}
	for _, n := range r.Notes {
		s.Foot = append(s.Foot, labelled(o, render.RoleDim, "note", render.Harmless(n))...)
	}
	if repeat {
		s.Foot = append(s.Foot, repeatLines(&r.Setup, time.Time{}, o)...)
	}
	return s
}

// simulatedLoadText formats a load: "16 sessions", "2,500 requests/s".
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

// answerText returns the conclusion: the change with the largest gain at the given load.
func answerText(r *whatif.Report, o *render.ReportOptions) string {
	best := r.Best()
	switch {
	case len(r.Others) == 0:
		return "no changes given: use --change"
	case best == nil:
		return "None of the changes helps (" + simulatedLoadText(&r.Load) + ")"
	}
	text := changeName(r, best) + " helps most"
	before, after := r.Base.Outcome, best.Outcome
	if before != nil && after != nil {
		if r.Load.Rate == 0 {
			text += ": " + words.ThreeDigits(after.QPS) + " queries per second at " + simulatedLoadText(&r.Load) +
				", instead of " +
				words.ThreeDigits(before.QPS) + " (" + factorText(best.GainAtLoad)
			if best.AtLoad.High > 0 {
				text += ", likely " + factorText(best.AtLoad.Low) + " to " + factorText(best.AtLoad.High)
			}
			text += ")"
		}
		text += "; p99 " + words.Latency(after.P99, o.ASCII) + " instead of " + words.Latency(before.P99, o.ASCII)
	}
	if best.Most > 0 {
		text += "; maximum " + words.ThreeDigits(best.Most) + " instead of " + words.ThreeDigits(r.Base.Most) + " (" +
			factorText(best.Gain) + ")"
	}
	return text
}

func factorText(x float64) string {
	if !(x > 0) || math.IsInf(x, 0) {
		return words.UnknownMark
	}
	return "x" + words.ThreeDigits(x)
}

func predictionTable(
	r *whatif.Report, list []*whatif.Prediction, o *render.ReportOptions,
) *table.Rows[*whatif.Prediction] {
	type prediction = *whatif.Prediction
	field := render.Key[prediction]
	gain := func(name, title string, of func(p prediction) float64) table.ColumnOf[prediction] {
		c := field(name, table.Exact, func(p prediction) table.Cell { return knownCell(of(p)) })
		return c.WithTitle(title, 0, func(p prediction) string {
			if p == &r.Base {
				return ""
			}
			return factorText(of(p))
		}).WithRole(func(p prediction) render.Role {
			switch g := of(p); {
			case g > 1.02:
				return render.RoleGood
			case g < 0.98:
				return render.RoleBad
			}
			return render.RolePlain
		})
	}
	name := func(p prediction) string { return changeName(r, p) }
	change := render.TextKey("change", name).WithTitle("CLUSTER", 0, name)
	change.Shorten = true
	columns := []table.ColumnOf[prediction]{
		change,
		field("most_qps", table.Exact, func(p prediction) table.Cell { return knownCell(p.Most) }).
			WithTitle("MAX QPS", 0, func(p prediction) string { return knownText(p.Most) }),
		gain("gain", "OF MAX", func(p prediction) float64 { return p.Gain }),
		gain("gain_at_load", "GAIN", func(p prediction) float64 { return p.GainAtLoad }),
		field("gain_low", table.Exact, func(p prediction) table.Cell { return knownCell(p.AtLoad.Low) }),
		field("gain_high", table.Exact, func(p prediction) table.Cell { return knownCell(p.AtLoad.High) }),
		table.DisplayColumn("likely", "LIKELY", 3, func(p prediction) string {
			if !(p.AtLoad.High > 0) {
				return ""
			}
			return words.ThreeDigits(p.AtLoad.Low) + "-" + words.ThreeDigits(p.AtLoad.High)
		}),
	}
	columns = append(append(columns, outcomeColumns(o)...), costColumns()...)
	return table.New(table.Schema{
		Name: "clusters", Singular: "cluster", Names: []string{"change"}, Sparse: true,
		Order: []string{
			"change", "qps", "gain_at_load", "likely", "latency_p50_seconds", "latency_p99_seconds", "recall", "busy",
			"most_qps", "gain",
		},
	}, list, columns)
}

// outcomeColumns returns the columns of a simulation at the given load.
func outcomeColumns(o *render.ReportOptions) []table.ColumnOf[*whatif.Prediction] {
	type prediction = *whatif.Prediction
	figure := func(name string, of func(x *whatif.Outcome) float64) table.ColumnOf[prediction] {
		return render.Key(name, table.Exact, func(p prediction) table.Cell {
			if p.Outcome == nil {
				return table.OfUnknown()
			}
			return render.FiniteCell(of(p.Outcome))
		})
	}
	latency := func(name string, of func(x *whatif.Outcome) time.Duration) table.ColumnOf[prediction] {
		return figure("latency_"+name+"_seconds", func(x *whatif.Outcome) float64 { return of(x).Seconds() })
	}
	text := func(of func(x *whatif.Outcome) string) func(p prediction) string {
		return func(p prediction) string {
			if p.Outcome == nil {
				return words.UnknownMark
			}
			return of(p.Outcome)
		}
	}
	return []table.ColumnOf[prediction]{
		figure("qps", func(x *whatif.Outcome) float64 { return x.QPS }).
			WithTitle("QPS", 0, text(func(x *whatif.Outcome) string { return words.ThreeDigits(x.QPS) })),
		latency("mean", func(x *whatif.Outcome) time.Duration { return x.Mean }),
		latency("p50", func(x *whatif.Outcome) time.Duration { return x.P50 }).
			WithTitle("P50", 6, text(func(x *whatif.Outcome) string { return words.Latency(x.P50, o.ASCII) })),
		latency("p95", func(x *whatif.Outcome) time.Duration { return x.P95 }),
		latency("p99", func(x *whatif.Outcome) time.Duration { return x.P99 }).
			WithTitle("P99", 0, text(func(x *whatif.Outcome) string {
				return words.Latency(x.P99, o.ASCII) + []string{"", " !"}[render.BoolInt(x.Saturated)]
			})),
		figure("idlest_node_use", func(x *whatif.Outcome) float64 { least, _ := usesOf(x); return least }),
		figure("busiest_node_use", func(x *whatif.Outcome) float64 { _, most := usesOf(x); return most }),
		table.DisplayColumn("busy", "BUSY", 2, text(func(x *whatif.Outcome) string {
			least, most := usesOf(x)
			if len(x.Nodes) < 2 {
				return words.Share(most)
			}
			return strings.TrimSuffix(words.Share(math.Round(100*least)/100), "%") + "-" +
				words.Share(math.Round(100*most)/100)
		})),
	}
}

// costColumns returns the columns of the cost of a query, and of recall.
func costColumns() []table.ColumnOf[*whatif.Prediction] {
	type prediction = *whatif.Prediction
	seconds := func(name string, of func(c *whatif.Cost) time.Duration) table.ColumnOf[prediction] {
		return render.Key(name+"_seconds", table.Exact, func(p prediction) table.Cell {
			return table.OfFloat(of(&p.Cost).Seconds())
		})
	}
	return []table.ColumnOf[prediction]{
		seconds("cpu", func(c *whatif.Cost) time.Duration { return c.CPU }),
		seconds("growing", func(c *whatif.Cost) time.Duration { return c.Growing }),
		seconds("sealed_unindexed", func(c *whatif.Cost) time.Duration { return c.Unindexed }),
		seconds("sealed_indexed", func(c *whatif.Cost) time.Duration { return c.Indexed }),
		seconds("critical", func(c *whatif.Cost) time.Duration { return c.Critical }),
		render.Key("critical_node", table.Text, func(p prediction) table.Cell { return nameCell(p.Cost.Node) }),
		render.Key("recall", table.Exact, func(p prediction) table.Cell {
			if p.Recall < 0 {
				return table.OfUnknown()
			}
			return table.OfFloat(p.Recall)
		}).WithTitle("RECALL", 0, func(p prediction) string { return recallText(p.Recall) }),
		render.Key("modelled", table.Exact, func(p prediction) table.Cell { return table.OfFloat(p.Modelled) }),
	}
}

// usesOf returns the utilization of the least busy and of the busiest node.
func usesOf(x *whatif.Outcome) (minUse, maxUse float64) {
	minUse = 1
	for i := range x.Nodes {
		minUse, maxUse = min(minUse, x.Nodes[i].Use), max(maxUse, x.Nodes[i].Use)
	}
	return minUse, maxUse
}

// causeLines returns the costs of the current cluster, largest first.
func causeLines(r *whatif.Report, o *render.ReportOptions) []render.Line {
	lines := []render.Line{{Role: render.RoleTitle, Text: "Where the cluster's time goes now"}}
	c := &r.Base.Cost
	if c.CPU <= 0 {
		return append(lines, render.Line{Role: render.RoleDim, Text: "unknown: nothing was measured"})
	}
	type cause struct {
		share float64
		text  string
	}
	var list []cause
	for _, x := range []struct {
		d    time.Duration
		text string
	}{
		{c.Growing, "growing segments, searched row by row"},
		{c.Unindexed, "sealed segments, searched row by row (FLAT, or not indexed)"},
		{c.Indexed, "searches of indexes"},
	} {
		if share := ratioOf(float64(x.d), float64(c.CPU)); share > 0 {
			list = append(list, cause{
				share,
				x.text + ": " + words.Latency(x.d, o.ASCII) + " of the " + words.Latency(c.CPU, o.ASCII) +
					" CPU per query (" + words.Share(share) + ")",
			})
		}
	}
	if x := r.Base.Outcome; x != nil && len(x.Nodes) > 1 && c.Critical > 0 {
		even := float64(c.CPU) / float64(len(x.Nodes))
		if idle := 1 - even/float64(c.Critical); idle > 0.02 {
			list = append(list, cause{
				idle,
				"imbalance: " + render.OrUnknown(c.Node) + " does " + words.Latency(c.Critical, o.ASCII) +
					" of each query, " + words.ThreeDigits(float64(c.Critical)/even) +
					" times its even share; when it is full, " +
					words.Share(idle) + " of the nodes' capacity is idle",
			})
		}
	}
	slices.SortStableFunc(list, func(a, b cause) int { return cmp.Compare(b.share, a.share) })
	for i, x := range list {
		lines = append(lines, render.Line{Text: "  " + strconv.Itoa(i+1) + ". " + x.text})
	}
	if x := r.Base.Outcome; x != nil && x.Bound != "" {
		lines = append(lines, render.Line{Text: "  limit at this load: " + render.Harmless(x.Bound)})
	}
	return lines
}

// accuracyLines returns the known errors of the model.
func accuracyLines(r *whatif.Report) []render.Line {
	lines := []render.Line{{Role: render.RoleTitle, Text: "Accuracy"}}
	add := func(warn bool, text string) {
		lines = append(lines, render.Line{
			Role: []render.Role{render.RolePlain, render.RoleWarn}[render.BoolInt(warn)], Text: "  " + text,
		})
	}
	c := &r.Check
	if qps, p99 := c.Worst(); qps < 0 {
		add(true,
			"simulation not checked, server overheads "+render.OrUnknown(c.Overheads.From)+
				": calibrate it with a run against the live cluster")
	} else {
		text := "the simulation against " + words.Plural(len(c.Live), "load") + " of " + render.Harmless(c.Calibrated) +
			": QPS off by up to " + words.Share(qps)
		if p99 >= 0 {
			text += ", p99 by up to " + words.Share(p99)
		}
		add(max(qps, p99) > 0.25, text)
	}
	modelled := 0.0
	for _, p := range predictions(r) {
		modelled = max(modelled, p.Modelled)
	}
	switch {
	case modelled == 0:
		add(false, "all costs were measured on the real vectors")
	case c.FitMedian < 0 || c.FitWorst < 0:
		add(true, "costs of up to "+words.Share(modelled)+" of the rows come from a cost model of unknown error")
	default:
		add(c.FitWorst > 0.5,
			"costs of up to "+words.Share(modelled)+
				" of the rows come from a cost model: in leave-one-out checks it is off by "+
				words.Share(c.FitMedian)+" (median) and "+words.Share(c.FitWorst)+" (worst)")
	}
	if cover := &r.Cover; cover.Loaded < cover.Segments || len(cover.Missing) > 0 || cover.RowsUnknown > 0 {
		add(true, "only part of the collection is included: rows "+coverageText(cover))
	}
	for _, p := range predictions(r) {
		if p.Outcome != nil && p.Outcome.Saturated {
			add(true, changeName(r, p)+": overloaded: latencies (!) keep growing")
		}
	}
	return lines
}
