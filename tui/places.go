package tui

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"kitescope/tui/draw"
)

// destination is a page that is reached by the same keys from anywhere.
type destination struct {
	action Action
	number string // the digit that goes there, "" if none does
	letter string // that goes there behind g
	page   string // as the palette has it
	brief  string // in a narrow footer
	weight int    // in the footer of the overview, 0: it is not there
}

// places are those pages, in the order of their digits.
func places() []destination {
	return []destination{
		{ActGoOverview, "1", "o", "overview", "", 0},
		{ActGoAllFindings, "2", "f", "findings", "", 95},
		{ActGoNodes, "3", "n", "nodes", "", 94},
		{ActGoCollections, "4", "c", "collections", "coll", 93},
		{ActGoSegments, "5", "s", "segments", "", 92},
		{ActGoVChannels, "6", "v", "vchannels", "", 0},
		{ActGoBalance, "7", "b", "balance", "", 91},
		{ActGoLatency, "8", "l", "latency", "", 0},
		{ActGoProfiles, "9", "p", "profiles", "", 90},
		{ActGoTimeline, "0", "h", "timeline", "", 60},
		{ActGoDiff, "", "d", "diff", "", 0},
		{ActGoEvents, "", "e", "events", "", 0},
		{ActGoTasks, "", "t", "tasks", "", 0},
		{ActGoIndexes, "", "i", "indexes", "", 0},
		{ActGoKeys, "", "k", "keys", "", 0},
		{ActGoUndecoded, "", "u", "undecoded", "", 0},
		{ActGoJudge, "", "j", "judge", "", 0},
		{ActGoReplay, "", "r", "replay", "", 0},
	}
}

func goKeys() []Binding {
	keys := []Binding{
		{ActNumber, strings.Split("1234567890", ""), InPages | InMenu, GroupGo, "pages", "To a page: 1 overview, 2 findings, 3 nodes, 4 collections, 5 segments, 6 vchannels, 7 balance, 8 latency, 9 profiles, 0 timeline; in a menu: the item of that number.", 30},
		{ActGo, []string{"g"}, InPages, GroupGo, "", "To a page, with the next key.", 0},
	}
	for _, p := range places() {
		keys = append(keys, Binding{p.action, []string{"g " + p.letter}, InPages, GroupGo, "", "T" + strings.TrimPrefix(p.action.Does(), "goes t") + ".", 0})
	}
	return keys
}

// placeOf is where an action goes, or a digit; ok is false if it goes nowhere.
func placeOf(a Action, digit string) (p destination, ok bool) {
	list := places()
	i := slices.IndexFunc(list, func(p destination) bool { return p.action == a || digit != "" && p.number == digit })
	if i < 0 {
		return destination{}, false
	}
	return list[i], true
}

// cannotGo says what a page would need that is not here, "" if it can be opened.
func cannotGo(m *Model, p destination) string {
	k, isPage := m.kindNamed(p.page)
	isResource := m.resource(p.page) != nil
	switch {
	case m.Config.First != nil && (isPage && !k.Bare || !isPage):
		return "the " + p.page + " page needs a cluster; here there is " + m.Config.Instead
	case !isPage && !isResource:
		return "there is no " + p.page + " page here"
	case isPage && k.Empty != nil && k.Empty(m):
		switch p.action {
		case ActGoTimeline, ActGoEvents:
			return m.data.past.withoutPast(m)
		case ActGoReplay:
			return "there is no replay here: kitescope replay opens one"
		}
		return "no profiles here: a live cluster, a bundle or a folder may have some"
	}
	return ""
}

// goPlace opens a page from anywhere: where it is on the way here that one, as it was left, so that the way does not grow.
func goPlace(m *Model, p destination) Cmd {
	if why := cannotGo(m, p); why != "" {
		m.Say(ToneWarn, why)
		return nil
	}
	to, err := m.open(p.page)
	switch {
	case err == nil && to.Scope() == m.Top().Scope() && to.Crumb() == m.Top().Crumb():
		m.Say(ToneInfo, "this is the "+p.page+" page")
		return nil
	case err != nil:
		m.Say(ToneBad, err.Error())
		return nil
	}
	if m.Top().Scope() == InHelp {
		m.stack.pop()
	}
	if m.stack.backTo(func(on Page) bool { return on.Scope() == to.Scope() && on.Crumb() == to.Crumb() }) {
		return m.Refresh()
	}
	return m.Push(to)
}

// begun takes the second of two keys.
func begun(m *Model, key string) Cmd {
	first := m.prefix
	m.prefix = ""
	if key == "esc" {
		return nil
	}
	top := m.Top()
	a, ok := m.keys.find(top.Scope(), first+" "+key)
	if !ok {
		m.Say(ToneInfo, shown(first+" "+key)+" goes nowhere: "+m.keys.of(top.Scope(), ActGo)+" lists where to")
		return nil
	}
	return m.do(first+" "+key, a)
}

// allDigits are the keys of pages, for people.
const allDigits = "0-9"

// goWidth is how wide the list of those pages is at most.
const goWidth = 80

// goBox shows where the next key can go, in columns, over the last lines of the page.
func (m frame) goBox(w int) []string {
	type entry struct{ key, text string }
	var list []entry
	for _, b := range m.keys.all {
		last, ok := lastKey(&b, m.prefix)
		if !ok || b.In&m.Top().Scope() == 0 {
			continue
		}
		p, isPlace := placeOf(b.Action, "")
		if isPlace && cannotGo(m.Model, p) != "" {
			continue
		}
		text := b.Action.Brief()
		if p.number != "" {
			text += " " + p.number
		}
		list = append(list, entry{last, text})
	}
	const cells = 18
	columns := max(1, (w-2)/cells)
	rows := (len(list) + columns - 1) / columns
	title := " go to: " + m.prefix + " and a key · esc cancels "
	lines := []string{m.Styles.Dim.On("╭─") + m.Styles.Title.On(title) + m.Styles.Dim.On(strings.Repeat("─", max(0, w-3-ansi.StringWidth(title)))+"╮")}
	for row := range rows {
		var line strings.Builder
		for i := row; i < len(list); i += rows {
			line.WriteString(" " + m.Styles.Key.On(list[i].key) + " " + draw.Fit(list[i].text, cells-2-draw.Width(list[i].key)))
		}
		lines = append(lines, m.Styles.Dim.On("│")+draw.Ends(line.String(), "", w-2)+m.Styles.Dim.On("│"))
	}
	return append(lines, m.Styles.Dim.On("╰"+strings.Repeat("─", w-2)+"╯"))
}

// lastKey is the second of the two keys of a binding that begins with a key.
func lastKey(b *Binding, first string) (last string, ok bool) {
	for _, key := range b.Keys {
		if last, ok = strings.CutPrefix(key, first+" "); ok {
			return last, true
		}
	}
	return "", false
}
