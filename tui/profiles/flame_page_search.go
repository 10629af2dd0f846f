package profiles

import "kitescope/tui"

// search looks for a text in all graphs of the page; "" ends the search. A text is found at
// once; a regular expression is matched off the loop, as there may be many names.
func (p *flamePage) search(text string) tui.Cmd {
	if text == "" {
		p.searches = [2]flameSearch{}
		return nil
	}
	plan := planSearch(text)
	for half, g := range p.graphs {
		p.searches[half] = flameSearch{text: text, note: plan.note}
		if g != nil && plan.re == nil {
			p.searches[half].found = plan.run(g.index)
			p.searches[half].sum(g.index.tree)
		}
	}
	if plan.re == nil || p.looking || p.graphs[0] == nil {
		return nil
	}
	p.looking = true
	return searchFrames(p, plan)
}

// searchedMsg brings the names that a regular expression matched.
type searchedMsg struct {
	page    *flamePage
	text    string
	indexes [2]*flameIndex
	found   [2][]bool
}

func (s searchedMsg) Apply(*tui.Model) tui.Cmd {
	p := s.page
	p.looking = false
	current := p.searches[0].text
	if s.text != current || s.indexes != p.indexes() { // something else is searched for, or in
		return p.search(current)
	}
	for half, g := range p.graphs {
		if g != nil {
			p.searches[half].found = s.found[half]
			p.searches[half].sum(g.index.tree)
		}
	}
	return nil
}

// indexes are those of the graphs; nil where there is none.
func (p *flamePage) indexes() (x [2]*flameIndex) {
	for half, g := range p.graphs {
		if g != nil {
			x[half] = g.index
		}
	}
	return x
}

// nextMatch goes to the next frame that matches: in this half, else in the other.
func (p *flamePage) nextMatch(m *tui.Model, by int) {
	for _, half := range []int{p.half, 1 - p.half} {
		g, found := p.graphs[half], p.searches[half].found
		if g != nil && found != nil && p.searches[half].frames > 0 && g.nextMatch(found, by) {
			p.half = half
			return
		}
	}
	m.Say(tui.ToneInfo, "/"+p.searches[p.half].text+" "+p.searches[p.half].summary())
}

// searchPrompt searches while it is typed.
func (p *flamePage) searchPrompt() *tui.Prompt {
	return tui.FilterPrompt(p.searches[p.half].text, func(_ *tui.Model, text string) tui.Cmd { return p.search(text) },
		func(*tui.Model) string { return p.searches[p.half].summary() })
}
