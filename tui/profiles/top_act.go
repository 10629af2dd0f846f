package profiles

import (
	"io"

	"kitescope/internal/words"
	"kitescope/profile"
	"kitescope/profile/report"
	"kitescope/render"
	"kitescope/render/profiles"
	"kitescope/tui"
)

func (p *topPage) Can(m *tui.Model, a tui.Action) string {
	switch a {
	case tui.ActOpen, tui.ActFlame:
		if p.entry() == nil {
			return "no row selected"
		}
		if p.shown.by == profile.ByNode && p.entry().Function == report.NoNode {
			return "these samples have no node labels"
		}
	case tui.ActNormalize:
		if !p.subject.diff() {
			return "only for comparisons of two profiles"
		}
	case tui.ActKind:
		if l := p.subject.loaded; l != nil && len(l.profile.Types) < 2 {
			return "the profile has only one sample type"
		}
	}
	return p.List.Can(m, a)
}

// nodeFilter returns the page's filter, limited to the node under the cursor.
func (p *topPage) nodeFilter() profile.Filter {
	f := p.filter
	f.Nodes = []string{p.entry().Function}
	return f
}

// open shows the profiles of a node, or else the callers and callees of a function.
func (p *topPage) open(m *tui.Model, r *topRow) tui.Cmd {
	if p.shown.by == profile.ByNode {
		return m.Push(newTopPage(p.subject, topQuery{kind: p.shown.kind, raw: p.shown.raw}, p.nodeFilter()))
	}
	return m.Push(newFlamePageOf(p.subject, p.shown, p.filter, r.Function))
}

func (p *topPage) Act(m *tui.Model, a tui.Action) tui.Cmd {
	switch a {
	case tui.ActFlame:
		if p.shown.by == profile.ByNode {
			return m.Push(newFlamePageOf(p.subject, topQuery{kind: p.shown.kind, raw: p.shown.raw}, p.nodeFilter(), ""))
		}
		return m.Push(newFlamePageOf(p.subject, p.shown, p.filter, p.entry().Function))
	case tui.ActBy:
		p.query.by = nextBy(p.query.by, p.grains())
		m.Notify(tui.ToneInfo, "by "+p.query.by.String())
		return p.Refresh(m)
	case tui.ActKind:
		p.query.kind = nextKind(p.subject.loaded, p.query.kind)
		m.Notify(tui.ToneInfo, "sample type "+words.Sanitize(p.query.kind))
		return p.Refresh(m)
	case tui.ActNormalize:
		p.query.raw = !p.query.raw
		return p.Refresh(m)
	}
	return p.List.Act(m, a)
}

// grains returns the units that samples can be added up by.
func (p *topPage) grains() []profile.Granularity {
	all := append(frameGrains(), profile.ByAddress)
	if l := p.subject.loaded; l != nil && l.nodes > 0 {
		all = append(all, profile.ByNode)
	}
	return all
}

// newFlamePageOf returns the flame graph for a table, or a sandwich if a function is named.
func newFlamePageOf(s *profileSubject, q topQuery, f profile.Filter, name string) *flamePage {
	p := newFlamePage(s, flameQuery{kind: q.kind, by: q.by, raw: q.raw, focus: name})
	p.filter = f
	return p
}

// saveMenu offers the formats that the command line has for the same report.
func (p *topPage) saveMenu() *tui.Menu {
	top, changes, o := p.top, p.changes, render.ReportOptions{By: p.shown.by}
	return tui.SaveReport("save the table", "profile-top", func(w io.Writer, f render.Format) error {
		if changes != nil {
			return profiles.WriteDiff(w, changes, f, o)
		}
		return profiles.WriteTop(w, top, f, o)
	})
}
