package profiles

import (
	"io"
	"strings"

	"kitescope/profile"
	"kitescope/profile/pgo"
	"kitescope/render"
	"kitescope/render/builds"
	"kitescope/tui"
)

func (p *judgePage) Can(m *tui.Model, a tui.Action) string {
	p.lay(m)
	switch a {
	case tui.ActOpen:
		return p.canOpen()
	case tui.ActCopyRow:
		if p.current() == nil {
			return "there is no row"
		}
	case tui.ActFilter, tui.ActSortNext, tui.ActSortPrevious, tui.ActSort:
		if p.made == nil || len(p.made.Hot) == 0 {
			return "there is no hot call"
		}
	case tui.ActSave:
		if p.made == nil {
			return "there is no judgement yet"
		}
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
func (p *judgePage) good() []Item {
	var list []Item
	for i := range p.made.Profiles {
		if i < len(p.items) && p.made.Profiles[i].Input.Profile != nil {
			list = append(list, p.items[i])
		}
	}
	return list
}

func (p *judgePage) Act(m *tui.Model, a tui.Action) tui.Cmd {
	p.lay(m)
	if p.Move(a) {
		return nil
	}
	switch a {
	case tui.ActBack:
		if p.edges.Filter != "" {
			p.filter(m, "")
			return nil
		}
		return m.Back()
	case tui.ActOpen:
		return p.open(m)
	case tui.ActSort:
		m.Menu = p.edges.SortMenu(p.resorted)
	case tui.ActSortNext, tui.ActSortPrevious:
		p.edges.Act(m, a)
		p.resorted(m)
	case tui.ActFilter:
		m.Prompt = tui.FilterPrompt(p.edges.Filter, p.filter, p.edges.Status, func(_ *tui.Model, a tui.Action) { p.Move(a) })
	case tui.ActCopyRow:
		return p.copyRow(m)
	case tui.ActSave:
		m.Menu = p.saveMenu()
	}
	return nil
}

// open shows the flame graph of a profile, or of what a hot edge calls.
func (p *judgePage) open(m *tui.Model) tui.Cmd {
	l := p.current()
	if l.part == ofProfile {
		return m.Push(newFlamePage(newSubject(p.items[l.at:l.at+1], nil), flameQuery{}))
	}
	s := newSubject(p.good(), nil)
	return m.Push(newFlamePage(s, flameQuery{by: profile.ByFunction, focus: l.edge.Callee}))
}

// resorted shows the hot edges in a new order. A cursor that is not among them goes to the first, so that the order is seen.
func (p *judgePage) resorted(m *tui.Model) {
	var at *pgo.HotEdge
	if l := p.current(); l != nil && l.part == ofEdge {
		at = l.edge
	} else if len(p.edges.Shown) > 0 {
		at = p.edges.Shown[0]
	}
	p.madeFor = 0
	p.lay(m)
	p.Find(func(line int) bool { return at != nil && p.lines[line].edge == at })
}

// filter leaves the profiles and calls in which a text occurs, and goes to the first.
func (p *judgePage) filter(m *tui.Model, text string) tui.Cmd {
	p.edges.Find(text)
	p.madeFor = 0
	p.lay(m)
	p.Cursor = 0
	p.Find(func(line int) bool { return p.edges.Filter != "" && p.lines[line].part != ofText })
	return nil
}

// copyRow copies a row, or a paragraph.
func (p *judgePage) copyRow(m *tui.Model) tui.Cmd {
	l := p.current()
	switch l.part {
	case ofProfile:
		return m.Copy(strings.Join(tui.CellsOf(p.assessedColumns(), l.at), "\t")+"\n", "1 row")
	case ofEdge:
		return m.Copy(strings.Join(tui.CellsOf(p.edgeColumns(tui.WideTable), l.edge), "\t")+"\n", "1 row")
	default:
	}
	texts := []string{l.full}
	for i := p.Line() + 1; i < len(p.lines) && p.lines[i].part == ofParagraph; i++ {
		if full := p.lines[i].full; full != "" {
			texts = append(texts, full)
		}
	}
	return m.Copy(strings.Join(texts, "\n")+"\n", "the text")
}

// TSVTable are the hot calls.
func (p *judgePage) TSVTable() (tsv string, rows int) {
	if p.made == nil {
		return "", 0
	}
	return p.edges.TSV()
}

// tui.saveMenu offers the formats of the same report on the command line.
func (p *judgePage) saveMenu() *tui.Menu {
	made := p.made
	return tui.SaveReport("save the judgement", "pgo-judge", render.ReportFormats().Parse, func(w io.Writer, f render.Format) error {
		return builds.WriteJudgement(w, made, f, render.ReportOptions{})
	})
}

func (p *judgePage) Click(m *tui.Model, _, y int) tui.Cmd { return p.Clicked(m, p, y) }
