package render

import (
	"html/template"
	"io"
	"slices"

	"kitescope/doc"
	"kitescope/inspect/balance"
	"kitescope/table"
	"kitescope/words"
)

// balancePage is what the page of the balance is made from. Every text in it is
// harmless already, and the template escapes it.
type balancePage struct {
	Where, State, Auto, Weights, Version, All string
	Unread                                    []string
	Picture                                   template.HTML
	Groups                                    []balancePageGroup
}

type balancePageGroup struct {
	Name, Spread, Unknown, Plan, Room, Milvus string
	Columns                                   []string
	Rows                                      [][]string
	Moves                                     [][]string
	Channels                                  []string
	Script                                    []string
}

func writeBalancePage(w io.Writer, b *Balance, _ *Options) error {
	t, err := template.New("page").Parse(balancePageTemplate)
	if err != nil {
		return err
	}
	out := doc.NewOutput(w, doc.Pieces)
	if err := t.Execute(&out, newBalancePage(b)); err != nil {
		return err
	}
	return out.Flush()
}

func newBalancePage(b *Balance) *balancePage {
	r := b.Report
	origin := &b.Env.Cluster.Origin
	p := &balancePage{
		Where: Harmless(origin.Root) + " @ " + Harmless(origin.Location), Version: Harmless(b.Version), Auto: AutoText(&r.Survey.Auto),
		Weights: r.Survey.Weights.String(), Picture: balancePicture(r.Survey),
	}
	if r.Survey.Asked {
		p.Unread = UnreadText(b.Env.Cluster.Loaded)
		if text := RepeatedText(b.Report.Survey); text != "" {
			p.Unread = append(p.Unread, text)
		}
	}
	if !origin.Taken.IsZero() {
		p.State = "state of " + Stamp(origin.Taken)
	}
	if r.Plans != nil && r.Moves() > 0 {
		p.All = words.Plural(r.Moves(), "move") + " in all: over all replicas max/mean " + Ratio(r.Options.By.Of(&r.Survey.Spread)) + " to " + Ratio(r.Options.By.Of(&r.After))
	}
	if !r.Survey.Asked {
		return p
	}
	for i, g := range r.Groups {
		p.Groups = append(p.Groups, newBalancePageGroup(b, i, g))
	}
	return p
}

func newBalancePageGroup(b *Balance, i int, g *balance.Group) balancePageGroup {
	x := balancePageGroup{Name: GroupTitle(g), Spread: GroupSpread(g, b.Report.Options.By), Unknown: UnknownText(g), Milvus: VerdictText(b.Report.Verdicts[i], &b.Report.Survey.Auto, b.Report.Options.By)}
	rows := make([]shareRow, len(g.Shares))
	for i, s := range g.Shares {
		rows[i] = shareRow{s, g}
	}
	grid := newShareGrid(b, rows, &Options{KeepColumns: true})
	grid.Columns = slices.DeleteFunc(grid.Columns, func(j int) bool { return grid.Table.Schema().Columns[j].Name == "bar" })
	for _, j := range grid.Columns {
		x.Columns = append(x.Columns, grid.Table.Schema().Columns[j].Title)
	}
	x.Columns = append(x.Columns, "COST SHARE")
	for i := range rows {
		var texts []string
		for _, j := range grid.Columns {
			texts = append(texts, Text(grid.Table.Cell(i, j), grid.Table.Schema().Columns[j].Kind))
		}
		share := words.UnknownMark
		if rows[i].Known {
			share = part(rows[i].Cost, g.Cost())
		}
		x.Rows = append(x.Rows, append(texts, share))
	}
	if b.Report.Plans == nil {
		return x
	}
	plan := b.Report.Plans[i]
	x.Plan, x.Script, x.Room = PlanText(plan), PlanScript(plan, b.databases()), MemoryText(plan)
	for _, m := range plan.Moves {
		x.Moves = append(x.Moves, []string{m.Segment.String(), words.Number(m.Rows), Text(table.Cell{Int: m.Size}, table.Bytes), m.From.String(), m.To.String()})
	}
	for _, m := range plan.Channels {
		x.Channels = append(x.Channels, "shard "+Harmless(m.Channel)+" with "+words.Number(m.Rows)+" growing rows from node "+m.From.String()+" to "+m.To.String())
	}
	return x
}

// balancePageTemplate is the page: no script, nothing that is fetched, light and dark, and on paper.
const balancePageTemplate = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="kitescope {{.Version}}">
<title>Balance of {{.Where}}</title>
<style>
:root{color-scheme:light dark;--bg:#fff;--fg:#24292f;--dim:#5b646e;--line:#d5dae0;--indexed:#5b8fc9;--brute:#c27c1a;--growing:#8a63b8}
@media (prefers-color-scheme:dark){:root{--bg:#16191d;--fg:#d8dee9;--dim:#98a2b0;--line:#353b44;--indexed:#5f8cc0;--brute:#d0a050;--growing:#a98bd0}}
body{background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem}
h1{font-size:1.4rem;margin:0;overflow-wrap:anywhere}h2{font-size:1.05rem;margin:2rem 0 .4rem;overflow-wrap:anywhere}.dim,th{color:var(--dim)}
table{border-collapse:collapse;font-size:.88rem}td,th{padding:.1rem .8rem .1rem 0;text-align:left;vertical-align:top}td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.wide{overflow-x:auto}pre{font:.85em ui-monospace,monospace;overflow-x:auto}
.bar{background:var(--line);display:flex;height:.9rem;min-width:14rem}.bar i{display:block;height:100%}
.indexed{background:var(--indexed)}.brute{background:var(--brute)}.growing{background:var(--growing)}.key i{display:inline-block;height:.7rem;width:.7rem;margin:0 .3rem 0 1rem}
.heat td{border:1px solid var(--line);padding:.1rem .4rem;text-align:right}.heat th{font-weight:normal;padding:.1rem .4rem}
@media print{body{margin:0;max-width:none;font-size:10pt}*{print-color-adjust:exact}}
</style>
</head>
<body>
<h1>Balance of {{.Where}}</h1>
<div class="dim">{{.State}}</div>
<p>Auto-balance {{.Auto}}</p>
{{range .Unread}}<p><strong>Unknown.</strong> {{.}}</p>
{{end}}{{.Picture}}
{{with .All}}<p>{{.}}</p>{{end}}
{{range .Groups}}<h2>{{.Name}}</h2>
<p>{{.Spread}}{{with .Unknown}}; {{.}}{{end}}</p>
<div class="wide"><table>
<tr>{{range .Columns}}<th>{{.}}</th>{{end}}</tr>
{{range .Rows}}<tr>{{range .}}<td class="n">{{.}}</td>{{end}}</tr>
{{end}}</table></div>
{{with .Plan}}<p><strong>Plan.</strong> {{.}}</p>
{{end}}{{if .Moves}}<table>
<tr><th>segment</th><th>rows</th><th>size</th><th>from</th><th>to</th></tr>
{{range .Moves}}<tr>{{range .}}<td class="n">{{.}}</td>{{end}}</tr>
{{end}}</table>
<pre>{{range .Script}}{{.}}
{{end}}</pre>
{{end}}{{with .Room}}<p>{{.}}</p>
{{end}}{{range .Channels}}<p>Or move: {{.}}.</p>
{{end}}{{with .Milvus}}<p class="dim">Milvus: {{.}}</p>
{{end}}{{end}}<p class="dim">Weights: {{.Weights}}. kitescope {{.Version}} changes nothing itself.</p>
</body>
</html>
`
