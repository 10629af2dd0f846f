package profiles

import (
	"slices"

	"kitescope/internal/words"
	"kitescope/profile"
	"kitescope/tui"
)

func (p *flamePage) Can(m *tui.Model, a tui.Action) string {
	g := p.graph()
	if why := p.canChange(m, a); why != "" {
		return why
	}
	switch a {
	case tui.ActSearchNext, tui.ActSearchPrevious:
		if p.searches[p.half].text == "" {
			return "search with / first"
		}
	case tui.ActBackspace:
		if g == nil || g.zoom == g.base {
			return "already zoomed out"
		}
	case tui.ActOpen, tui.ActSandwich, tui.ActCopyRow, tui.ActFilter, tui.ActReset, tui.ActSave:
		if g == nil {
			return "no graph yet"
		}
	}
	if a == tui.ActOpen && g.at == g.zoom {
		return "the frame already fills the width; backspace zooms out"
	}
	if a == tui.ActSandwich && p.query.focus == "" {
		switch t := g.index.tree; {
		case g.at == 0:
			return "the cursor is on the root: go to a function first"
		case t.Nodes && t.Frames[g.at].Depth == 1:
			return "a node is not a function: enter zooms into it, down goes to its functions"
		}
	}
	return ""
}

// canChange returns the reason why another tree cannot be made.
func (p *flamePage) canChange(m *tui.Model, a tui.Action) string {
	loaded := p.subject.loaded
	switch a {
	case tui.ActNormalize:
		if !p.subject.diff() {
			return "only for comparisons: mark two profiles on the profiles page and press " +
				tui.KeyOf(m, tui.ActCompare)
		}
	case tui.ActNodes:
		switch {
		case loaded == nil:
			return "no graph yet"
		case loaded.nodes == 0:
			return "the samples have no node labels"
		case p.query.focus != "":
			return "a sandwich has no nodes; esc leaves it"
		}
	case tui.ActInvert:
		if p.query.focus != "" {
			return "a sandwich shows both directions; esc leaves it"
		}
	case tui.ActKind:
		if loaded != nil && len(loaded.profile.Types) < 2 {
			return "the profile has only one sample type"
		}
	}
	return ""
}

func (p *flamePage) Act(m *tui.Model, a tui.Action) tui.Cmd {
	if c, ok := p.change(m, a); ok {
		return c
	}
	g := p.graph()
	switch a {
	case tui.ActBack:
		return p.back(m)
	case tui.ActTopTable:
		return m.Push(newTopPage(p.subject, p.query.topQuery(), p.filter))
	}
	if g == nil || p.move(g, a) || p.zoom(g, a) {
		return nil
	}
	switch a {
	case tui.ActSandwich:
		return p.sandwich(m)
	case tui.ActFilter:
		m.Prompt = p.searchPrompt()
	case tui.ActSearchNext, tui.ActSearchPrevious:
		p.nextMatch(m, map[tui.Action]int{tui.ActSearchNext: 1, tui.ActSearchPrevious: -1}[a])
	case tui.ActCopyRow:
		return m.Copy(p.frameText(g), "the frame")
	case tui.ActSave:
		m.Menu = p.saveMenu()
	}
	return nil
}

// zoom zooms in, out or to everything, and reports whether the action was a zoom.
func (p *flamePage) zoom(g *flameGraph, a tui.Action) bool {
	switch a {
	case tui.ActOpen:
		g.zoomIn()
	case tui.ActBackspace:
		g.zoomOut()
	case tui.ActReset:
		for _, g := range p.graphs {
			if g != nil {
				g.reset()
			}
		}
		p.search("")
	default:
		return false
	}
	return true
}

// change changes how the tree is made, and reports whether the action was such a change.
func (p *flamePage) change(m *tui.Model, a tui.Action) (c tui.Cmd, ok bool) {
	switch a {
	case tui.ActInvert:
		p.query.inverted = !p.query.inverted
	case tui.ActNodes:
		p.query.nodes = !p.query.nodes
	case tui.ActNormalize:
		p.query.raw = !p.query.raw
		m.Notify(tui.ToneInfo, map[bool]string{
			true:  "values not normalized",
			false: "normalized: the new profile has the total of the base",
		}[p.query.raw])
	case tui.ActBy:
		p.query.by = nextBy(p.query.by, frameGrains())
		p.query.focus, p.previous = "", nil // a function name is not the name of a package
		m.Notify(tui.ToneInfo, "by "+p.query.by.String())
	case tui.ActKind:
		p.query.kind = nextKind(p.subject.loaded, p.query.kind)
		m.Notify(tui.ToneInfo, "sample type "+words.Sanitize(p.query.kind))
	default:
		return nil, false
	}
	return p.rebuild(m), true
}

