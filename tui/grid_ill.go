package tui

import (
	"slices"
	"strings"

	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/tui/draw"
)

// rowsEnv is what tables and trees are made from: what is shown, with what checks said of it. Checks are slower than tables: until they
// have looked at a cluster, what they said of the one before stands.
func (d *data) rowsEnv() *view.Env {
	if d.seen == nil || d.seenOf != d.env || d.seen.Judged != d.judged.said {
		d.seen, d.seenOf = d.env.Judge(d.judged.said), d.env
	}
	return d.seen
}

// known is what is known about the rows shown, 0 before there are any. That there are findings is only said where there are some.
func (g *gridPage) known() model.Part {
	if g.rows.Table == nil {
		return 0
	}
	env := g.rows.Table.Env()
	if !env.Judged.Among(g.resource.Name) {
		return env.Cluster.Loaded
	}
	return env.Loaded()
}

// toggleAll shows what is left out, or leaves it out again.
func (g *gridPage) toggleAll(m *Model) Cmd {
	g.all = !g.all
	return g.rebuild(m, "")
}

// leftNote says what is left out.
func (g *gridPage) leftNote(m *Model) []string {
	if g.rows.Left == 0 {
		return nil
	}
	return []string{words.Number(g.rows.Left) + " " + g.resource.Leaves + " hidden (" + KeyOf(m, ActAll) + ")"}
}

// hiddenNote names the columns that have no room, as many as fit beside a crumb and the words around them; else it counts them. Those that
// were scrolled out to the left are not among them: "" if there is no other.
func hiddenNote(t *tableView, cols []table.Column, room int) string {
	var titles []string
	for j := range cols {
		left := t.offset > 0 && len(t.Placed) > 0 && j < t.Placed[len(t.Placed)-1].Column
		if !left && !slices.ContainsFunc(t.Placed, func(p draw.Placed) bool { return p.Column == j }) {
			titles = append(titles, cols[j].Title)
		}
	}
	if len(titles) == 0 {
		return ""
	}
	const around = 36
	n := len(titles)
	for n > 0 && draw.Width(strings.Join(titles[:n], ", ")) > room-around {
		n--
	}
	if n == 0 {
		return "→ " + words.Number(len(titles)) + " more"
	}
	more := ""
	if n < len(titles) {
		more = " +" + words.Number(len(titles)-n)
	}
	return "hidden: " + strings.Join(titles[:n], ", ") + more + " (→)"
}
