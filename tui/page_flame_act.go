package tui

import (
	"slices"

	"kitescope/profile"
	"kitescope/words"
)

func (p *flamePage) can(m *Model, a action) string {
	g := p.graph()
	if why := p.canChange(a); why != "" {
		return why
	}
	switch a {
	case actSearchNext, actSearchPrevious:
		if p.searches[p.half].text == "" {
			return "search with / first"
		}
	case actZoomOut:
		if g == nil || g.zoom == g.base {
			return "everything is shown"
		}
	case actOpen, actSandwich, actCopyRow, actFilter, actFlip, actReset, actRelative, actSave:
		if g == nil {
			return "there is no graph yet"
		}
	default:
	}
	if a == actOpen && g.at == g.zoom {
		return "it fills the width already; backspace zooms out"
	}
	if a == actSandwich && p.query.focus == "" {
		switch t := g.index.tree; {
		case g.at == 0:
			return "the cursor is on everything: go to a function first"
		case t.Nodes && t.Frames[g.at].Depth == 1:
			return "a node is no function: enter zooms to it, the arrow down goes to its functions"
		}
	}
	return ""
}

// canChange says why another tree cannot be made.
func (p *flamePage) canChange(a action) string {
	loaded := p.subject.loaded
	switch a {
	case actVanished, actNormalize:
		if !p.subject.diff() {
			return "two profiles have to be compared for that: mark them with v, and = on the page of profiles"
		}
		if g := p.graph(); a == actVanished && g != nil && g.index.vanished == 0 {
			return "nothing vanished"
		}
	case actNodes:
		switch {
		case loaded == nil:
			return "there is no graph yet"
		case loaded.nodes == 0:
			return "the samples are not labelled with nodes"
		case p.query.focus != "":
			return "a sandwich has no nodes; esc leaves it"
		}
	case actInvert:
		if p.query.focus != "" {
			return "a sandwich shows both ways; esc leaves it"
		}
	case actKind:
		if loaded != nil && len(loaded.profile.Types) < 2 {
			return "the profile has one sample type only"
		}
	default:
	}
	return ""
}

func (p *flamePage) act(m *Model, a action) cmd {
	if c, ok := p.change(m, a); ok {
		return c
	}
	g := p.graph()
	switch a {
	case actBack:
		return p.back(m)
	case actTopTable:
		return m.push(newTopPage(p.subject, p.query.topQuery(), p.filter))
	default:
	}
	if g == nil || p.move(g, a) || p.zoom(g, a) {
		return nil
	}
	switch a {
	case actSandwich:
		return p.sandwich(m)
	case actFilter:
		m.prompt = p.searchPrompt()
	case actSearchNext, actSearchPrevious:
		p.nextMatch(m, map[action]int{actSearchNext: 1, actSearchPrevious: -1}[a])
	case actVanished:
		p.vanished = !p.vanished
		p.setVanished()
		m.say(toneInfo, map[bool]string{true: "with stacks that vanished", false: "without stacks that vanished"}[p.vanished])
	case actRelative:
		p.relative = !p.relative
		m.say(toneInfo, p.relativeWord(g))
	case actFlip:
		p.upright = !p.upright
		g.top = g.low
		g.follow = true
	case actCopyRow:
		return m.copyText(p.copied(g), "the frame")
	case actSave:
		return saveFlame(m, p)
	default:
	}
	return nil
}

