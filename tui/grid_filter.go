package tui

import (
	"strings"

	"kitescope/internal/words"
)

// FilterPrompt filters while it is typed.
func (g *gridPage) filterPrompt() *Prompt {
	p := FilterPrompt(g.filter.Text, g.setFilter, g.filterStatus)
	p.Accepted = func(m *Model, text string) Cmd {
		if strings.TrimSpace(text) == g.filter.Text {
			return nil
		}
		c := g.setFilter(m, text)
		if g.err != nil {
			m.Say(ToneBad, "not filtered by "+text+": "+g.err.Error())
			g.err = nil
		}
		return c
	}
	p.Suggest = g.suggestValues
	return p
}

// suggestValues completes the values of a condition: "state=gr".
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
	if g.matchBusy != "" {
		return g.matchBusy + "  " + words.Number(g.rows.Count())
	}
	if !g.filtering() {
		return "text · re:REGEX · !not · col=value · col>n"
	}
	return words.Number(g.rows.Count()) + " of " + words.Number(g.rows.Total)
}

// setFilter starts the filter's way through the rows.
func (g *gridPage) setFilter(m *Model, text string) Cmd {
	f, err := parseRowFilter(g.resource, text)
	g.err = err
	if err != nil || f.Text == g.filter.Text {
		return nil
	}
	g.filter = f
	g.matching, g.matchBusy = nil, ""
	g.matchSerial.Add(1)
	if g.rows.Table == nil {
		return nil
	}
	g.deciding = !f.Empty()
	if f.Empty() {
		g.unfilter()
		return g.Refresh(m) // what came meanwhile
	}
	g.Cursor, g.top = 0, 0
	return match(g, g.newMatching(m))
}

// newMatching is the filter before its first piece.
func (g *gridPage) newMatching(m *Model) rowMatching {
	return rowMatching{
		Serial: g.matchSerial.Load(), Newest: &g.matchSerial, Filter: g.filter, Table: g.rows.Table, Columns: g.columnList(),
		Order: g.rows.Order, Total: g.rows.Total, Screen: max(1, g.height), Now: m.Config.Now,
	}
}

// matchedMsg brings a piece of a filter's way through the rows.
type matchedMsg struct {
	page *gridPage
	rowMatching
}

func (r matchedMsg) Apply(m *Model) Cmd {
	g := r.page
	if r.Serial != g.matchSerial.Load() {
		return nil
	}
	j := r.rowMatching
	g.matching = &j
	g.rows.Keep(j.Found)
	if j.Done() {
		g.matchBusy, g.deciding = "", false
		return g.Refresh(m)
	}
	g.matchBusy = "matching… " + words.Number(j.Progress()) + "%"
	return match(g, j)
}

// unfilter shows all rows again, with the cursor on the object it was on.
func (g *gridPage) unfilter() {
	row, ok := g.current()
	g.rows.Unfilter()
	if !ok {
		g.clamp(g.rows.Count())
		return
	}
	g.put(g.rows.Place(row), g.rows.Count())
}