// frameGrains returns the units that a frame can represent.
func frameGrains() []profile.Granularity {
	return []profile.Granularity{
		profile.ByFunction, profile.ByPackage, profile.ByMapping, profile.ByClass, profile.ByFile, profile.ByLine,
	}
}

func nextBy(by profile.Granularity, all []profile.Granularity) profile.Granularity {
	return all[(slices.Index(all, by)+1)%len(all)]
}

// nextKind returns the sample type after kind. "" is the default type of the profile. An unknown type is followed
// by the first.
func nextKind(l *loadedProfiles, kind string) string {
	if l == nil || len(l.profile.Types) == 0 {
		return kind
	}
	at, err := l.profile.KindOf(kind)
	if err != nil {
		at = len(l.profile.Types) - 1
	}
	return l.profile.Types[(at+1)%len(l.profile.Types)].Type
}

// back undoes the search, the zoom or the sandwich, one per call, and leaves the page after that.
func (p *flamePage) back(m *tui.Model) tui.Cmd {
	g := p.graph()
	switch {
	case g != nil && p.searches[p.half].text != "":
		p.search("")
		return nil
	case g != nil && g.zoom != g.base:
		for g.zoomOut() {
			continue
		}
		return nil
	case p.previous != nil:
		b := p.previous
		p.query, p.shown, p.graphs, p.previous = b.query, b.query, b.graphs, b.previous
		p.half = 0
		return nil
	}
	return m.Back()
}

// sandwich shows the callers and callees of the frame under the cursor.
func (p *flamePage) sandwich(m *tui.Model) tui.Cmd {
	g := p.graph()
	name := g.index.tree.Names[g.index.tree.Frames[g.at].Name]
	if name == p.query.focus {
		return p.back(m)
	}
	p.previous = &flameState{query: p.shown, graphs: p.graphs, previous: p.previous}
	p.query.focus = name
	p.search("") // its purpose was to find the function
	return p.rebuild(m)
}

// move moves the cursor and reports whether the action was a movement.
func (p *flamePage) move(g *flameGraph, a tui.Action) bool {
	page := max(1, g.height-1)
	switch a {
	case tui.ActUp:
		p.vertical(-1)
	case tui.ActDown:
		p.vertical(1)
	case tui.ActLeft:
		g.toSide(-1)
	case tui.ActRight:
		g.toSide(1)
	case tui.ActPageUp, tui.ActPageDown, tui.ActHalfUp, tui.ActHalfDown:
		if a == tui.ActHalfUp || a == tui.ActHalfDown {
			page = max(1, page/2)
		}
		by := 1
		if a == tui.ActPageUp || a == tui.ActHalfUp {
			by = -1
		}
		for range page {
			p.vertical(by)
		}
	case tui.ActTop:
		p.half = 0
		p.graph().toTop()
	case tui.ActBottom:
		g.toLeaf()
	default:
		return false
	}
	return true
}

// vertical moves the cursor one row down the screen, or up.
func (p *flamePage) vertical(by int) {
	g := p.graph()
	if towardsLeaves := (by > 0) != p.drawnUpwards(p.half); towardsLeaves {
		g.toChild()
		return
	}
	if other := p.graphs[callersHalf]; other != nil && g.at == g.base && p.half == calleesHalf {
		at := other.at
		if at == other.base {
			other.toChild()
		}
		if other.at != other.base { // there is a caller
			p.half = callersHalf
		}
		return
	}
	g.toParent()
	if p.half == callersHalf && g.at == g.base {
		p.half = calleesHalf
		p.graph().point(p.graph().base)
	}
}

// drawnUpwards reports whether deeper frames are drawn higher.
func (p *flamePage) drawnUpwards(half int) bool {
	return p.graphs[callersHalf] != nil && half == callersHalf
}
