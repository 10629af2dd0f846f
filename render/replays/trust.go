package replays

import (
	"slices"
	"strconv"
	"strings"

	"kitescope/render"
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
