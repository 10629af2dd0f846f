package replays

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"kitescope/internal/hints"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/webpage"
	"kitescope/replay"
	"kitescope/replay/load"
	"kitescope/replay/whatif"
)

// WriteHTML writes one page that needs nothing but itself: what it came to, figures, plots, tables and what is needed to repeat it. The
// first of several results is what the others are compared with. There may be no results or no report, but not neither. Version is kitescope's.
func WriteHTML(w io.Writer, results []Series, report *whatif.Report, version string) error {
	if len(results) == 0 && report == nil {
		return errors.New("report: at least one result is needed")
	}
	p := &webpage.Page{Version: version}
	o := &render.ReportOptions{Limit: htmlSegments}
	if len(results) > 0 {
		p.Window, p.Under = Title(results[0].Result), []string{Title(results[0].Result), setupText(&results[0].Result.Setup, o)}
		if severalTargets(results) {
			p.Window = besideTitle(results)
			p.Under = []string{p.Window}
		}
	} else {
		p.Window, p.Under = "What if: "+render.OrUnknown(report.Setup.Collection), []string{setupText(&report.Setup, o)}
	}
	p.Headline = Conclude(results, report)
	if err := AddTo(p, results, report); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return render.WritePage(w, p)
}

// Conclude is what results and predictions come to, in a sentence.
func Conclude(results []Series, report *whatif.Report) string {
	o := &render.ReportOptions{}
	switch {
	case report != nil:
		lines := render.PageLines(answerLines(report, o))
		if len(lines) > 0 {
			return lines[0].Text
		}
	case severalTargets(results):
		return besideConclusion(results, o)
	case len(results) > 0 && len(results[0].Result.Points) > 0:
		return BestText(results[len(results)-1].Result, o)
	case len(results) > 0 && results[0].Result.Stopped != "":
		return "Stopped: " + results[0].Result.Stopped
	}
	return "Nothing was measured"
}

// BestText says what a result came to: of one point its figures, of several the one of the best recall within a hundredth that answers most.
func BestText(r *replay.Result, o *render.ReportOptions) string {
	best := &r.Points[0]
	for i := range r.Points {
		if p := &r.Points[i]; p.Recall > best.Recall+nearRecall || p.Recall > best.Recall-nearRecall && p.QPS > best.QPS {
			best = p
		}
	}
	text := words.ThreeDigits(best.QPS) + " queries per second, p50 " + latencyOf(&best.Latency, best.Latency.P50, o) + ", p99 " + latencyOf(&best.Latency, best.Latency.P99, o)
	if best.Recall > 0 {
		text += ", recall " + RecallText(best.Recall)
	}
	if len(r.Points) > 1 {
		text = "Best of " + words.Plural(len(r.Points), "point") + ", " + parametersText(best) + ": " + text
	}
	if best.Failed > 0 {
		text += "; " + failsText(best) + " of requests failed"
	}
	return text
}

// nearRecall is by how much recall may be lower where it answers more.
const nearRecall = 0.01

// Limits of a page: what is left out, it says.
const (
	htmlSegments = 25
	htmlSlow     = 10
)

// AddTo adds results and predictions to a page: figures first, then plots, costs, and what is needed to repeat them; notes go to the
// page's own.
func AddTo(p *webpage.Page, results []Series, report *whatif.Report) error {
	o := &render.ReportOptions{Limit: htmlSegments}
	if report != nil {
		addWhatIf(p, report, o)
	}
	if len(results) > 1 {
		p.Add("Side by side", besideBlocks(results, o)...)
	}
	for i := range results {
		title := "What was measured"
		if len(results) > 1 {
			title = results[i].name(i)
		}
		p.Add(title, measured(results[i].Result, o)...)
		p.Notes = append(p.Notes, results[i].Result.Notes...)
	}
	if len(results) == 2 && !severalTargets(results) { // else neither is a baseline
		addComparison(p, results, o)
	}
	if err := addPlots(p, results); err != nil {
		return err
	}
	for i := range results {
		p.Add(of("Where the time went", results, i), costs(results[i].Result, o)...)
	}
	for i := range results {
		p.Add(of("Reproduce", results, i), webpage.Facts(repeatFacts(results[i].Result)))
	}
	if len(results) == 0 {
		p.Add("Reproduce", webpage.Facts(repeatFacts(&replay.Result{Setup: report.Setup})))
	}
	return nil
}

// of is a title, with the name of the result where there are several.
func of(title string, results []Series, i int) string {
	if len(results) > 1 {
		title += ": " + results[i].name(i)
	}
	return title
}

func addPlots(p *webpage.Page, results []Series) error {
	if len(results) == 0 {
		return nil
	}
	var blocks []webpage.Block
	for _, kind := range PlotNames() {
		if (kind == "qps" || kind == "front") && !slices.ContainsFunc(results, func(s Series) bool { return sweep(s.Result) }) {
			continue // of a dot nobody learns anything
		}
		figure, err := figureOf(kind, func(b *bytes.Buffer, o PlotOptions) error { return PlotResults(b, results, o) })
		if err != nil {
			return err
		}
		blocks = append(blocks, figure)
	}
	p.Add("Plots", blocks...)
	return nil
}

