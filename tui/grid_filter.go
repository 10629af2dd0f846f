package tui

import (
	"slices"
	"strings"

	"kitescope/internal/words"
)

// filterPrompt returns a prompt that filters while the user types.
func (g *gridPage) filterPrompt() *Prompt {
	p := FilterPrompt(g.filter.Text, g.setFilter, g.filterStatus)
	p.Accepted = func(m *Model, text string) Cmd {
		if strings.TrimSpace(text) == g.filter.Text {
			return nil
		}
		c := g.setFilter(m, text)
		if g.err != nil {
			m.Notify(ToneBad, "cannot filter by "+text+": "+g.err.Error())
			g.err = nil
		}
		return c
	}
	p.Suggest = g.suggestValues
	return p
}

// suggestValues completes the value of a condition, e.g. "state=gr".
func (g *gridPage) suggestValues(m *Model, text string) []Suggestion {
	at := strings.LastIndexByte(text, ' ') + 1
	done, last := text[:at], text[at:]
	if !strings.Contains(last, "=") {
		return nil
	}
	words := selectorWords(m, g.resource, last)
	list := complete(done, last, words)
	return list[:min(len(list), 5)]
}

func (g *gridPage) filterStatus(*Model) string {
	if g.err != nil {
		return g.err.Error()
	}
	if g.busy != "" {
		return g.busy
	}
	if !g.filtering() {
		return "text · re:REGEX · !not · col=value · col>n"
	}
	return words.Number(g.rows.Count()) + " of " + words.Number(g.rows.Total)
}

// setFilter parses the filter and starts to apply it.
func (g *gridPage) setFilter(m *Model, text string) Cmd {
	f, err := parseRowFilter(g.resource, text)
	g.err = err
	if err != nil || f.Text == g.filter.Text {
		return nil
	}
	if g.filter.Empty() {
		g.widestAll, g.statsAll = slices.Clone(g.Widest), slices.Clone(g.stats)
	}
	g.filter = f
	if g.rows.Table != nil && f.Empty() {
		g.unfilter()
		if len(g.widestAll) == len(g.Widest) { // the columns are the same as before the filter
			g.Widest, g.stats = g.widestAll, g.statsAll
		}
		g.serial.Add(1) // discards the filter run in progress
		g.busy, g.building = "", false
		return g.Refresh(m) // picks up a cluster that has arrived in the meantime
	}
	refilter := g.rows.Table != nil && !g.building
	g.Cursor, g.top = 0, 0
	if m.data.cluster == nil {
		return nil
	}
	q := g.query(m, "matching…", true)
	q.Refilter = refilter
	return build(q)
}

// unfilter shows all rows again. The cursor stays on its object.
func (g *gridPage) unfilter() {
	row, ok := g.current()
	g.rows.Unfilter()
	if !ok {
		g.clamp(g.rows.Count())
		return
	}
	g.put(g.rows.Place(row), g.rows.Count())
}
