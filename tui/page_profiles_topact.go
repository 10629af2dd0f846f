package tui

import (
	"io"

	"kitescope/profile"
	"kitescope/profile/report"
	"kitescope/render"
	"kitescope/render/profiles"
	"kitescope/words"
)

func (p *topPage) can(m *Model, a action) string {
	switch a {
	case actOpen, actFlame:
		if p.entry() == nil {
			return "there is no row"
		}
		if p.shown.by == profile.ByNode && p.entry().Function == report.NoLabel {
			return "these samples have no node"
		}
	case actNormalize:
		if !p.subject.diff() {
			return "two profiles have to be compared for that"
		}
	case actKind:
		if l := p.subject.loaded; l != nil && len(l.profile.Types) < 2 {
			return "the profile has one sample type only"
		}
	default:
	}
	return p.list.can(m, a)
}

// ofNode is the page's filter with nothing left but the node under the cursor.
func (p *topPage) ofNode() profile.Filter {
	f := p.filter
	f.Nodes = []string{p.entry().Function}
	return f
}

// open goes into the profiles of a node, else to callers and callees.
func (p *topPage) open(m *Model, r *topRow) cmd {
	if p.shown.by == profile.ByNode {
		return m.push(newTopPage(p.subject, topQuery{kind: p.shown.kind, raw: p.shown.raw}, p.ofNode()))
	}
	return m.push(newPeekPage(p.subject, p.shown, p.filter, r.Function))
}

func (p *topPage) act(m *Model, a action) cmd {
	switch a {
	case actFlame:
		if p.shown.by == profile.ByNode {
			return m.push(newFlamePageOf(p.subject, topQuery{kind: p.shown.kind, raw: p.shown.raw}, p.ofNode(), ""))
		}
		return m.push(newFlamePageOf(p.subject, p.shown, p.filter, p.entry().Function))
	case actBy:
		p.query.by = nextBy(p.query.by, p.grains())
		m.say(toneInfo, "by "+p.query.by.String())
		return p.refresh(m)
	case actKind:
		p.query.kind = nextKind(p.subject.loaded, p.query.kind)
		m.say(toneInfo, "sample type "+words.Harmless(p.query.kind))
		return p.refresh(m)
	case actNormalize:
		p.query.raw = !p.query.raw
		return p.refresh(m)
	default:
	}
	return p.list.act(m, a)
}

// grains are what samples can be added up by.
func (p *topPage) grains() []profile.By {
	all := append(frameGrains(), profile.ByAddress)
	if l := p.subject.loaded; l != nil && l.nodes > 0 {
		all = append(all, profile.ByNode)
	}
	return all
}

// newFlamePageOf is the flame graph of a table, as a sandwich of one function if it is named.
func newFlamePageOf(s *profileSubject, q topQuery, f profile.Filter, name string) *flamePage {
	p := newFlamePage(s, flameQuery{kind: q.kind, by: q.by, raw: q.raw, focus: name})
	p.filter = f
	return p
}

func (p *topPage) click(m *Model, x, y int) cmd { return p.clicked(m, p, x, y) }

// saveMenu offers the formats of the same report on the command line.
func (p *topPage) saveMenu() *menu {
	top, changes, o := p.top, p.changes, render.ReportOptions{By: p.shown.by}
	return saveReport("save the table", "profile-top", render.ReportFormats().Parse, func(w io.Writer, f render.ReportFormat) error {
		if changes != nil {
			return profiles.WriteDiff(w, changes, f, o)
		}
		return profiles.WriteTop(w, top, f, o)
	})
}
