package replays

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"kitescope/internal/hints"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/webpage"
	"kitescope/replay"
	"kitescope/replay/whatif"
)

// WriteHTML writes a self-contained page with the conclusion, figures, plots, tables and instructions to
// reproduce the results. The first of several results is the baseline. There must be a result or a report.
// version is the version of kitescope.
func WriteHTML(w io.Writer, results []Series, report *whatif.Report, version string) error {
	if len(results) == 0 && report == nil {
		return errors.New("report: at least one result is needed")
	}
	p := &webpage.Page{Version: version}
	o := &render.ReportOptions{Limit: htmlSegments}
	if len(results) > 0 {
		p.Window, p.Under = title(results[0].Result), []string{
			title(results[0].Result), setupText(&results[0].Result.Setup, o),
		}
		if severalTargets(results) {
			p.Window = sideBySideTitle(results)
			p.Under = []string{p.Window}
		}
	} else {
		p.Window, p.Under = "What if: "+render.OrUnknown(report.Setup.Collection), []string{setupText(&report.Setup, o)}
	}
	if len(results) > 0 && !results[0].Result.Taken.IsZero() {
		p.Under = append(p.Under, "Measured at "+results[0].Result.Taken.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	p.Headline = words.Sentence(Conclude(results, report))
	if err := AddTo(p, results, report); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return render.WritePage(w, p)
}

// Conclude returns the conclusion from results and predictions in a sentence.
func Conclude(results []Series, report *whatif.Report) string {
	o := &render.ReportOptions{}
	switch {
	case report != nil:
		return answerText(report, o)
	case severalTargets(results):
		return sideBySideConclusion(results, o)
	case len(results) > 0 && len(results[0].Result.Points) > 0:
		return bestText(results[len(results)-1].Result, o)
	case len(results) > 0 && results[0].Result.Stopped != "":
		return "Stopped: " + results[0].Result.Stopped
	}
	return "Nothing was measured"
}

// bestText returns the conclusion of a result: the figures of its only point, or of its best point. A point is
// better than the best one before it if its recall is higher by more than recallTolerance, or if its QPS is higher
// and its recall is not lower by recallTolerance or more.
func bestText(r *replay.Result, o *render.ReportOptions) string {
	best := &r.Points[0]
	for i := range r.Points {
		if p := &r.Points[i]; p.Recall > best.Recall+recallTolerance ||
			p.Recall > best.Recall-recallTolerance && p.QPS > best.QPS {
			best = p
		}
	}
	text := words.ThreeDigits(best.QPS) + " queries per second, p50 " + latencyOf(&best.Latency, best.Latency.P50, o) +
		", p99 " + latencyOf(&best.Latency, best.Latency.P99, o)
	if best.Recall > 0 {
		text += ", recall " + recallText(best.Recall)
	}
	if len(r.Points) > 1 {
		text = "Best of " + words.Plural(len(r.Points), "point") + ", " + parametersText(best) + ": " + text
	}
	if best.Failed > 0 {
		text += "; " + failsText(best) + " of requests failed"
	}
	return text
}

// recallTolerance is by how much recall may be lower if QPS is higher.
const recallTolerance = 0.01

// htmlSegments is the maximum number of segments and requests that a page lists.
const htmlSegments = 25

// AddTo adds results and predictions to a page: reports, plots, and instructions to reproduce them. It adds notes
// to the page's notes.
func AddTo(p *webpage.Page, results []Series, report *whatif.Report) error {
	o := &render.ReportOptions{Limit: htmlSegments}
	if report != nil {
		addSheet(p, "What if: at "+simulatedLoadText(&report.Load), newWhatIfSheet(report, o, false))
	}
	if len(results) > 1 {
		addSheet(p, "Side by side", newSideBySideSheet(results, o))
	}
	for i := range results {
		title := "What was measured"
		if len(results) > 1 {
			title = results[i].name(i)
		}
		addSheet(p, title, newReplaySheet(results[i].Result, o, false))
	}
	if len(results) == 2 && !severalTargets(results) { // otherwise the first result is not a baseline
		sheet := newReplayComparisonSheet(results[0].Result, results[1].Result, o)
		addSheet(p, sheet.Head[0].Text, sheet)
	}
	if err := addPlots(p, results); err != nil {
		return err
	}
	for i := range results {
		title := "Reproduce"
		if len(results) > 1 {
			title += ": " + results[i].name(i)
		}
		p.Add(title, reproduce(&results[i].Result.Setup, results[i].Result.Taken, o))
	}
	if len(results) == 0 {
		p.Add("Reproduce", reproduce(&report.Setup, time.Time{}, o))
	}
	return nil
}

func reproduce(s *replay.Setup, taken time.Time, o *render.ReportOptions) webpage.Block {
	lines := repeatLines(s, taken, o)
	return webpage.Lines(render.PageLines(lines[min(2, len(lines)):])...)
}

// addSheet adds a report to a page. The heading replaces its title.
func addSheet(p *webpage.Page, title string, s *render.Sheet) {
	blocks := []webpage.Block{webpage.Lines(render.PageLines(s.Head[1:])...)}
	p.Add(title, append(blocks, s.Blocks()...)...)
	for _, l := range render.PageLines(s.Foot) {
		p.Notes = append(p.Notes, strings.TrimSpace(strings.TrimPrefix(l.Name, "note")+" "+l.Text))
	}
}

func addPlots(p *webpage.Page, results []Series) error {
	if len(results) == 0 {
		return nil
	}
	var blocks []webpage.Block
	for _, kind := range PlotNames() {
		if kind != "latency" && !slices.ContainsFunc(results, func(s Series) bool { return sweep(s.Result) }) {
			continue // a plot of a single point is useless
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

// figureOf draws a plot in both color schemes. It returns "" for a plot without drawable values.
func figureOf(kind string, write func(b *bytes.Buffer, o PlotOptions) error) (webpage.Block, error) {
	var light, dark bytes.Buffer
	err := write(&light, PlotOptions{Kind: kind, Format: "svg"})
	if hints.HasHint(err) {
		return "", nil
	}
	if err == nil {
		err = write(&dark, PlotOptions{Kind: kind, Format: "svg", Dark: true})
	}
	if err != nil {
		return "", err
	}
	return webpage.Figure(words.Sentence(plotKinds()[kind].what), webpage.Inline(light.String()),
		webpage.Inline(dark.String())), nil
}
