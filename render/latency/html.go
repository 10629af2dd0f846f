package latency

import (
	"io"
	"math"
	"strings"

	"kitescope/inspect/latency"
	"kitescope/render"
	"kitescope/render/webpage"
)

func writePage(w io.Writer, r *Report) error {
	p := &webpage.Page{Window: "Latency of " + r.Where, Headline: Nothing(r.Latency), Under: render.NonBlank(r.Where, r.window()), Version: r.Version}
	if len(r.Budgets) > 0 {
		p.Headline = latency.Verdict(r.Budgets[0])
	}
	r.AddTo(p)
	return render.WritePage(w, p)
}

// window is the time that was measured over.
func (r *Report) window() string {
	text := r.Latency.Window.Why
	if !r.At.IsZero() {
		text += ", until " + render.Stamp(r.At)
	}
	return text
}

// AddTo adds a waterfall of each budget to a page; what is unknown goes to its notes.
func (r *Report) AddTo(p *webpage.Page) {
	var blocks []webpage.Block
	for _, b := range r.Budgets {
		t := webpage.Table{
			Title: latency.Verdict(b), Notes: []webpage.Line{{Class: "dim", Text: rates(b)}},
			Heads: []webpage.Cell{{Text: "phase"}, {Text: "ms", Class: "n"}, {Text: "share", Class: "n"}, {}, {Text: "between"}, {}},
		}
		for _, row := range lay([]*latency.Budget{b}) {
			t.Rows = append(t.Rows, pageRow(row))
		}
		blocks = append(blocks, t.HTML())
	}
	p.Add("Where the time goes", blocks...)
	for _, l := range unknown(r) {
		p.Notes = append(p.Notes, "Unknown: "+l.Text)
	}
	if len(blocks) > 0 {
		p.Notes = append(p.Notes, "~ is an estimate: calls run at the same time, the slowest counts, and Milvus reports only how long each takes. What no metric explains is shown as unexplained.")
	}
}

// pageRow is a phase of a waterfall.
func pageRow(r *Row) []webpage.Cell {
	name, class, text, note, bounds := string(r.phase.Name), "part", "", "", ""
	switch {
	case r.at != nil:
		name, class, text = r.at.Role+"-"+r.at.Node.String(), "node", "dim"
		note = "a call takes " + latency.Milliseconds(r.at.Ms)
	case r.phase.Aside():
		class, text, note = "node", "dim", aside(r.phase)
	case !r.known():
		text, note = "dim", short(r.phase.Why)
	case r.phase.Name == latency.Unexplained:
		class = "unexplained"
	case len(r.phase.Children) > 0:
		class = "whole"
	}
	if r.at == nil && r.known() && !r.phase.Aside() {
		bounds = between(r.phase.Mean)
	}
	bar := webpage.Cell{Class: "w"}
	if r.budget.Ms > 0 && r.known() {
		percent := func(ms float64) float64 { return math.Round(min(100, max(0, 100*ms/r.budget.Ms))*100) / 100 }
		left := percent(r.start)
		bar.Bar = []webpage.Piece{{Class: class, At: true, Left: left, On: min(percent(r.ms()), 100-left)}}
	}
	figures := strings.TrimSpace("n " + text)
	return []webpage.Cell{
		{Text: name, Class: text, Indent: float64(r.depth*12) / 10},
		{Text: meanText(r), Class: figures},
		{Text: shareText(r), Class: figures},
		bar,
		{Text: bounds, Class: text},
		{Text: note, Class: text},
	}
}