// zoom zooms in, out, or to everything, and reports whether that was meant.
func (p *flamePage) zoom(g *flameGraph, a action) bool {
	switch a {
	case actOpen:
		g.zoomIn()
	case actZoomOut:
		g.zoomOut()
	case actReset:
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

func (p *flamePage) relativeWord(g *flameGraph) string {
	switch {
	case g.index.tree.Diff && p.relative:
		return "colours by how much a frame changed itself"
	case g.index.tree.Diff:
		return "colours by points of the total"
	case p.relative:
		return "shares of what is zoomed"
	}
	return "shares of the total"
}

// change changes how the tree is made, and reports whether the action was one of those.
func (p *flamePage) change(m *Model, a action) (c cmd, ok bool) {
	switch a {
	case actInvert:
		p.query.inverted = !p.query.inverted
	case actNodes:
		p.query.nodes = !p.query.nodes
	case actNormalize:
		p.query.raw = !p.query.raw
		m.say(toneInfo, map[bool]string{true: "values as they are", false: "normalized: the new profile has the total of the base"}[p.query.raw])
	case actBy:
		p.query.by = nextBy(p.query.by, frameGrains())
		p.query.focus, p.before = "", nil // the name of a function is none of a package
		m.say(toneInfo, "by "+p.query.by.String())
	case actKind:
		p.query.kind = nextKind(p.subject.loaded, p.query.kind)
		m.say(toneInfo, "sample type "+words.Harmless(p.query.kind))
	default:
		return nil, false
	}
	return p.ask(m), true
}

// frameGrains are what a frame can be.
func frameGrains() []profile.By {
	return []profile.By{profile.ByFunction, profile.ByPackage, profile.ByMapping, profile.ByClass, profile.ByFile, profile.ByLine}
}

func nextBy(by profile.By, all []profile.By) profile.By {
	return all[(slices.Index(all, by)+1)%len(all)]
}

// nextKind is the sample type after one, by name. An unknown one, and the profile's own, are
// followed by the first that is another.
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

// back undoes one thing after the other: the search, the zoom, the sandwich; then it leaves.
func (p *flamePage) back(m *Model) cmd {
	g := p.graph()
	switch {
	case g != nil && p.searches[p.half].text != "":
		return p.search("")
	case g != nil && g.zoom != g.base:
		for g.zoomOut() {
			continue
		}
		return nil
	case p.before != nil:
		b := p.before
		p.query, p.shown, p.graphs, p.before = b.query, b.query, b.graphs, b.before
		p.half = 0
		p.setVanished()
		return nil
	}
	return m.back()
}

// sandwich shows callers and callees of the frame under the cursor.
func (p *flamePage) sandwich(m *Model) cmd {
	g := p.graph()
	name := g.index.tree.Names[g.index.tree.Frames[g.at].Name]
	if name == p.query.focus {
		return p.back(m)
	}
	p.before = &flameBefore{query: p.shown, graphs: p.graphs, before: p.before}
	p.query.focus = name
	p.search("") // it was to find the function
	return p.ask(m)
}

// move moves the cursor and reports whether it was a movement.
func (p *flamePage) move(g *flameGraph, a action) bool {
	page := max(1, g.height-1)
	switch a {
	case actUp:
		p.vertical(-1)
	case actDown:
		p.vertical(1)
	case actLeft:
		g.toSide(-1)
	case actRight:
		g.toSide(1)
	case actPageUp, actPageDown, actHalfUp, actHalfDown:
		if a == actHalfUp || a == actHalfDown {
			page = max(1, page/2)
		}
		by := 1
		if a == actPageUp || a == actHalfUp {
			by = -1
		}
		for range page {
			p.vertical(by)
		}
	case actTop:
		p.half = 0
		p.graph().toTop()
	case actBottom:
		g.toLeaf()
	default:
		return false
	}
	return true
}

// vertical goes one row down the screen, or up.
func (p *flamePage) vertical(by int) {
	g := p.graph()
	if towardsLeaves := (by > 0) != p.growsUp(p.half); towardsLeaves {
		g.toChild()
		return
	}
	if other := p.graphs[callersHalf]; other != nil && g.at == g.base && p.half == calleesHalf {
		at := other.at
		if at == other.base {
			other.toChild()
		}
		if other.at != other.base { // some caller
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

// growsUp reports whether what is deeper stands higher.
func (p *flamePage) growsUp(half int) bool {
	if p.graphs[callersHalf] != nil {
		return half == callersHalf
	}
	return p.upright
}

// click puts the cursor on a frame; where it is already, it zooms.
func (p *flamePage) click(m *Model, x, y int) cmd {
	y -= flameHead
	if y < 0 || y >= len(p.lines) || p.lines[y].depth < 0 {
		return nil
	}
	l := p.lines[y]
	g := p.graphs[l.half]
	frame := g.hit(l.depth, x-flameLeft)
	if frame < 0 {
		return nil
	}
	if frame == g.at && l.half == p.half {
		if p.can(m, actOpen) == "" {
			return p.act(m, actOpen)
		}
		g.zoomOut()
		return nil
	}
	p.half = l.half
	g.point(frame)
	return nil
}

// wheel moves the window, not the cursor.
func (p *flamePage) wheel(_ *Model, lines int) {
	g := p.graph()
	if g == nil {
		return
	}
	if p.growsUp(p.half) {
		lines = -lines
	}
	g.follow = false
	g.top = max(g.low, g.top+lines)
}
