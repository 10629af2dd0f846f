package render

import (
	"strconv"
	"strings"

	"kitescope/inspect/balance"
	"kitescope/inspect/view"
	"kitescope/words"
)

// ShareLines lays out what nodes serve of a replica, or of all where g is nil: a header and a line for
// each, plain, within a width.
func (b *Balance) ShareLines(list []*balance.Share, g *balance.Group, width int) (header string, rows []string) {
	table := make([]shareRow, len(list))
	for i, x := range list {
		table[i] = shareRow{x, g}
	}
	o := &Options{Width: width}
	return laidOut(newShareGrid(b, table, o), o)
}

// HeatLines lays out the map of nodes and the heaviest replicas, as many as fit.
func (b *Balance) HeatLines(width int) (header string, rows []string, more int) {
	o := &Options{Width: width}
	h, more := newHeatTable(b, o)
	header, rows = laidOut(h.grid(), o)
	return header, rows, more
}

// GroupLines lays out the replicas of a report.
func (b *Balance) GroupLines(width int) (header string, rows []string) {
	o := &Options{Width: width}
	t := &groupTable{shareTable: newShareTable(b, nil, o)}
	t.resource = &view.Resource{Columns: []view.Column{
		{Title: "REPLICA OF", Kind: view.Text},
		{Title: "RESOURCE GROUP", Kind: view.Text, Priority: 7},
		{Title: "NODES", Kind: view.Int, Priority: 6},
		{Title: "SEALED", Kind: view.Int, Priority: 4},
		{Title: "ROWS", Kind: view.Int, Priority: 5},
		{Title: "MAX/MEAN", Kind: view.Text},
		{Title: "CV", Kind: view.Text, Priority: 3},
		{Title: "ROWS M/M", Kind: view.Text, Priority: 2},
		{Title: "BUSIEST", Kind: view.Text, Priority: 1},
		{Title: "PLAN", Kind: view.Text},
	}}
	columns := make([]int, len(t.resource.Columns))
	for i := range columns {
		columns[i] = i
	}
	return laidOut(&view.Grid{Table: t, Columns: columns}, o)
}

// laidOut writes a grid as a table and takes its lines.
func laidOut(g *view.Grid, o *Options) (header string, rows []string) {
	var out output
	t := newTable(g, o, "")
	t.header(&out)
	t.rows(&out)
	lines := strings.Split(strings.TrimSuffix(string(out.buf), "\n"), "\n")
	return lines[0], lines[1:]
}

// groupTable lists the replicas of a report.
type groupTable struct{ *shareTable }

// Resource implements view.Table.
func (t *groupTable) Resource() *view.Resource { return t.resource }

// Len implements view.Table.
func (t *groupTable) Len() int { return len(t.balance.Report.Groups) }

// Cell implements view.Table.
func (t *groupTable) Cell(row, col int) view.Cell {
	g := t.balance.Report.Groups[row]
	by := t.balance.Report.Options.By
	known := g.Spread.Nodes > 0
	switch {
	case col == 0:
		return textCell(g.Name())
	case col == 1:
		return textCell(g.ResourceGroup)
	case col == 2:
		return whole(int64(len(g.Shares)))
	case !known:
		return unknownCell()
	case col == 3:
		return whole(int64(g.Sealed))
	case col == 4:
		return whole(g.Rows())
	case col == 5:
		return textCell(measured(by.Of(&g.Spread)) + t.sign(g))
	case col == 6:
		if cv, ok := by.CV(&g.Spread); ok {
			return textCell(ratio(cv))
		}
		return noCell()
	case col == 7:
		return textCell(ratio(g.Spread.RowsMaxMean))
	case col == 8:
		return textCell(busiest(g))
	}
	return textCell(t.planned(row))
}

// sign marks what is over the goal and could be better, for eyes without colour.
func (t *groupTable) sign(g *balance.Group) string {
	if r := t.balance.Report; r.Options.By.Of(&g.Spread) > r.Options.Goal && !g.TooFew() {
		return " " + Glyph(RoleWarn, t.o.ASCII)
	}
	return ""
}

func busiest(g *balance.Group) string {
	var most *balance.Share
	for _, x := range g.Shares {
		if x.Known && (most == nil || x.Cost > most.Cost) {
			most = x
		}
	}
	if most == nil || g.Cost() <= 0 {
		return words.NoneMark
	}
	return most.Node.String() + " " + part(most.Cost, g.Cost())
}

// planned says a plan in a few words.
func (t *groupTable) planned(row int) string {
	if t.balance.Report.Plans == nil {
		return words.NoneMark
	}
	p := t.balance.Report.Plans[row]
	after := ratio(p.Options.By.Of(&p.After))
	switch {
	case len(p.Moves) == 0 && p.Reached:
		return "even"
	case len(p.Moves) == 0:
		return Harmless(p.Why)
	}
	text := strconv.Itoa(len(p.Moves)) + " moves: " + after
	if len(p.Moves) == 1 {
		text = "1 move: " + after
	}
	if !p.Reached {
		text += " at best"
	}
	if p.Group.Unknown > 0 {
		text += ", not all known"
	}
	return text
}
