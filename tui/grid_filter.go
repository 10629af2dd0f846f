package tui

import (
	"slices"
	"strings"

	"kitescope/words"
)

// FilterPrompt filters while it is typed.
func (g *gridPage) filterPrompt() *Prompt {
	p := FilterPrompt(g.filter.text, g.setFilter, g.filterStatus, func(_ *Model, a Action) { g.Move(a, g.rows.count()) })
	p.Accepted = func(m *Model, text string) Cmd {
		if strings.TrimSpace(text) == g.filter.text {
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
		return g.matchBusy + "  " + words.Number(g.rows.count())
	}
	if !g.filtering() {
		return "text · re:REGEX · !not · col=value · col>n"
	}
	return words.Number(g.rows.count()) + " of " + words.Number(g.rows.total)
}

// setFilter starts the filter's way through the rows; what was decided for a wider one is used.
func (g *gridPage) setFilter(m *Model, text string) Cmd {
	f, err := parseFilter(g.resource, text)
	g.err = err
	if err != nil || f.text == g.filter.text {
		return nil
	}
	old, wider := g.filter, g.matching
	g.filter = f
	g.matching, g.matchBusy = nil, ""
	g.matchSerial.Add(1)
	if g.rows.table == nil {
		return nil
	}
	if f.empty() {
		g.unfilter()
		return nil
	}
	j := g.newMatching(m)
	if wider != nil && wider.table == j.table && f.narrows(&old) {
		return match(j.within(wider))
	}
	g.Cursor, g.top = 0, 0
	return match(j)
}

// newMatching is the filter before its first piece.
func (g *gridPage) newMatching(m *Model) matching {
	return matching{
		page: g, serial: g.matchSerial.Load(), newest: &g.matchSerial, filter: g.filter, table: g.rows.table, columns: g.columnList(),
		order: g.rows.order, total: g.rows.total, screen: max(1, g.height), now: m.Config.Now,
	}
}

// unfilter shows all rows again, with the cursor on the object it was on.
func (g *gridPage) unfilter() {
	row, ok := g.current()
	g.rows.matched, g.rows.filtered = nil, false
	if !ok {
		g.clamp(g.rows.count())
		return
	}
	if g.rows.order == nil {
		g.put(row, g.rows.count())
	} else {
		g.put(max(0, slices.Index(g.rows.order, int32(row))), g.rows.count())
	}
}
