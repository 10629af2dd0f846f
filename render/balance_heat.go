package render

import (
	"cmp"
	"slices"
	"strconv"

	"kitescope/inspect/balance"
	"kitescope/internal/table"
	"kitescope/internal/words"
)

// HeatGlyph shows a node's share of something against a fair one: nothing, under half, under 0.9, about
// fair, over the goal.
func HeatGlyph(share, fair float64, ascii bool) string {
	glyphs := [...]string{"·", "░", "▒", "▓", "█"}
	if ascii {
		glyphs = [...]string{".", "-", "+", "o", "#"}
	}
	switch {
	case share <= 0:
		return glyphs[0]
	case share < 0.5*fair:
		return glyphs[1]
	case share < 0.9*fair:
		return glyphs[2]
	case share <= balance.DefaultGoal*fair:
		return glyphs[3]
	}
	return glyphs[4]
}

// HeatLegend explains HeatGlyph.
func HeatLegend(ascii bool) string {
	if ascii {
		return "share of each replica's search work: # > 110% of fair share, o fair, + < 90%, - < 50%, . none"
	}
	return "share of each replica's search work: █ > 110% of fair share, ▓ fair, ▒ < 90%, ░ < 50%, · none"
}

// HeatCell is a cell of the map: "▓ 33%", "?" where the node did not say, "" where it has no part in the replica.
func HeatCell(g *balance.Group, node *balance.Share, ascii bool) string {
	x := g.Share(node.Node)
	switch {
	case x == nil:
		return ""
	case !x.Known:
		return words.UnknownMark
	}
	all := g.Cost()
	if all <= 0 || x.Cost <= 0 {
		return HeatGlyph(0, 1, ascii)
	}
	fair := all / float64(max(1, g.Spread.Nodes))
	return HeatGlyph(x.Cost, fair, ascii) + " " + strconv.Itoa(int(100*x.Cost/all+0.5)) + "%"
}

// Heaviest are the replicas with the most search work, at most n, and how many there are besides.
func Heaviest(groups []*balance.Group, n int) (list []*balance.Group, more int) {
	for _, g := range groups {
		if g.Cost() > 0 {
			list = append(list, g)
		}
	}
	slices.SortStableFunc(list, func(a, b *balance.Group) int { return -cmp.Compare(a.Cost(), b.Cost()) })
	if len(list) > n {
		return list[:n], len(list) - n
	}
	return list, 0
}

// heatMap shows nodes by collections, as many as fit.
func (t *balanceText) heatMap() {
	g, more := newHeatGrid(t.b, t.o)
	if len(g.Columns) < 3 {
		return // what one replica's nodes do is in its own table
	}
	note := HeatLegend(t.o.ASCII)
	if more > 0 {
		note += "; " + strconv.Itoa(more) + " more"
	}
	t.title("MAP", note, RoleDim)
	text := newTable(g, t.o, "  ")
	text.header(&t.Output)
	text.rows(&t.Output)
}

// newHeatGrid makes the map of the replicas of a report, and says how many had no room.
func newHeatGrid(b *Balance, o *Options) (g *table.Grid, more int) {
	const gap, label, column = 2, 12, 14
	count := 12
	if o.Width > 0 {
		count = max(1, (o.Width-label)/(column+gap))
	}
	groups, more := Heaviest(b.Report.Groups, count)
	ellipsis := "…"
	if o.ASCII {
		ellipsis = "~"
	}
	titles := []string{"NODE"}
	for _, g := range groups {
		title := heatTitle(b.Report.Groups, g)
		if o.Width > 0 {
			title = Fit(title, column, ellipsis)
		}
		titles = append(titles, title)
	}
	shares := newShareTable(b, nil, o)
	var rows [][]string
	for _, n := range b.Report.Survey.Nodes {
		row := []string{shares.label(shareRow{n, nil})}
		for _, g := range groups {
			cell := HeatCell(g, n, o.ASCII)
			if slices.ContainsFunc(g.Shares, b.Report.Survey.Rowless) && cell != "" {
				cell = words.UnknownMark
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return table.All(table.Texts(titles, rows), table.Always), more
}

// heatTitle is the collection's name; with several replicas the resource group too, or the end of the replica's id.
func heatTitle(all []*balance.Group, g *balance.Group) string {
	title := Harmless(g.Name())
	replicas, sameGroup := 0, 0
	for _, x := range all {
		if x.ID == g.ID {
			replicas++
			sameGroup += BoolInt(x.ResourceGroup == g.ResourceGroup)
		}
	}
	switch {
	case replicas == 1 || g.Replica == nil:
		return title
	case sameGroup == 1:
		return title + "/" + Harmless(g.ResourceGroup)
	}
	id := g.Replica.ID.String()
	return title + "/…" + id[max(0, len(id)-4):]
}
