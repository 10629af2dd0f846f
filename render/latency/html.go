package latency

import (
	"io"
	"math"

	"kitescope/inspect/latency"
	"kitescope/render"
	"kitescope/render/webpage"
)

// pageRow is a phase of a waterfall. Its texts are made harmless by the template.
type pageRow struct {
	Name, Ms, Share, Bounds, Note, Class string
	In                                   float64 // em
	Left, Width                          float64 // percent
}

func writePage(w io.Writer, r *Report) error {
	p := &webpage.Page{Window: "Latency of " + r.Where, Headline: Nothing(r.Latency), Under: render.NonBlank(r.Where, r.window()), Version: r.Version}
	if len(r.Budgets) > 0 {
		p.Headline = latency.Verdict(r.Budgets[0])
	}
	if err := r.AddTo(p); err != nil {
		return err
	}
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
func (r *Report) AddTo(p *webpage.Page) error {
	list := make([]pageBudget, len(r.Budgets))
	for i, b := range r.Budgets {
		list[i] = pageBudget{Verdict: latency.Verdict(b), Rates: rates(b)}
		for _, row := range lay([]*latency.Budget{b}) {
			list[i].Rows = append(list[i].Rows, newPageRow(row))
		}
	}
	block, err := webpage.From(budgetsTemplate, list)
	if err != nil {
		return err
	}
	p.Add("Where the time goes", block)
	for _, l := range unknown(r) {
		p.Notes = append(p.Notes, "Unknown: "+l.Text)
	}
	if len(list) > 0 {
		p.Notes = append(p.Notes, "~ is an estimate: calls run at the same time, the slowest counts, and Milvus reports only how long each takes. What no metric explains is shown as unexplained.")
	}
	return nil
}

// pageBudget is the waterfall of a kind of request.
type pageBudget struct {
	Verdict, Rates string
	Rows           []pageRow
}

func newPageRow(r *Row) pageRow {
	x := pageRow{Name: string(r.phase.Name), Ms: meanText(r), Share: shareText(r), In: float64(r.depth*12) / 10, Class: "part"}
	percent := func(ms float64) float64 { return math.Round(min(100, max(0, 100*ms/r.budget.Ms))*100) / 100 }
	if r.budget.Ms > 0 && r.known() {
		x.Left, x.Width = percent(r.start), percent(r.ms())
		x.Width = min(x.Width, 100-x.Left)
	}
	switch {
	case r.at != nil:
		x.Name, x.Class = render.Harmless(r.at.Role)+"-"+r.at.Node.String(), "node"
		x.Note = "a call takes " + latency.Milliseconds(r.at.Ms)
	case r.phase.Aside():
		x.Class, x.Note = "node", aside(r.phase)
	case !r.known():
		x.Class, x.Note = "unknown", render.Harmless(short(r.phase.Why))
	case r.phase.Name == latency.Unexplained:
		x.Class = "unexplained"
	case len(r.phase.Children) > 0:
		x.Class = "whole"
	}
	if r.at == nil && r.known() && !r.phase.Aside() {
		x.Bounds = between(r.phase.Mean)
	}
	return x
}

// budgetsTemplate is a list of waterfalls.
const budgetsTemplate = `{{range $i, $_ := .}}{{if $i}}
{{end}}<h3>{{text .Verdict}}</h3>
<p class="dim">{{text .Rates}}</p>
<div class="wide" role="group" aria-label="Phases" tabindex="0"><table>
<thead><tr><th scope="col">phase</th><th scope="col" class="n">ms</th><th scope="col" class="n">share</th><td></td><th scope="col">between</th><td></td></tr></thead>
<tbody>
{{range .Rows}}<tr class="{{.Class}}"><td style="padding-left:{{.In}}em">{{text .Name}}</td><td class="n">{{.Ms}}</td><td class="n">{{.Share}}</td><td class="w"><div class="bar"><i class="at" style="left:{{.Left}}%;width:{{.Width}}%"></i></div></td><td>{{.Bounds}}</td><td>{{text .Note}}</td></tr>
{{end}}</tbody></table></div>{{end}}`
