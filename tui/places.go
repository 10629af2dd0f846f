package tui

import (
	"slices"
	"strings"
)

// destination is a page that a digit opens from anywhere.
type destination struct {
	number string
	page   string // its name in the palette
	brief  string // label in a narrow footer
	weight int    // weight in the footer of the overview; 0 hides it there
}

// places returns the destinations in the order of their digits.
func places() []destination {
	return []destination{
		{"1", "overview", "", 0},
		{"2", "findings", "", 95},
		{"3", "nodes", "", 94},
		{"4", "collections", "coll", 93},
		{"5", "segments", "", 92},
		{"6", "vchannels", "", 0},
		{"7", "balance", "", 91},
		{"8", "latency", "", 0},
		{"9", "profiles", "", 90},
		{"0", "timeline", "", 60},
	}
}

func goKeys() []Binding {
	return []Binding{
		{
			ActNumber, strings.Split("1234567890", ""), InPages | InMenu, GroupGo, "pages",
			"1 overview, 2 findings, 3 nodes, 4 collections, 5 segments, 6 vchannels, 7 balance, 8 latency, " +
				"9 profiles, 0 timeline; in a menu: the item with that number.", 30,
		},
	}
}

// cannotGo returns the reason why a page cannot be opened, or "" if it can.
func cannotGo(m *Model, p destination) string {
	k, isPage := m.kindNamed(p.page)
	isResource := m.resource(p.page) != nil
	switch {
	case m.Config.First != nil && (isPage && !k.WithoutCluster || !isPage):
		return "the " + p.page + " page needs a cluster; this session has " + m.Config.Content
	case !isPage && !isResource:
		return "no " + p.page + " page here"
	case isPage && k.Empty != nil && k.Empty(m):
		if p.page == "timeline" {
			return m.data.past.withoutPast(m)
		}
		return "no profiles here: a live cluster, a bundle or a folder may have some"
	}
	return ""
}

// goPlace opens the page of a digit. If the page is already on the stack, goPlace returns to it, which
// preserves its state and keeps the stack small.
func goPlace(m *Model, digit string) Cmd {
	list := places()
	p := list[slices.IndexFunc(list, func(p destination) bool { return p.number == digit })]
	if why := cannotGo(m, p); why != "" {
		m.Notify(ToneWarn, why)
		return nil
	}
	to, err := m.open(p.page)
	switch {
	case err != nil:
		m.Notify(ToneBad, err.Error())
		return nil
	case to.Scope() == m.Top().Scope() && to.Crumb() == m.Top().Crumb():
		m.Notify(ToneInfo, "this is the "+p.page+" page")
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

// allDigits is the label of the digit keys in key hints.
const allDigits = "0-9"
