package replays

import (
	"slices"
	"strconv"
	"strings"

	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/replay/whatif"
)

// trustParts say how far the model is from what was measured.
func trustParts(r *whatif.Report, o *render.ReportOptions) []render.Part {
	head := []render.Line{{Role: render.RoleTitle, Text: "Accuracy"}}
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
		head = append(head, render.Line{Role: render.RoleDim, Text: "here: the engine on this machine (! machine busy, run ignored); live: the cluster"})
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
		add(true, "simulation not checked against the engine: the machine was busy during every check run")
	} else if len(c.Points)+len(c.Live) == 0 {
		add(true, "simulation not checked: no run to compare with")
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
		add(true, "costs of up to "+words.Share(modelled)+" of the rows come from a cost model of unknown error")
	default:
		add(c.FitWorst > 0.5, "costs of up to "+words.Share(modelled)+" of the rows come from a cost model: in leave-one-out checks it is off by "+
			words.Share(c.FitMedian)+" (median) and "+words.Share(c.FitWorst)+" (worst)")
	}
	switch {
	case c.Calibrated != "":
		add(false, "network and proxy overheads from "+render.Harmless(c.Calibrated))
	case c.Overheads.From != "":
		add(true, "network and proxy overheads not measured on this cluster: "+render.Harmless(c.Overheads.From))
	default:
		add(true, "network and proxy overheads are defaults: calibrate them with a run against the live cluster")
	}
	if cover := &r.Cover; cover.Loaded < cover.Segments || len(cover.Missing) > 0 || cover.RowsUnknown > 0 {
		add(true, "only part of the collection is included: rows "+coverageText(cover))
	}
	for _, p := range predictions(r) {
		if p.Outcome != nil && p.Outcome.Saturated {
			add(true, ChangeName(r, p)+": overloaded: latencies (!) keep growing")
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
