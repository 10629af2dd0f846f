package replays

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/render"
	"kitescope/replay/simulate"
	"kitescope/replay/whatif"
	"kitescope/table"
	"kitescope/words"
)

// trustParts say how far the model is from what was measured.
func trustParts(r *whatif.Report, o *render.ReportOptions) []render.Part {
	head := []render.Line{{Role: render.RoleTitle, Text: "How far to trust it"}}
	for _, t := range trustTexts(r) {
		role := render.RolePlain
		if t.warn {
			role = render.RoleWarn
		}
		head = append(head, render.Line{Role: role, Text: "  " + t.text})
	}
	points, against := slices.Concat(r.Check.Points, r.Check.Live), len(r.Check.Points)
	if len(points) == 0 {
		return []render.Part{{Head: head}}
	}
	column := func(title string, text func(p *whatif.CheckPoint) string) table.ColumnOf[int] {
		return table.ColumnOf[int]{Column: table.Column{Title: title, Right: true}, Shown: func(i int) string { return text(&points[i]) }}
	}
	marked := against < len(points) || slices.ContainsFunc(points, func(p whatif.CheckPoint) bool { return p.Disturbed })
	if marked {
		head = append(head, render.Line{Role: render.RoleDim, Text: "here: of the engine on this machine, ! others used it and the run does not count; live: of the cluster"})
	}
	columns := []table.ColumnOf[int]{
		{Column: table.Column{Title: "SESSIONS", Right: true}, Shown: func(i int) string {
			text := strconv.Itoa(points[i].Sessions)
			if marked {
				text += [...]string{" here", " live"}[render.BoolInt(i >= against)] + [...]string{"", " !"}[render.BoolInt(points[i].Disturbed)]
			}
			return text
		}},
		column("QPS MEASURED", func(p *whatif.CheckPoint) string { return words.ThreeDigits(p.MeasuredQPS) }),
		column("PREDICTED", func(p *whatif.CheckPoint) string { return words.ThreeDigits(p.PredictedQPS) }),
		column("OFF BY", func(p *whatif.CheckPoint) string { return offText(p.PredictedQPS, p.MeasuredQPS) }),
		column("P99 MEASURED", func(p *whatif.CheckPoint) string { return knownLatency(p.MeasuredP99, o) }),
		column("PREDICTED", func(p *whatif.CheckPoint) string { return knownLatency(p.PredictedP99, o) }),
		column("OFF BY", func(p *whatif.CheckPoint) string { return offText(float64(p.PredictedP99), float64(p.MeasuredP99)) }),
	}
	return []render.Part{{Head: head, List: render.Places(len(points), columns)}}
}

// offText is a signed error in percent.
func offText(predicted, measured float64) string {
	if measured <= 0 {
		return words.UnknownMark
	}
	return render.RatioText(predicted / measured)
}

// trustText is one reason to believe the figures, or not to.
type trustText struct {
	text string
	warn bool
}

func trustTexts(r *whatif.Report) []trustText {
	c := &r.Check
	var list []trustText
	add := func(warn bool, text string) { list = append(list, trustText{text, warn}) }
	if len(c.Points) > 0 && calmRuns(c.Points) == 0 {
		add(true, "the simulation was not checked against the engine: others used this machine during each run that was measured beside it")
	} else if len(c.Points)+len(c.Live) == 0 {
		add(true, "the simulation was not checked: nothing was measured beside it")
	}
	if qps, p99 := c.Worst(); qps >= 0 {
		var against []string
		if n := calmRuns(c.Points); n > 0 {
			against = append(against, words.Plural(n, "run")+" of the engine here")
		}
		if n := calmRuns(c.Live); n > 0 {
			against = append(against, words.Plural(n, "run")+" of the live cluster")
		}
		text := "the simulation against " + strings.Join(against, " and ") + ": QPS off by up to " + words.Share(qps)
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
		add(true, "costs of up to "+words.Share(modelled)+" of the rows are of a cost model whose error is unknown")
	default:
		add(c.FitWorst > 0.5, "costs of up to "+words.Share(modelled)+" of the rows are of a cost model: leaving out each measured segment in turn, it is off by "+
			words.Share(c.FitMedian)+" in the middle and "+words.Share(c.FitWorst)+" at worst")
	}
	switch {
	case c.Calibrated != "":
		add(false, "overheads of network and proxy are taken from "+render.Harmless(c.Calibrated))
	case c.Overheads.From != "":
		add(true, "overheads of network and proxy are not of this cluster: "+render.Harmless(c.Overheads.From))
	default:
		add(true, "overheads of network and proxy are defaults: calibrate them with a run against the live cluster")
	}
	if cover := &r.Cover; cover.Loaded < cover.Segments || len(cover.Missing) > 0 || cover.RowsUnknown > 0 {
		add(true, "not all of the collection is in it: rows "+coverageText(cover))
	}
	for _, p := range predictions(r) {
		if p.Outcome != nil && p.Outcome.Saturated {
			add(true, ChangeName(r, p)+": the load is more than it can do, latencies (!) grow for as long as it lasts")
		}
	}
	return list
}

