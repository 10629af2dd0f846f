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

// rowsEnv returns the environment that tables and trees are made from: the current cluster with its judgement.
// Checks are slower than tables, so the judgement of the previous cluster is used until they have finished.
func (d *data) rowsEnv() *view.Env {
	if d.viewEnv == nil || d.viewEnvOf != d.env || d.viewEnv.Judgement != d.judged.display {
		d.viewEnv, d.viewEnvOf = d.env.WithJudgement(d.judged.display), d.env
	}
	return d.viewEnv
}

// knownParts returns the known parts of the rows, 0 before there are any. It includes findings only if some rows have
// findings.
func (g *gridPage) knownParts() model.Part {
	if g.rows.Table == nil {
		return 0
	}
	env := g.rows.Table.Env()
	if !env.Judgement.HasFindings(g.resource.Name) {
		return env.Cluster.Loaded
	}
	return env.Loaded()
}

// toggleAll shows or hides the rows that are left out by default.
func (g *gridPage) toggleAll(m *Model) Cmd {
	g.all = !g.all
	return g.rebuild(m, "")
}

// hiddenRowsNote returns a note about the rows that are left out.
func (g *gridPage) hiddenRowsNote(m *Model) []string {
	if g.rows.HiddenRows == 0 {
		return nil
	}
	return []string{words.Number(g.rows.HiddenRows) + " " + g.resource.Omits + " hidden (" + KeyOf(m, ActAll) + ")"}
}

// hiddenNote names the columns without room: as many as fit next to the breadcrumb and the rest of the note,
// or else their number. Columns scrolled out to the left do not count. It returns "" if no column is hidden.
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
