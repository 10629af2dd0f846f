package latency

import (
	"html/template"
	"io"
	"math"

	"kitescope/doc"
	"kitescope/inspect/latency"
	"kitescope/render"
)

// page is what the page is made from. Every text in it is harmless already, and the template escapes it.
type page struct {
	Verdict, Where, Window, Version string
	Unknown                         []string
	Budgets                         []pageBudget
}

type pageBudget struct {
	Verdict, Rates string
	Rows           []pageRow
}

type pageRow struct {
	Name, Ms, Share, Bounds, Note, Class string
	In                                   float64 // em
	Left, Width                          float64 // percent
}

func writePage(w io.Writer, r *Report) error {
	t, err := template.New("latency").Parse(pageTemplate)
	if err != nil {
		return err
	}
	out := doc.NewOutput(w, doc.Pieces)
	if err := t.Execute(&out, newPage(r)); err != nil {
		return err
	}
	return out.Flush()
}

func newPage(r *Report) *page {
	p := &page{Where: render.Harmless(r.Where), Window: render.Harmless(r.Latency.Window.Why), Version: render.Harmless(r.Version), Verdict: render.Harmless(Nothing(r.Latency))}
	if !r.At.IsZero() {
		p.Window += ", until " + render.Stamp(r.At)
	}
	for _, l := range unknown(r) {
		p.Unknown = append(p.Unknown, render.Harmless(l.Text))
	}
	for i, b := range r.Budgets {
		if i == 0 {
			p.Verdict = render.Harmless(latency.Verdict(b))
		}
		x := pageBudget{Verdict: render.Harmless(latency.Verdict(b)), Rates: render.Harmless(rates(b))}
		for _, row := range lay([]*latency.Budget{b}) {
			x.Rows = append(x.Rows, newPageRow(row))
		}
		p.Budgets = append(p.Budgets, x)
	}
	return p
}

func newPageRow(r *Row) pageRow {
	x := pageRow{Name: string(r.phase.Name), Ms: meanText(r), Share: shareText(r), In: float64(r.depth) * 1.2, Class: "part"}
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

// pageTemplate is the page: no script, nothing that is fetched, light and dark, and on paper.
const pageTemplate = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="kitescope {{.Version}}">
<title>Latency of {{.Where}}</title>
<style>
:root{color-scheme:light dark;--bg:#fff;--fg:#24292f;--dim:#5b646e;--line:#d5dae0;--part:#3f7fbf;--whole:#b9cbe0;--node:#8a63b8;--none:#c27c1a}
@media (prefers-color-scheme:dark){:root{--bg:#16191d;--fg:#d8dee9;--dim:#98a2b0;--line:#353b44;--part:#6ba3d6;--whole:#3d4f66;--node:#a98bd0;--none:#d0a050}}
body{background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem}
h1{font-size:1.4rem;margin:0;overflow-wrap:anywhere}h2{font-size:1.05rem;margin:2rem 0 .2rem;overflow-wrap:anywhere}.dim,th,.node td,.unknown td{color:var(--dim)}
table{border-collapse:collapse;font-size:.88rem;width:100%}td,th{padding:.1rem .8rem .1rem 0;text-align:left;white-space:nowrap}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}td.w{width:45%;min-width:14rem}
.bar{background:var(--line);height:.8rem;position:relative}.bar i{display:block;height:100%;min-width:1px;position:absolute}
.part i{background:var(--part)}.whole i{background:var(--whole)}.node i{background:var(--node)}.unexplained i{background:var(--none)}
.wide{overflow-x:auto}
@media print{body{margin:0;max-width:none;font-size:10pt}*{print-color-adjust:exact}}
</style>
</head>
<body>
<h1>{{.Verdict}}</h1>
<div class="dim">{{.Where}}; {{.Window}}</div>
{{range .Unknown}}<p><strong>Unknown.</strong> {{.}}</p>
{{end}}{{range .Budgets}}<h2>{{.Verdict}}</h2>
<div class="dim">{{.Rates}}</div>
<div class="wide"><table>
<tr><th>phase</th><th class="n">ms</th><th class="n">share</th><th></th><th>between</th><th></th></tr>
{{range .Rows}}<tr class="{{.Class}}"><td style="padding-left:{{.In}}em">{{.Name}}</td><td class="n">{{.Ms}}</td><td class="n">{{.Share}}</td><td class="w"><div class="bar"><i style="left:{{.Left}}%;width:{{.Width}}%"></i></div></td><td>{{.Bounds}}</td><td>{{.Note}}</td></tr>
{{end}}</table></div>
{{end}}<p class="dim">~ is an estimate: calls run at the same time, the slowest counts, and Milvus tells only how long each takes. What no metric explains is shown as such. kitescope {{.Version}} changes nothing.</p>
</body>
</html>
`