// calmRuns are those that nobody disturbed.
func calmRuns(list []whatif.CheckPoint) (n int) {
	for i := range list {
		if !list[i].Disturbed {
			n++
		}
	}
	return n
}

func predictionFields(r *whatif.Report, list []*whatif.Prediction) []table.ColumnOf[int] {
	field := func(name string, kind table.Kind, of func(p *whatif.Prediction) table.Cell) table.ColumnOf[int] {
		return render.Key(name, kind, func(i int) table.Cell { return of(list[i]) })
	}
	seconds := func(name string, of func(p *whatif.Prediction) time.Duration) table.ColumnOf[int] {
		return field(name+"_seconds", table.Exact, func(p *whatif.Prediction) table.Cell { return table.OfFloat(of(p).Seconds()) })
	}
	outcome := func(name string, of func(x *simulate.Outcome) float64) table.ColumnOf[int] {
		return field(name, table.Exact, func(p *whatif.Prediction) table.Cell {
			if p.Outcome == nil {
				return table.OfUnknown()
			}
			return render.FiniteCell(of(p.Outcome))
		})
	}
	latency := func(figure string, of func(x *simulate.Outcome) time.Duration) table.ColumnOf[int] {
		return field("latency_"+figure+"_seconds", table.Exact, func(p *whatif.Prediction) table.Cell {
			if p.Outcome == nil {
				return table.OfUnknown()
			}
			return table.OfFloat(of(p.Outcome).Seconds())
		})
	}
	return []table.ColumnOf[int]{
		field("change", table.Text, func(p *whatif.Prediction) table.Cell { return table.Of(ChangeName(r, p)) }),
		field("most_qps", table.Exact, func(p *whatif.Prediction) table.Cell { return toldCell(p.Most) }),
		field("gain", table.Exact, func(p *whatif.Prediction) table.Cell { return toldCell(p.Gain) }),
		field("gain_at_load", table.Exact, func(p *whatif.Prediction) table.Cell { return toldCell(r.GainAtLoad(p)) }),
		outcome("qps", func(x *simulate.Outcome) float64 { return x.QPS }),
		latency("mean", func(x *simulate.Outcome) time.Duration { return x.Mean }),
		latency("p50", func(x *simulate.Outcome) time.Duration { return x.P50 }),
		latency("p95", func(x *simulate.Outcome) time.Duration { return x.P95 }),
		latency("p99", func(x *simulate.Outcome) time.Duration { return x.P99 }),
		seconds("cpu", func(p *whatif.Prediction) time.Duration { return p.Cost.CPU }),
		seconds("growing", func(p *whatif.Prediction) time.Duration { return p.Cost.Growing }),
		seconds("sealed_unindexed", func(p *whatif.Prediction) time.Duration { return p.Cost.Unindexed }),
		seconds("sealed_indexed", func(p *whatif.Prediction) time.Duration { return p.Cost.Indexed }),
		seconds("critical", func(p *whatif.Prediction) time.Duration { return p.Cost.Critical }),
		field("critical_node", table.Text, func(p *whatif.Prediction) table.Cell { return nameCell(p.Cost.Node) }),
		field("idlest_node_use", table.Exact, func(p *whatif.Prediction) table.Cell { return useCell(p, false) }),
		field("busiest_node_use", table.Exact, func(p *whatif.Prediction) table.Cell { return useCell(p, true) }),
		field("recall", table.Exact, func(p *whatif.Prediction) table.Cell {
			if p.Recall < 0 {
				return table.OfUnknown()
			}
			return table.OfFloat(p.Recall)
		}),
		field("modelled", table.Exact, func(p *whatif.Prediction) table.Cell { return table.OfFloat(p.Modelled) }),
		field("check_qps_error", table.Exact, func(*whatif.Prediction) table.Cell { return checkCell(r, r.Check.QPS) }),
		field("check_p99_error", table.Exact, func(*whatif.Prediction) table.Cell { return checkCell(r, r.Check.P99) }),
	}
}

// checkCell is an error of the check, which is unknown if there was none.
func checkCell(r *whatif.Report, f float64) table.Cell {
	if len(r.Check.Points) == 0 || f < 0 {
		return table.OfUnknown()
	}
	return render.FiniteCell(f)
}

func useCell(p *whatif.Prediction, busiest bool) table.Cell {
	if p.Outcome == nil {
		return table.OfUnknown()
	}
	least, most, ok := usesOf(p.Outcome)
	switch {
	case !ok:
		return table.OfUnknown()
	case busiest:
		return table.OfFloat(most)
	}
	return table.OfFloat(least)
}
