package replays

// replayTemplate is the page: no script, nothing that is fetched, light and dark, on a phone and on paper. The policy in its head
// forbids what the page does not have.
const replayTemplate = `{{define "line"}}{{if .Named}}<p class="f"><span>{{.Name}}</span><span{{with .Class}} class="{{.}}"{{end}}>{{.Text}}</span></p>{{else}}<p{{with .Class}} class="{{.}}"{{end}}>{{.Text}}</p>{{end}}{{end}}<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="kitescope {{.Version}}">
<title>{{.Title}}</title>
<style>
:root{color-scheme:light dark;--bg:#fff;--fg:#24292f;--dim:#5b646e;--line:#d5dae0;--card:#f6f8fa;--bad:#b0121f;--warn:#7d4e00;--good:#116329}
@media screen and (prefers-color-scheme:dark){:root{--bg:#16191d;--fg:#d8dee9;--dim:#98a2b0;--line:#353b44;--card:#1f242a;--bad:#ff7b86;--warn:#ebcb8b;--good:#a3be8c}}
body{background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}
h1{font-size:1.4rem;margin:0;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:2rem 0 .6rem;overflow-wrap:anywhere}h3{font-size:1rem;margin:1rem 0 .3rem}
p{margin:.2rem 0;overflow-wrap:anywhere}.dim,dt,th{color:var(--dim)}.good{color:var(--good)}.warn{color:var(--warn)}.bad{color:var(--bad)}.title{font-weight:bold}
.f{display:grid;gap:0 1rem;grid-template-columns:6rem 1fr}.f span:first-child{color:var(--dim)}.f span{min-width:0;overflow-wrap:anywhere}
.verdict{font-size:1.1rem;font-weight:bold;margin:.6rem 0}
.cards{display:flex;flex-wrap:wrap;gap:.7rem;margin:.6rem 0}.cards div{background:var(--card);border:1px solid var(--line);border-radius:4px;flex:1 1 8rem;padding:.5rem .8rem}
.cards b{display:block;font-size:1.45rem;font-variant-numeric:tabular-nums}.cards i{color:var(--dim);display:block;font-size:.85rem;font-style:normal}
.wide{margin:.6rem 0;overflow-x:auto}.wide svg{display:block;height:auto;min-width:40rem;width:100%}.dark{display:none}
@media screen and (prefers-color-scheme:dark){.light{display:none}.dark{display:block}}
table{border-collapse:collapse;font-size:.9rem}td,th{padding:.1rem .8rem .1rem 0;text-align:left;vertical-align:top;white-space:nowrap}
th{border-bottom:1px solid var(--line);font-weight:normal}.n{text-align:right;font-variant-numeric:tabular-nums}tr:hover td{background:var(--card)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:0}dd{font:.9em/1.7 ui-monospace,monospace;margin:0;overflow-wrap:anywhere}
@media (max-width:30rem){body{margin:1rem auto;padding:0 .6rem}dl{grid-template-columns:1fr}dd{margin-bottom:.3rem}}
@media print{body{font-size:9pt;margin:0;max-width:none}.wide{break-inside:avoid;overflow:visible}.wide svg{min-width:0}h2,h3{break-after:avoid}tr{break-inside:avoid}*{print-color-adjust:exact}}
</style>
</head>
<body>
<h1>{{.Title}}</h1>
<p class="dim">{{.Setup}}</p>
{{range .Sections}}<section>
<h2>{{.Title}}</h2>
{{if .Cards}}<div class="cards">
{{range .Cards}}<div>{{.Name}}<b>{{.Value}}</b><i>{{.Note}}</i></div>
{{end}}</div>
{{end}}{{range .Lines}}{{template "line" .}}
{{end}}{{range .Figures}}<div class="wide" role="img" aria-label="{{.Name}}"><div class="light">{{.Light}}</div><div class="dark" aria-hidden="true">{{.Dark}}</div></div>
{{end}}{{range .Tables}}{{with .Title}}<h3>{{.}}</h3>
{{end}}{{range .Notes}}{{template "line" .}}
{{end}}{{if .Heads}}<div class="wide"><table>
<thead><tr>{{range .Heads}}<th{{with .Class}} class="{{.}}"{{end}}>{{.Text}}</th>{{end}}</tr></thead>
<tbody>
{{range .Rows}}<tr>{{range .}}<td{{with .Class}} class="{{.}}"{{end}}>{{.Text}}</td>{{end}}</tr>
{{end}}</tbody></table></div>
{{end}}{{end}}{{if .Facts}}<dl>
{{range .Facts}}<dt>{{.Name}}</dt><dd>{{.Value}}</dd>
{{end}}</dl>
{{end}}</section>
{{end}}<p class="dim">kitescope {{.Version}}</p>
</body>
</html>
`
