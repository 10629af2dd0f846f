package render

// copyScript gives each command a button that copies it. Without it, or on paper, there is no button.
const copyScript = `document.querySelectorAll('.cmd button').forEach(b=>{b.hidden=false;b.onclick=()=>{const t=b.parentNode.querySelector('code');
(navigator.clipboard?navigator.clipboard.writeText(t.textContent):new Promise(r=>{getSelection().selectAllChildren(t);document.execCommand('copy');r()}))
.then(()=>{b.textContent='copied';setTimeout(()=>b.textContent='copy',2000)})}})`

// htmlTemplate is the page: no script but that, nothing that is fetched, light and dark, and on
// paper. The policy in its head forbids what the page does not have.
const htmlTemplate = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src '{{.Policy}}'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="kitescope {{.Version}}">
<title>Diagnosis of {{.Where}}</title>
<style>
:root{color-scheme:light dark;--bg:#fff;--fg:#24292f;--dim:#5b646e;--line:#d5dae0;--card:#f6f8fa;--error:#b0121f;--warning:#7d4e00;--info:#0550ae;--good:#116329;
--indexed:#5b8fc9;--brute:#c27c1a;--growing:#8a63b8}
@media (prefers-color-scheme:dark){:root{--bg:#16191d;--fg:#d8dee9;--dim:#98a2b0;--line:#353b44;--card:#1f242a;--error:#ff7b86;--warning:#ebcb8b;--info:#88c0d0;--good:#a3be8c;
--indexed:#5f8cc0;--brute:#d0a050;--growing:#a98bd0}}
body{background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:62rem;padding:0 1rem}
h1{font-size:1.4rem;margin:0;overflow-wrap:anywhere}h2{font-size:1.1rem;margin:2rem 0 .6rem}
.dim,dt,th,td.source{color:var(--dim)}.verdict{font-size:1.1rem;margin:1rem 0}.good{color:var(--good)}
.finding{background:var(--card);border:1px solid var(--line);border-left:4px solid var(--info);border-radius:4px;margin:.8rem 0;padding:.7rem 1rem;overflow-wrap:anywhere;break-inside:avoid}
.error{border-left-color:var(--error)}.warning{border-left-color:var(--warning)}
.finding h3{font-size:1rem;margin:0}.error h3 span{color:var(--error)}.warning h3 span{color:var(--warning)}.info h3 span{color:var(--info)}
.finding p{margin:.4rem 0}.depth1{margin-left:1.5rem}.depth2{margin-left:3rem}.depth3{margin-left:4.5rem}.depth4{margin-left:6rem}
table{border-collapse:collapse;font-size:.9rem}td,th{padding:.1rem .8rem .1rem 0;text-align:left;vertical-align:top}td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:0}dd{margin:0}code{font:.9em ui-monospace,monospace}
.bar{background:var(--line);display:flex;height:.9rem;min-width:14rem}.bar i{display:block;height:100%}
.indexed{background:var(--indexed)}.brute{background:var(--brute)}.growing{background:var(--growing)}.key i{display:inline-block;height:.7rem;width:.7rem;margin:0 .3rem 0 1rem}
.heat td{border:1px solid var(--line);padding:.1rem .4rem;text-align:right}.heat th{font-weight:normal;padding:.1rem .4rem}
ul{margin:.3rem 0;padding-left:1.2rem}details{margin:.4rem 0}
.cmd{align-items:start;background:var(--bg);border:1px solid var(--line);border-radius:4px;display:flex;margin:.4rem 0}.cmd pre{flex:1;hyphens:none;margin:0;overflow-x:auto;padding:.4rem .6rem;white-space:pre}
.cmd pre.shell::before{color:var(--dim);content:"$ "}.cmd button{background:none;border:0;border-left:1px solid var(--line);color:var(--dim);cursor:pointer;font:inherit;font-size:.85rem;padding:.4rem .6rem}.cmd button:hover,.cmd button:focus-visible{color:var(--fg)}
@media print{.cmd button{display:none}.cmd pre{white-space:pre-wrap}body{margin:0;max-width:none;font-size:10pt}.finding{background:none}*{print-color-adjust:exact}}
</style>
</head>
<body>
<h1>{{.Where}}</h1>
<div class="dim">{{.State}}</div>
<p class="verdict{{if .Green}} good{{end}}"><strong>{{.Counts}}</strong>; {{.Checks}}</p>
{{with .Since}}<p>{{.}}</p>{{end}}
{{range .Findings}}<section class="finding {{.Severity}} depth{{.Depth}}">
<h3><span>{{.Glyph}} {{.Severity}}{{with .Change}} [{{.}}]{{end}}</span> {{.Message}}</h3>
<p class="dim"><code title="{{.Title}}">{{.Check}}</code> · {{.Object}}{{with .Cost}} · costs {{.}}{{end}}</p>
{{range .Began}}<p><strong>{{.Name}}</strong> {{.Value}}</p>
{{end}}{{with .Impact}}<p><strong>Impact.</strong> {{.}}</p>
{{end}}{{if .Fix}}<p><strong>Fix.</strong></p>
{{range .Fix}}{{if .Command}}<div class="cmd"><pre class="{{.Language}}"><code>{{.Command}}</code></pre><button type="button" hidden="hidden">copy</button></div>
{{end}}{{with .Text}}<p>{{.}}</p>
{{end}}{{end}}{{end}}{{if .Evidence}}<table>
{{range .Evidence}}<tr><td>{{.Name}}</td><td>{{.Value}}</td><td class="source">{{.Source}}</td></tr>
{{end}}</table>
{{end}}{{if .Objects}}<details><summary>{{.With}}</summary><ul>
{{range .Objects}}<li>{{.}}</li>
{{end}}</ul></details>
{{end}}</section>
{{end}}{{if .Gone}}<h2>No longer found</h2>
<ul>
{{range .Gone}}<li>{{.Message}} <code>{{.Check}}</code>{{with .Why}}: cannot be seen now, {{.}}{{end}}</li>
{{end}}</ul>
{{end}}<h2>Balance</h2>
{{.Balance}}
<h2>Cluster</h2>
<dl>
{{range .Facts}}<dt>{{.Name}}</dt><dd>{{.Value}}</dd>
{{end}}</dl>
<h2>Checks</h2>
<ul>
{{range .Groups}}<li>{{.Word}}, {{.Reason}}: <code>{{.Checks}}</code></li>
{{end}}{{range .Blind}}<li>{{.Word}}, {{.Reason}}: <code>{{.Checks}}</code></li>
{{end}}{{range .Stale}}<li>baseline: {{.}}</li>
{{end}}{{range .Accepted}}<li>accepted: {{.Message}} <code>{{.Check}}</code></li>
{{end}}{{range .OK}}<li class="dim">ok, not found: {{.Title}} <code>{{.ID}}</code></li>
{{end}}</ul>
<p class="dim">kitescope {{.Version}}{{with .Judged}}, state of {{.}}{{end}}</p>
<script>` + copyScript + `</script>
</body>
</html>
`

// balanceTemplate is the balance picture: a bar a node, and which node has how much of
// each collection.
const balanceTemplate = `{{if not .Asked}}<p class="dim">{{.Unknown}}</p>
{{else}}<table>
<tr><th>node</th><th></th><th>of all search work</th><th></th></tr>
{{range .Nodes}}<tr><td>{{.Name}}</td><td>{{if .Known}}<div class="bar">{{range .Parts}}<i class="{{.Kind}}" style="width:{{.Width}}%"></i>{{end}}</div>{{else}}?{{end}}</td><td class="n">{{.Share}}</td><td>{{.Text}}</td></tr>
{{end}}</table>
<p class="key dim"><i class="indexed"></i>behind an index<i class="brute"></i>sealed, by brute force<i class="growing"></i>growing, by brute force</p>
{{with .Spread}}<p>{{.}}</p>
{{end}}{{if .Groups}}<table class="heat">
<tr><th>share of each collection's work</th>{{range .Columns}}<th>{{.}}</th>{{end}}</tr>
{{range .Groups}}<tr><th>{{.Name}}</th>{{range .Cells}}<td{{if .Heat}} style="background:color-mix(in srgb,var(--brute) {{.Heat}}%,transparent)"{{end}}>{{.Text}}</td>{{end}}</tr>
{{end}}</table>
{{with .More}}<p class="dim">{{.}}</p>{{end}}
{{end}}{{with .Unknown}}<p class="dim">{{.}}</p>
{{end}}{{end}}`
