package tui

import (
	"io"
	"strings"

	"kitescope/profile"
	"kitescope/profile/pgo"
	"kitescope/render"
	"kitescope/render/builds"
)

func (p *judgePage) can(m *Model, a action) string {
	p.lay(m)
	switch a {
	case actOpen:
		return p.canOpen()
	case actCopyRow:
		if p.current() == nil {
			return "there is no row"
		}
	case actFilter, actSortNext, actSortPrevious, actSortReverse:
		if p.made == nil || len(p.made.Hot) == 0 {
			return "there is no hot call"
		}
	case actSave:
		if p.made == nil {
			return "there is no judgement yet"
		}
	default:
	}
	return ""
}

func (p *judgePage) canOpen() string {
	l := p.current()
	switch {
	case l == nil:
		return "there is no row"
	case l.part == ofProfile && (l.at >= len(p.items) || p.made.Profiles[l.at].Input.Profile == nil):
		return "it could not be read"
	case l.part == ofEdge && l.edge.Callee == "":
		return "the profile has no name that Go would know it by"
	case l.part == ofEdge && len(p.good()) == 0:
		return "the profiles are not here any more"
	case l.part == ofText:
		return "go to a profile or a call first"
	}
	return ""
}

// good are the profiles that could be read.
func (p *judgePage) good() []ProfileItem {
	var list []ProfileItem
	for i := range p.made.Profiles {
		if i < len(p.items) && p.made.Profiles[i].Input.Profile != nil {
			list = append(list, p.items[i])
		}
	}
	return list
}

func (p *judgePage) act(m *Model, a action) cmd {
	p.lay(m)
	if p.move(a) {
		return nil
	}
	switch a {
	case actBack:
		if p.edges.filter != "" {
			p.filter(m, "")
			return nil
		}
		return m.back()
	case actOpen:
		return p.open(m)
	case actSortNext, actSortPrevious, actSortReverse:
		p.edges.act(m, a)
		p.resorted(m)
	case actFilter:
		m.prompt = filterPrompt(p.edges.filter, p.filter, p.edges.status, func(_ *Model, a action) { p.move(a) })
	case actCopyRow:
		return p.copyRow(m)
	case actSave:
		m.menu = p.saveMenu()
	default:
	}
	return nil
}

// open shows the flame graph of a profile, or of what a hot edge calls.
func (p *judgePage) open(m *Model) cmd {
	l := p.current()
	if l.part == ofProfile {
		return m.push(newFlamePage(newSubject(p.items[l.at:l.at+1], nil), flameQuery{}))
	}
	s := newSubject(p.good(), nil)
	return m.push(newFlamePage(s, flameQuery{by: profile.ByFunction, focus: l.edge.Callee}))
}

// resorted shows the hot edges in a new order. A cursor that is not among them goes to the first, so that the order is seen.
func (p *judgePage) resorted(m *Model) {
	var at *pgo.HotEdge
	if l := p.current(); l != nil && l.part == ofEdge {
		at = l.edge
	} else if len(p.edges.shown) > 0 {
		at = p.edges.shown[0]
	}
	p.madeFor = 0
	p.lay(m)
	p.find(func(line int) bool { return at != nil && p.lines[line].edge == at })
}

// filter leaves the profiles and calls in which a text occurs, and goes to the first.
func (p *judgePage) filter(m *Model, text string) cmd {
	p.edges.find(text)
	p.madeFor = 0
	p.lay(m)
	p.cursor = 0
	p.find(func(line int) bool { return p.edges.filter != "" && p.lines[line].part != ofText })
	return nil
}

// copyRow copies a row, or a paragraph.
func (p *judgePage) copyRow(m *Model) cmd {
	l := p.current()
	switch l.part {
	case ofProfile:
		return m.copyText(strings.Join(cellsOf(p.assessedColumns(), l.at), "\t")+"\n", "1 row")
	case ofEdge:
		return m.copyText(strings.Join(cellsOf(p.edgeColumns(wideTable), l.edge), "\t")+"\n", "1 row")
	default:
	}
	texts := []string{l.full}
	for i := p.line() + 1; i < len(p.lines) && p.lines[i].part == ofParagraph; i++ {
		if full := p.lines[i].full; full != "" {
			texts = append(texts, full)
		}
	}
	return m.copyText(strings.Join(texts, "\n")+"\n", "the text")
}

// tsvTable are the hot calls.
func (p *judgePage) tsvTable() (tsv string, rows int) {
	if p.made == nil {
		return "", 0
	}
	return p.edges.tsv()
}

// saveMenu offers the formats of the same report on the command line.
func (p *judgePage) saveMenu() *menu {
	made := p.made
	return saveReport("save the judgement", "pgo-judge", render.ReportFormats().Parse, func(w io.Writer, f render.ReportFormat) error {
		return builds.WriteJudgement(w, made, f, render.ReportOptions{})
	})
}

func (p *judgePage) click(m *Model, _, y int) cmd { return p.clicked(m, p, y) }
