package render

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/replay/simulate"
	"kitescope/replay/whatif"
	"kitescope/words"
)

// trustParts say how far the model is from what was measured.
func trustParts(r *whatif.Report, o *ReportOptions) []sheetPart {
	head := []sheetLine{{role: RoleTitle, text: "How far to trust it"}}
	for _, t := range trustTexts(r) {
		role := RolePlain
		if t.warn {
			role = RoleWarn
		}
		head = append(head, sheetLine{role: role, text: "  " + t.text})
	}
	points, against := slices.Concat(r.Check.Points, r.Check.Live), len(r.Check.Points)
	if len(points) == 0 {
		return []sheetPart{{head: head}}
	}
	column := func(title string, text func(p *whatif.CheckPoint) string) sheetColumn {
		return sheetColumn{title: title, right: true, text: func(i int) string { return text(&points[i]) }}
	}
	marked := against < len(points) || slices.ContainsFunc(points, func(p whatif.CheckPoint) bool { return p.Disturbed })
	if marked {
		head = append(head, sheetLine{role: RoleDim, text: "here: of the engine on this machine, ! others used it and the run does not count; live: of the cluster"})
	}
	columns := []sheetColumn{
		{title: "SESSIONS", right: true, text: func(i int) string {
			text := strconv.Itoa(points[i].Sessions)
			if marked {
				text += [...]string{" here", " live"}[b2i(i >= against)] + [...]string{"", " !"}[b2i(points[i].Disturbed)]
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
	return []sheetPart{{head: head, rows: len(points), columns: columns}}
}

// offText is a signed error in percent.
func offText(predicted, measured float64) string {
	if measured <= 0 {
		return words.UnknownMark
	}
	return ratioText(predicted / measured)
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
		add(false, "overheads of network and proxy are taken from "+Harmless(c.Calibrated))
	case c.Overheads.From != "":
		add(true, "overheads of network and proxy are not of this cluster: "+Harmless(c.Overheads.From))
	default:
		add(true, "overheads of network and proxy are defaults: calibrate them with a run against the live cluster")
	}
	if cover := &r.Cover; cover.Loaded < cover.Segments || len(cover.Missing) > 0 || cover.RowsUnknown > 0 {
		add(true, "not all of the collection is in it: rows "+coverageText(cover))
	}
	for _, p := range predictions(r) {
		if p.Outcome != nil && p.Outcome.Saturated {
			add(true, changeName(r, p)+": the load is more than it can do, latencies (!) grow for as long as it lasts")
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

func predictionFields(r *whatif.Report, list []*whatif.Prediction) []sheetField {
	field := func(name string, of func(p *whatif.Prediction) datum) sheetField {
		return sheetField{name, func(i int) datum { return of(list[i]) }}
	}
	seconds := func(name string, of func(p *whatif.Prediction) time.Duration) sheetField {
		return field(name+"_seconds", func(p *whatif.Prediction) datum { return exactDatum(of(p).Seconds()) })
	}
	outcome := func(name string, of func(x *simulate.Outcome) float64) sheetField {
		return field(name, func(p *whatif.Prediction) datum {
			if p.Outcome == nil {
				return unknownDatum(datumExact)
			}
			return finiteDatum(of(p.Outcome))
		})
	}
	latency := func(figure string, of func(x *simulate.Outcome) time.Duration) sheetField {
		return field("latency_"+figure+"_seconds", func(p *whatif.Prediction) datum {
			if p.Outcome == nil {
				return unknownDatum(datumExact)
			}
			return exactDatum(of(p.Outcome).Seconds())
		})
	}
	return []sheetField{
		field("change", func(p *whatif.Prediction) datum { return textDatum(changeName(r, p)) }),
		field("most_qps", func(p *whatif.Prediction) datum { return toldDatum(p.Most) }),
		field("gain", func(p *whatif.Prediction) datum { return toldDatum(p.Gain) }),
		field("gain_at_load", func(p *whatif.Prediction) datum { return toldDatum(r.GainAtLoad(p)) }),
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
		field("critical_node", func(p *whatif.Prediction) datum { return nameDatum(p.Cost.Node) }),
		field("idlest_node_use", func(p *whatif.Prediction) datum { return useDatum(p, false) }),
		field("busiest_node_use", func(p *whatif.Prediction) datum { return useDatum(p, true) }),
		field("recall", func(p *whatif.Prediction) datum {
			if p.Recall < 0 {
				return unknownDatum(datumExact)
			}
			return exactDatum(p.Recall)
		}),
		field("modelled", func(p *whatif.Prediction) datum { return exactDatum(p.Modelled) }),
		field("check_qps_error", func(*whatif.Prediction) datum { return checkDatum(r, r.Check.QPS) }),
		field("check_p99_error", func(*whatif.Prediction) datum { return checkDatum(r, r.Check.P99) }),
	}
}

// checkDatum is an error of the check, which is unknown if there was none.
func checkDatum(r *whatif.Report, f float64) datum {
	if len(r.Check.Points) == 0 || f < 0 {
		return unknownDatum(datumExact)
	}
	return finiteDatum(f)
}

func useDatum(p *whatif.Prediction, busiest bool) datum {
	if p.Outcome == nil {
		return unknownDatum(datumExact)
	}
	least, most, ok := usesOf(p.Outcome)
	switch {
	case !ok:
		return unknownDatum(datumExact)
	case busiest:
		return exactDatum(most)
	}
	return exactDatum(least)
}
