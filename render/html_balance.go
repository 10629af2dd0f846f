package render

import (
	"html/template"
	"math"
	"slices"
	"strconv"

	"kitescope/inspect/balance"
	"kitescope/internal/words"
	"kitescope/render/webpage"
)

// htmlBalance is what the balance picture is made from.
type htmlBalance struct {
	Asked   bool
	Unknown string
	Nodes   []htmlNode
	Spread  string
	Columns []string
	Groups  []htmlGroup
	More    string
}

type (
	htmlNode struct {
		Name, Share, Text string
		Known             bool
		Parts             []htmlPart
	}
	htmlPart struct {
		Kind  string
		Width float64
	}
	htmlGroup struct {
		Name  string
		Cells []htmlCell
	}
	htmlCell struct {
		Text string
		Heat int
	}
)

// heatRows and heatColumns bound the heat map: more is a wall, not a picture.
const (
	heatRows    = 30
	heatColumns = 24
	// darkest is the percentage of colour that a cell with all the work has: figures on it are still read.
	darkest = 45
)

// balanceTemplate is the balance picture: a bar a node, and which node has how much of
// each collection.
const balanceTemplate = `{{if not .Asked}}<p class="dim">{{.Unknown}}</p>
{{else}}<div class="wide" role="group" aria-label="Search work by node" tabindex="0"><table>
<thead><tr><th scope="col">node</th><td></td><th scope="col" class="n">of all search work</th><td></td></tr></thead>
<tbody>
{{range .Nodes}}<tr><th scope="row">{{.Name}}</th><td>{{if .Known}}<div class="bar">{{range .Parts}}<i class="{{.Kind}}" style="width:{{.Width}}%"></i>{{end}}</div>{{else}}?{{end}}</td><td class="n">{{.Share}}</td><td>{{.Text}}</td></tr>
{{end}}</tbody></table></div>
<p class="key dim"><i class="indexed"></i>behind an index<i class="brute"></i>sealed, by brute force<i class="growing"></i>growing, by brute force</p>
{{with .Spread}}<p>{{.}}</p>
{{end}}{{if .Groups}}<div class="wide" role="group" aria-label="Share of each collection's work by node" tabindex="0"><table class="heat">
<thead><tr><th scope="col">share of each collection's work</th>{{range .Columns}}<th scope="col">{{.}}</th>{{end}}</tr></thead>
<tbody>
{{range .Groups}}<tr><th scope="row">{{.Name}}</th>{{range .Cells}}<td{{if .Heat}} style="background:color-mix(in srgb,var(--brute) {{.Heat}}%,transparent)"{{end}}>{{.Text}}</td>{{end}}</tr>
{{end}}</tbody></table></div>
{{with .More}}<p class="dim">{{.}}</p>{{end}}
{{end}}{{with .Unknown}}<p class="dim">{{.}}</p>
{{end}}{{end}}`

// balancePicture draws who serves how much of the search work, as HTML.
func balancePicture(s *balance.Survey) template.HTML {
	picture, err := webpage.From(balanceTemplate, newHTMLBalance(s))
	if err != nil { // never: the template is ours
		return ""
	}
	return picture
}

func newHTMLBalance(s *balance.Survey) *htmlBalance {
	p := &htmlBalance{}
	if s == nil || !s.Asked {
		p.Unknown = "Who serves what is unknown: the nodes were not asked."
		return p
	}
	p.Asked = true
	most, all := 0.0, 0.0
	for _, n := range s.Nodes {
		most, all = max(most, n.Cost), all+n.Cost
	}
	for _, n := range s.Nodes {
		h := newHTMLNode(n, most, all)
		if s.Rowless(n) {
			h.Known, h.Share, h.Parts = false, words.UnknownMark, nil
		}
		p.Nodes = append(p.Nodes, h)
	}
	if s.Spread.MaxMean > 0 {
		p.Spread = "The busiest node has " + strconv.FormatFloat(s.Spread.MaxMean, 'f', 2, 64) + " times the mean work; coefficient of variation " +
			strconv.FormatFloat(s.Spread.CV, 'f', 2, 64) + "."
	}
	if len(s.Unknown) > 0 {
		p.Unknown = "Not known, and not in these figures: " + unknownNames(s.Unknown) + "."
	}
	p.heat(s)
	return p
}

func newHTMLNode(n *balance.Share, most, all float64) htmlNode {
	h := htmlNode{Name: Harmless(n.Name()), Known: n.Known, Share: words.UnknownMark, Text: n.State()}
	if !n.Known {
		return h
	}
	h.Share = part(n.Cost, all)
	text := words.Number(n.SealedRows) + " sealed and " + words.Number(n.GrowingRows) + " growing rows in " + words.Number(int64(n.Sealed)) + " + " +
		words.Number(int64(n.Growing)) + " segments"
	if h.Text != "" {
		text += ", " + h.Text
	}
	h.Text = text
	for _, x := range []struct {
		kind string
		cost float64
	}{{"indexed", n.Cost - n.BruteCost}, {"brute", n.BruteCost - n.GrowingCost}, {"growing", n.GrowingCost}} {
		if x.cost > 0 && most > 0 {
			h.Parts = append(h.Parts, htmlPart{x.kind, math.Round(1000*x.cost/most) / 10})
		}
	}
	return h
}

// part is a share of a whole as a percentage, "-" of nothing.
func part(x, whole float64) string {
	if whole <= 0 {
		return words.NoneMark
	}
	return words.Percent(100 * x / whole)
}

// heat is the map of collections and nodes, the dearest collections first.
func (p *htmlBalance) heat(s *balance.Survey) {
	if len(s.Nodes) > heatColumns {
		p.More = "The map of collections and nodes is left out: there are too many nodes."
		return
	}
	for _, n := range s.Nodes {
		p.Columns = append(p.Columns, Harmless(n.Name()))
	}
	groups := slices.DeleteFunc(slices.Clone(s.Groups), func(g *balance.Group) bool { return g.Cost() <= 0 })
	slices.SortStableFunc(groups, func(a, b *balance.Group) int {
		switch {
		case a.Cost() > b.Cost():
			return -1
		case a.Cost() < b.Cost():
			return 1
		}
		return 0
	})
	if len(groups) > heatRows {
		p.More = "The " + strconv.Itoa(heatRows) + " dearest of " + strconv.Itoa(len(groups)) + " replicas."
		groups = groups[:heatRows]
	}
	for _, g := range groups {
		row := htmlGroup{Name: Harmless(g.Name())}
		for _, n := range s.Nodes {
			cell := heatCell(g, n)
			if slices.ContainsFunc(g.Shares, s.Rowless) && cell.Text != "" {
				cell = htmlCell{Text: words.UnknownMark}
			}
			row.Cells = append(row.Cells, cell)
		}
		p.Groups = append(p.Groups, row)
	}
}

func heatCell(g *balance.Group, n *balance.Share) htmlCell {
	share := g.Share(n.Node)
	switch {
	case share == nil:
		return htmlCell{}
	case !share.Known:
		return htmlCell{Text: words.UnknownMark}
	}
	return htmlCell{Text: part(share.Cost, g.Cost()), Heat: int(math.Round(darkest * share.Cost / g.Cost()))}
}
