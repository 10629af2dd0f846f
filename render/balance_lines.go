package render

import (
	"strconv"
	"strings"

	"kitescope/inspect/balance"
	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
)

// ShareLines lays out what nodes serve of a replica, or of all where g is nil: a header and a line for
// each, plain, within a width.
func (b *Balance) ShareLines(list []*balance.Share, g *balance.Group, width int) (header string, rows []string) {
	shares := make([]shareRow, len(list))
	for i, x := range list {
		shares[i] = shareRow{x, g}
	}
	o := &Options{Width: width}
	return laidOut(newShareGrid(b, shares, o), o)
}

// HeatLines lays out the map of nodes and the heaviest replicas, as many as fit.
func (b *Balance) HeatLines(width int) (header string, rows []string, more int) {
	o := &Options{Width: width}
	g, more := newHeatGrid(b, o)
	header, rows = laidOut(g, o)
	return header, rows, more
}

// GroupLines lays out the replicas of a report.
func (b *Balance) GroupLines(width int) (header string, rows []string) {
	o := &Options{Width: width}
	places := make([]int, len(b.Report.Groups))
	for i := range places {
		places[i] = i
	}
	return laidOut(table.All(table.New(table.Schema{}, places, b.groupColumns()), table.Always), o)
}

// groupColumns are those of replicas, by their place in the report.
func (b *Balance) groupColumns() []table.ColumnOf[int] {
	r := b.Report
	column := func(title string, kind table.Kind, priority int, cell func(g *balance.Group) table.Cell) table.ColumnOf[int] {
		return table.ColumnOf[int]{
			Column: table.Column{Title: title, Kind: kind, Priority: priority},
			Cell:   func(i int) table.Cell { return cell(r.Groups[i]) },
		}
	}
	known := func(title string, kind table.Kind, priority int, cell func(g *balance.Group) table.Cell) table.ColumnOf[int] {
		return column(title, kind, priority, func(g *balance.Group) table.Cell {
			if g.Spread.Nodes == 0 {
				return unknownCell()
			}
			return cell(g)
		})
	}
	plan := known("PLAN", table.Text, 0, nil)
	plan.Cell = func(i int) table.Cell {
		if r.Groups[i].Spread.Nodes == 0 {
			return unknownCell()
		}
		return textCell(b.planned(i))
	}
	return []table.ColumnOf[int]{
		column("REPLICA OF", table.Text, 0, func(g *balance.Group) table.Cell { return textCell(g.Name()) }),
		column("RESOURCE GROUP", table.Text, 7, func(g *balance.Group) table.Cell { return textCell(g.ResourceGroup) }),
		column("NODES", table.Int, 6, func(g *balance.Group) table.Cell { return whole(int64(len(g.Shares))) }),
		known("SEALED", table.Int, 4, func(g *balance.Group) table.Cell { return whole(int64(g.Sealed)) }),
		known("ROWS", table.Int, 5, func(g *balance.Group) table.Cell { return whole(g.Rows()) }),
		known("MAX/MEAN", table.Text, 0, func(g *balance.Group) table.Cell {
			return textCell(measured(r.Options.By.Of(&g.Spread)) + b.sign(g))
		}),
		known("CV", table.Text, 3, func(g *balance.Group) table.Cell {
			if cv, ok := r.Options.By.CV(&g.Spread); ok {
				return textCell(Ratio(cv))
			}
			return noCell()
		}),
		known("ROWS M/M", table.Text, 2, func(g *balance.Group) table.Cell { return textCell(Ratio(g.Spread.RowsMaxMean)) }),
		known("BUSIEST", table.Text, 1, func(g *balance.Group) table.Cell { return textCell(busiest(g)) }),
		plan,
	}
}

// laidOut writes a grid as a table and takes its lines.
func laidOut(g *table.Grid, o *Options) (header string, rows []string) {
	var out encode.Output
	t := newTable(g, o, "")
	t.header(&out)
	t.rows(&out)
	lines := strings.Split(strings.TrimSuffix(string(out.Buf), "\n"), "\n")
	return lines[0], lines[1:]
}

// sign marks what is over the goal and could be better, for eyes without colour.
func (b *Balance) sign(g *balance.Group) string {
	if r := b.Report; r.Options.By.Of(&g.Spread) > r.Options.Goal && !g.TooFew() {
		return " " + Glyph(RoleWarn, false)
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
func (b *Balance) planned(row int) string {
	if b.Report.Plans == nil {
		return words.NoneMark
	}
	p := b.Report.Plans[row]
	after := Ratio(p.Options.By.Of(&p.After))
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
