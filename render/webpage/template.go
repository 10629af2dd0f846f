package webpage

// blocks are the templates of the page and its blocks.
const blocks = `{{define "page"}}<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src {{.Hash}}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="kitescope{{with .Version}} {{text .}}{{end}}">
<title>{{text .Window}}</title>
<style>
{{.Style}}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<h1{{with .Tone}} class="{{text .}}"{{end}}>{{text .Headline}}</h1>
{{range .Under}}<p class="under">{{text .}}</p>
{{end}}{{if .Contents}}<nav aria-label="Contents"><ul>
{{range .Numbered}}<li><a href="#{{.ID}}">{{text .Title}}</a></li>
{{end}}</ul></nav>
{{end}}</header>
<main id="main">
{{if .FixFirst}}{{template "fix" .}}{{end}}{{with .Facts}}<div class="answer">{{template "facts" .}}</div>
{{end}}{{if not .FixFirst}}{{template "fix" .}}{{end}}{{range .Numbered}}<section aria-labelledby="{{.ID}}">
<h2 id="{{.ID}}">{{text .Title}}</h2>
{{range .Blocks}}{{raw .}}
{{end}}</section>
{{end}}{{with .Notes}}<section aria-labelledby="notes">
<h2 id="notes">Notes</h2>
{{template "list" .}}</section>
{{end}}</main>
<footer>Written by kitescope{{with .Version}} {{text .}}{{end}}. It only reads, and changes nothing.<span id="said" role="status" class="skip"></span></footer>
<script>{{.Script}}</script>
</body>
</html>
{{end}}
{{define "fix"}}{{with .Commands}}<div class="answer">{{template "commands" .}}</div>
{{end}}{{end}}
{{define "lines"}}{{range .}}<p{{with .Class}} class="{{text .}}"{{end}}>{{if .Named}}<strong>{{text (sentence .Name)}}</strong> {{end}}{{text .Text}}</p>
{{end}}{{end}}
{{define "list"}}<ul>
{{range .}}<li>{{text .}}</li>
{{end}}</ul>
{{end}}
{{define "facts"}}<dl>
{{range .}}<dt>{{text (sentence .Name)}}</dt><dd>{{text .Value}}{{with .Source}} <span class="source">({{text .}})</span>{{end}}</dd>
{{end}}</dl>{{end}}
{{define "commands"}}{{range .}}{{if .Code}}<div class="cmd"><pre role="group" aria-label="{{if eq .Language "python"}}pymilvus code{{else}}Command{{end}}" tabindex="0"><code>{{code .Code}}</code></pre><button type="button" hidden>Copy</button></div>
{{end}}{{with .Text}}<p>{{text .}}</p>
{{end}}{{end}}{{end}}
{{define "cards"}}<div class="cards">
{{range .}}<div><span>{{text .Name}}</span><strong>{{text .Value}}</strong><span>{{text .Note}}</span></div>
{{end}}</div>{{end}}
{{define "table"}}{{with .Title}}<h3>{{text .}}</h3>
{{end}}{{template "lines" .Notes}}{{if .Heads}}<div class="wide" role="group" aria-label="{{with .Title}}{{text .}}{{else}}{{with .Name}}{{text .}}{{else}}Table{{end}}{{end}}" tabindex="0"><table{{with .Class}} class="{{text .}}"{{end}}>
<thead><tr>{{range .Heads}}{{if .Text}}<th scope="col"{{with .Class}} class="{{text .}}"{{end}}>{{text .Text}}</th>{{else}}<td></td>{{end}}{{end}}</tr></thead>
<tbody>
{{range .Rows}}<tr>{{range .}}{{template "cell" .}}{{end}}</tr>
{{end}}</tbody></table></div>
{{end}}{{end}}
{{define "cell"}}{{if .Head}}<th scope="row">{{text .Text}}</th>{{else}}<td{{with .Class}} class="{{text .}}"{{end}}>{{text .Text}}</td>{{end}}{{end}}
{{define "article"}}<article class="{{text .Class}}">
<h3><span>{{text .Mark}}</span> {{text .Title}}</h3>
<p class="dim"><code title="{{text .CodeTitle}}">{{text .Code}}</code>{{range .About}} · {{text .}}{{end}}</p>
{{range .Blocks}}{{raw .}}
{{end}}</article>{{end}}
{{define "figure"}}<figure{{if .Scrolls}} class="scroll"{{end}}>
<div class="wide on-light" role="img" aria-label="{{text .Name}}" tabindex="0">{{raw .Light}}</div>
{{with .Dark}}<div class="wide on-dark" role="img" aria-label="{{text $.Name}}" tabindex="0">{{raw .}}</div>
{{end}}<figcaption>{{text .Name}}</figcaption>
</figure>{{end}}
{{define "fold"}}<details><summary>{{.Title}}</summary>
{{range .Inner}}{{raw .}}
{{end}}</details>{{end}}
`