// measured is what a run found, or the table of a sweep.
func measured(r *replay.Result, o *render.ReportOptions) []webpage.Block {
	var blocks []webpage.Block
	if r.Stopped != "" {
		blocks = append(blocks, webpage.Lines(webpage.Line{Class: "bad", Text: "Stopped: " + r.Stopped + ". Results up to that point follow."}))
	}
	if sweep(r) {
		front := load.OnFront(r.Points)
		part := render.Ask(o, pointTable(r.Points, front, o), render.Unbounded[*load.Point](o)).List("")
		part.Head = sweepHead(r.Points, front, o)
		blocks = append(blocks, render.PartTable(&part).HTML())
	} else if len(r.Points) == 1 {
		blocks = append(blocks, webpage.Cards(pointCards(&r.Points[0], r, o)), webpage.Lines(render.PageLines(pointLines(&r.Points[0], o))...))
	}
	blocks = append(blocks, webpage.Lines(render.PageLines(coverageLines(&r.Cover, o))...))
	if len(r.Points) > 0 {
		blocks = append(blocks, webpage.Lines(render.PageLines(recallLines(r, o))...), webpage.Lines(render.PageLines(differenceLines(r, o))...))
	}
	return blocks
}

func pointCards(p *load.Point, r *replay.Result, o *render.ReportOptions) []webpage.Card {
	note := "one round: no interval"
	if hasInterval(p) {
		note = "95% CI " + words.ThreeDigits(p.QPSLow) + " to " + words.ThreeDigits(p.QPSHigh)
	}
	cards := []webpage.Card{
		card("queries per second", words.ThreeDigits(p.QPS), note),
		card("p50", latencyOf(&p.Latency, p.Latency.P50, o), "median latency"),
		card("p99", latencyOf(&p.Latency, p.Latency.P99, o), "1 in 100 requests is slower"),
		card("CPU of a query", knownLatency(p.CPUPerQuery, o), toldText(p.DistancesPerQuery)+" distances"),
		card("failed", failsText(p), "of "+words.Count(p.Asked, "request", "requests")),
	}
	if r.Recall != nil {
		cards = append(cards, card("recall", RecallText(r.Recall.Mean), "the worst query has "+RecallText(r.Recall.Worst)))
	}
	return cards
}

func card(name, value, note string) webpage.Card {
	return webpage.Card{Name: name, Value: value, Note: note}
}

func addComparison(p *webpage.Page, results []Series, o *render.ReportOptions) {
	changes := load.Compare(results[0].Result.Points, results[1].Result.Points)
	sheet := newReplayComparisonSheet(results[0].Result, results[1].Result, changes, o)
	blocks := append([]webpage.Block{webpage.Lines(render.PageLines(sheet.Head[1:])...)}, sheet.Blocks()...)
	p.Add(sheet.Head[0].Text, append(blocks, webpage.Lines(render.PageLines(sheet.Foot)...))...)
}

// costs are where the time went; nothing if nobody tells.
func costs(r *replay.Result, o *render.ReportOptions) []webpage.Block {
	if r.Costs == nil || len(r.Costs.Segments) == 0 {
		return nil
	}
	var blocks []webpage.Block
	slow := *o
	slow.Limit = htmlSlow
	for _, parts := range [][]render.Part{costParts(r, o), slowParts(r, &slow)} {
		for i := range parts {
			blocks = append(blocks, render.PartTable(&parts[i]).HTML())
		}
	}
	return blocks
}

func addWhatIf(p *webpage.Page, r *whatif.Report, o *render.ReportOptions) {
	list := predictions(r)
	lines := render.PageLines(answerLines(r, o))
	for i := range lines {
		lines[i].Named, lines[i].Class = false, "title"
	}
	parts := []render.Part{
		render.Ask(o, predictionTable(r, list, o), render.Unbounded[*whatif.Prediction](o)).List(""),
		{List: render.Places(len(list), splitColumns(r, list, o))},
	}
	parts = append(append(parts, trustParts(r, o)...), render.Part{Head: causeLines(r, o)})
	blocks := []webpage.Block{webpage.Lines(lines...)}
	for i := range parts {
		blocks = append(blocks, render.PartTable(&parts[i]).HTML())
	}
	for _, x := range list {
		for _, n := range x.Notes {
			p.Notes = append(p.Notes, ChangeName(r, x)+": "+n)
		}
	}
	p.Notes = append(p.Notes, r.Notes...)
	p.Add("What if: at "+simulatedLoadText(&r.Load), blocks...)
}

// figureOf draws a plot for both schemes, "" if there is nothing to draw.
func figureOf(kind string, write func(b *bytes.Buffer, o PlotOptions) error) (webpage.Block, error) {
	var light, dark bytes.Buffer
	err := write(&light, PlotOptions{Kind: kind, Format: "svg"})
	if hints.Carried(err) {
		return "", nil
	}
	if err == nil {
		err = write(&dark, PlotOptions{Kind: kind, Format: "svg", Dark: true})
	}
	if err != nil {
		return "", err
	}
	return webpage.Figure(kind, webpage.Inline(light.String()), webpage.Inline(dark.String())), nil
}
